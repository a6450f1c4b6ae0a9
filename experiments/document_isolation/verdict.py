"""The answer in sentences: what the decision rule says, and what a reader should take home."""

from experiments.document_isolation.arms import ALONE, CROSS, ONLY_POSITIONS, OWN, RESET, SEGMENTS
from experiments.document_isolation.compare import ALL, LEAST_TOKENS, Results
from experiments.document_isolation.pairs import uniform_cuts
from experiments.tables import number, percent


def verdict(results: Results) -> str:
    """Leakage, pairs, loss."""
    return " ".join([_on_leakage(results), _on_pairs(results), _on_loss(results)])


def _on_leakage(results: Results) -> str:
    apart = [leak.policy for leak in results.leaks if leak.isolates]
    leaking = [f"{leak.policy} (logits by up to {leak.logits:.2g})" for leak in results.leaks if not leak.isolates]
    return (
        f"Apart to the last bit in the trained decoders of all {results.prepared.arguments.seeds} seeds: "
        f"{'; '.join(apart)}. Not apart: {'; '.join(leaking)}."
    )


def _on_pairs(results: Results) -> str:
    pairs = results.pairs[CROSS]
    return (
        f"With {number(pairs.mean_documents, 1)} documents a row {percent(pairs.useful / pairs.visible_across)} of the "
        f"causal pairs lie within documents (2 / (k + 1): {percent(uniform_cuts(pairs.mean_documents))}), and "
        f"{percent(pairs.useful / pairs.executed)} of those that are executed."
    )


def _on_loss(results: Results) -> str:
    judged = [results.judgement(arm) for arm in results.others]
    return f"Loss against cross: {'; '.join(f'{one.arm} {one.verdict} ({one.difference})' for one in judged)}."


def highlights(results: Results) -> list[str]:
    """Positions alone, what a mask saves, what the neighbours are worth, where in a document it is felt."""
    return [
        _on_positions_alone(results),
        _on_saving(results),
        _on_neighbours(results),
        _on_first_tokens(results),
        _on_seeds(results),
    ]


def _on_positions_alone(results: Results) -> str:
    leak = next(leak for leak in results.leaks if leak.policy == ONLY_POSITIONS)
    return (
        f"Restarting positions is no barrier: without a mask the first document still moves the others' logits by up "
        f"to {leak.logits:.2g}. With a mask it changes nothing that is seen, for rotary positions are relative."
    )


def _on_saving(results: Results) -> str:
    packed, alone = results.pairs[SEGMENTS], results.pairs[RESET]
    each = [pairs.executed / pairs.filled.sum() for pairs in (packed, alone)]
    padding = percent(1 - alone.filled.sum() / (alone.rows * alone.length))
    return (
        f"A mask saves no pair that a dense kernel computes: {number(each[0], 1)} a token in packed rows with or "
        f"without it, {number(each[1], 1)} in rows of {alone.length} positions with one document each, "
        f"{padding} of which are padding."
    )


def _on_neighbours(results: Results) -> str:
    one = next(each for each in results.comparisons if (each.arm, each.text, each.context) == (SEGMENTS, ALL, OWN))
    return (
        f"Read as in training, segments against cross: {one.verdict} ({one.difference} bits a byte); there "
        "cross may look at the documents before."
    )


def _on_first_tokens(results: Results) -> str:
    if 0 not in results.positions:
        return f"Fewer than {LEAST_TOKENS} documents are held out: nothing is said of their first tokens."
    of = results.position_difference(SEGMENTS, 0, ALONE)
    return (
        f"The first token of a document that is read alone costs the decoder trained with segments {of} nats "
        "against the one trained across documents."
    )


def _on_seeds(results: Results) -> str:
    judged = [results.judgement(arm) for arm in results.others]
    spreads = [one.difference.spread for one in judged]
    return (
        f"The spread of differences between seeds was {min(spreads):.3f} to {max(spreads):.3f} bits a byte; the "
        f"decoder has {number(results.prepared.by_arm[CROSS][0].parameters)} parameters, and large ones may answer "
        "otherwise."
    )
