"""The answer in sentences: what the decision rule says, and what a reader should take home."""

from itertools import pairwise

from experiments.tables import number, percent, si
from experiments.vocabulary_curve.costs import Costs
from experiments.vocabulary_curve.findings import Findings


def verdict(found: Findings) -> str:
    """Each decoder by the rule, on all held-out text."""
    together = found.curves[0]
    judged = "; ".join(_judged(found.costs_of(together, decoder)) for decoder in found.decoders)
    return f"Forward FLOPs a character in a context of {found.arguments.context:,} characters: {judged}."


def _judged(costs: Costs) -> str:
    name = costs.decoder.name
    if costs.judgement == "bytes":
        return f"{name} costs least with bytes, a vocabulary does not pay"
    near, bytes_cost = f"{number(costs.as_good[0])} to {number(costs.as_good[-1])}", costs.over_best(costs.sizes[0])
    if costs.judgement == "still falling":
        return (
            f"{name} is still falling at {number(costs.best)}, the largest size measured (as good from "
            f"{number(costs.as_good[0])} on; bytes {number(bytes_cost)} times)"
        )
    return f"{name} is cheapest at {number(costs.best)} (as good: {near}; bytes {number(bytes_cost)} times)"


def highlights(found: Findings) -> list[str]:
    """One sentence for each part of the question, with its number."""
    lines = [_on_reach(found), _on_overshoot(found), _on_rows(found), _on_use(found), _on_cache(found)]
    return [*lines, *_on_published(found)]


def _on_reach(found: Findings) -> str:
    tokenizer = found.tokenizer
    return (
        f"Of {number(found.arguments.vocab_size)} tokens asked for, {number(found.taught_by)} bytes of text gave "
        f"{number(tokenizer.text_vocab_size)} ({tokenizer.stop_reason}); every smaller vocabulary is inside it."
    )


def _on_overshoot(found: Findings) -> str:
    largest = found.sizes[-1]
    costs = [found.costs_of(found.curves[0], decoder) for decoder in found.decoders]
    over = ", ".join(f"{one.decoder.name} {number(one.over_best(largest))}" for one in costs)
    shares = ", ".join(percent(one.decoder.embedding_share(largest)) for one in costs)
    return (
        f"At {number(largest)} a character costs, relative to the cheapest size, {over} times the FLOPs; embedding and "
        f"head are then {shares} of the parameters."
    )


def _on_rows(found: Findings) -> str:
    together, steps = found.curves[0], list(pairwise(found.sizes))
    (first, then), (last, largest) = steps[0], steps[-1]
    return (
        f"A row saves {number(together.saved_by_a_row(first, then), 0)} tokens of a million characters between "
        f"{number(first)} and {number(then)}, and {number(together.saved_by_a_row(last, largest), 1)} between "
        f"{number(last)} and {number(largest)}."
    )


def _on_use(found: Findings) -> str:
    together, largest = found.curves[0], found.sizes[-1]
    lines = f"On {number(together.characters)} characters of held-out text {percent(together.used[largest])} of the "
    return f"{lines}{number(largest)} rows stand at least once."


def _on_cache(found: Findings) -> str:
    costs = found.costs_of(found.curves[0], found.decoders[-1])
    return (
        f"A character's keys and values take {si(costs.cache_bytes(costs.sizes[0]), 'B')} in bytes and "
        f"{si(costs.cache_bytes(costs.best), 'B')} at {number(costs.best)} ({costs.decoder.name}): the cache only ever "
        "gains from a larger vocabulary."
    )


def _on_published(found: Findings) -> list[str]:
    """How the optima lie to a law that was fitted to other text."""
    optima = {decoder.name: decoder.published_optimum() for decoder in found.decoders}
    known = ", ".join(f"{name} {number(size)}" for name, size in optima.items() if size is not None)
    return [f"A law fitted to other, English text (Tao et al. 2024) names {known}."] if known else []
