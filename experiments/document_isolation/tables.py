"""The tables, the summary first: each arm at a glance, then leakage, pairs by documents a row, loss by position."""

from collections.abc import Mapping
from statistics import fmean, stdev

from experiments.ablation.statistics import foreseen
from experiments.document_isolation.arms import ALONE, CROSS, OWN
from experiments.document_isolation.compare import ALL, LEAST_TOKENS, Results
from experiments.document_isolation.pairs import uniform_cuts
from experiments.document_isolation.question import MARGIN
from experiments.tables import Table, number, percent, si


def tables(results: Results) -> list[Table]:
    """Every table, the summary first."""
    return [
        _arms(results),
        _leaks(results),
        _differences(results),
        *([_positions(results)] if results.positions else []),
        _by_documents(results),
        _trained(results),
    ]


def _arms(results: Results) -> Table:
    rows = []
    leaks = {leak.policy: leak for leak in results.leaks}
    for arm, pairs in results.pairs.items():
        values = results.values(arm, ALL)
        rows.append(
            (
                arm,
                "none" if leaks[arm].isolates else "yes",
                percent(1 - pairs.filled.sum() / (pairs.rows * pairs.length)),
                number(pairs.executed / pairs.filled.sum(), 1),
                percent(pairs.useful / pairs.executed),
                f"{fmean(values):.3f} +- {stdev(values):.3f}",
                "" if arm == CROSS else str(results.judgement(arm).verdict),
            )
        )
    arguments = results.prepared.arguments
    return Table(
        "Documents of a row, four ways",
        (
            "isolation",
            "leakage",
            "padding",
            "pairs executed a token",
            "of them within documents",
            "bpb_total",
            "against cross",
        ),
        tuple(rows),
        f"{results.prepared.documents_per_row:.1f} documents a row of {arguments.length} positions; bits a byte of "
        f"held-out documents, each read alone, after {si(results.text_bytes, 'B')} of text, over {arguments.seeds} "
        f"seeds. Said before the run: {foreseen(arguments.seeds, arguments.assumed_spread, MARGIN)}. "
        "Pairs are of one head and layer, forward.",
    )


def _leaks(results: Results) -> Table:
    return Table(
        "Leakage from the first document of a row, in the trained decoders of all seeds",
        ("policy", "largest change of a logit", "of a gradient", "positions looked at", "isolates"),
        tuple(
            (
                leak.policy,
                _exact(leak.logits),
                _exact(leak.gradient),
                number(leak.positions),
                "yes" if leak.isolates else "no",
            )
            for leak in results.leaks
        ),
        "Every text token of the first document is replaced; the others' logits are compared, and the gradient of "
        "their loss in every parameter. 0 is equality of every bit.",
    )


def _exact(value: float) -> str:
    return "0" if value == 0 else f"{value:.3g}"


def _differences(results: Results) -> Table:
    rows = tuple(
        (one.arm, one.text, one.context, str(one.difference), f"{one.difference.spread:.3f}", str(one.verdict))
        for one in results.comparisons
    )
    return Table(
        "Bits a byte against cross (below 0 is better than cross)",
        ("isolation", "text", "documents are read", "difference [95 %]", "spread", "verdict"),
        rows,
        f"All are read when {number(results.text_bytes)} bytes of text were trained on. `alone` is what the rule is "
        "about: a document with nothing before it. `own` reads the "
        "held-out documents as the arm reads its training rows, so that cross has other documents to look at.",
    )


def _positions(results: Results) -> Table:
    arms = list(results.outcomes)
    rows = []
    for context in (ALONE, OWN):
        for place in results.positions:
            cells = [f"{fmean(results.at_position(arm, place, context)):.3f}" for arm in arms]
            differences = [str(results.position_difference(arm, place, context)) for arm in results.others]
            rows.append((f"{place}, {context}", *cells, *differences))
    return Table(
        "Nats of a token by its position behind the boundary",
        ("position, documents read", *arms, *(f"{arm} - {CROSS}" for arm in results.others)),
        tuple(rows),
        f"After {number(results.text_bytes)} bytes of text. Position 0 is the first text token of a document, "
        f"predicted from the boundary alone where they are apart. Stated are positions that at least {LEAST_TOKENS} "
        "held-out tokens stand at; intervals are over seeds, for these documents.",
    )


def _by_documents(results: Results) -> Table:
    packed, windows = (pairs.per_document_count for pairs in (results.pairs[CROSS], results.windows))
    rows = tuple(
        (str(k), *_counted(packed, k), *_counted(windows, k), percent(uniform_cuts(k)), percent(1 / k))
        for k in sorted({*packed, *windows})
    )
    return Table(
        "Causal pairs within documents, by documents a row",
        ("documents k", "rows, best fit", "counted", "rows, windows", "counted ", "2 / (k + 1)", "1 / k"),
        rows,
        "2 / (k + 1) is the mean for rows cut anywhere, 1 / k the least, for documents of equal length. Packing by "
        "best fit puts whole documents together; windows over the stream cut the first and the last one.",
    )


def _counted(by_documents: Mapping[int, tuple[int, float]], k: int) -> tuple[str, str]:
    count, share = by_documents.get(k, (0, 0.0))
    return number(count), percent(share) if count else ""


def _trained(results: Results) -> Table:
    rows = []
    for arm, cells in results.prepared.by_arm.items():
        cell, pairs = cells[0], results.pairs[arm]
        read = fmean(one.reached("text_bytes") for one in results.outcomes[arm])
        unique = cell.material.train.counts.bytes
        rows.append(
            (
                arm,
                str(cell.config.batch_size),
                str(cell.config.length),
                number(pairs.mean_documents, 1),
                str(cell.config.steps),
                number(read, 0),
                number(unique),
                number(read / unique, 1),
                si(cell.flops, "FLOPs"),
            )
        )
    texts = results.prepared.texts
    return Table(
        "What was trained",
        (
            "isolation",
            "rows a step",
            "positions a row",
            "documents a row",
            "steps",
            "bytes read",
            "unique",
            "epochs",
            "training",
        ),
        tuple(rows),
        f"{number(results.prepared.by_arm[CROSS][0].parameters)} parameters, a vocabulary of "
        f"{number(results.prepared.material.tokenizer.vocab_size)}. FLOPs are those of exactly causal attention over "
        f"every position, padding too. {number(texts.too_long)} documents of more than "
        f"{results.prepared.arguments.longest} bytes were left out. Unique bytes are those of the training text, of "
        f"which an epoch reads each once. One learning rate, {results.prepared.arguments.peak_learning_rate:g}, serves "
        "all arms and was tuned for none: another may favour another one.",
    )
