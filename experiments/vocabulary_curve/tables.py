"""The tables, the summary first: which size a decoder wants, then what every size costs."""

from collections.abc import Callable
from itertools import pairwise

from experiments.tables import Table, number, percent, si
from experiments.vocabulary_curve.costs import Costs
from experiments.vocabulary_curve.decoders import CACHE_DTYPE, CostedDecoder
from experiments.vocabulary_curve.findings import Findings
from experiments.vocabulary_curve.question import AS_GOOD


def tables(found: Findings) -> list[Table]:
    """Every table, the summary first."""
    return [_optima(found), _sizes(found), _flops(found), _share(found), _cache(found), _density(found)]


def _optima(found: Findings) -> Table:
    rows = tuple(
        (curve.name, *(optimum(found.costs_of(curve, decoder)) for decoder in found.decoders)) for curve in found.curves
    )
    published = ("Tao et al. 2024", *(_published(decoder) for decoder in found.decoders))
    return Table(
        "The vocabulary with the fewest forward FLOPs a character",
        ("text", *found.decoder_names),
        (*rows, published),
        f"Of {len(found.sizes)} sizes; in brackets the sizes within {100 * AS_GOOD:g} % of it, and what bytes cost "
        f"relative to it. The context is {found.arguments.context:,} characters. Last: a law fitted to English "
        "elsewhere.",
    )


def _published(decoder: CostedDecoder) -> str:
    optimum = decoder.published_optimum()
    return "outside their range" if optimum is None else number(optimum)


def optimum(costs: Costs) -> str:
    """`4,096 (2,896-4,871; bytes 3.10x)`, with `still falling` where it is the largest size."""
    best = number(costs.best)
    if costs.judgement == "bytes":
        return f"{best}: bytes cost least"
    falling = ", still falling" if costs.judgement == "still falling" else ""
    near = f"{number(costs.as_good[0])}-{number(costs.as_good[-1])}"
    return f"{best}{falling} ({near}; bytes {number(costs.over_best(costs.sizes[0]))}x)"


def _sizes(found: Findings) -> Table:
    together = found.curves[0]
    before = {size: smaller for smaller, size in pairwise(found.sizes)}
    rows = tuple(
        (
            number(size),
            number(together.tokens(size)),
            number(together.bytes / together.tokens(size)),
            number(together.saved_by_a_row(before[size], size), 1) if size in before else "-",
            *(number(found.costs_of(together, decoder).break_even(size), 1) for decoder in found.decoders),
            percent(together.used[size]),
        )
        for size in found.listed
    )
    return Table(
        "Every size, on all held-out text",
        (
            "vocabulary",
            "tokens",
            "bytes a token",
            "a row saves",
            *(f"{name} needs" for name in found.decoder_names),
            "rows used",
        ),
        rows,
        "What a row saves: tokens of a million characters, the mean over the rows since the measured size before. "
        "What a decoder needs: as many to pay for the row's logit. Rows used: those that stand in the text at all.",
    )


def _flops(found: Findings) -> Table:
    return _by_size(
        found,
        "Forward FLOPs a character",
        lambda costs, size: si(costs.flops[size]) + (" *" if size == costs.best else ""),
        "On all held-out text: tokens a character times FLOPs a token, causal attention over the tokens of the context,"
        " logits at every position. * marks the cheapest of all measured sizes, if it is listed.",
    )


def _share(found: Findings) -> Table:
    return _by_size(
        found,
        "Embedding and head, of all parameters",
        lambda costs, size: percent(costs.decoder.embedding_share(size)),
        "Of the text ids and one document boundary; a tied head counts once.",
    )


def _cache(found: Findings) -> Table:
    return _by_size(
        found,
        "Cache bytes a character",
        lambda costs, size: si(costs.cache_bytes(size), "B"),
        f"Keys and values in {CACHE_DTYPE} on all held-out text.",
    )


def _by_size(found: Findings, title: str, cell: Callable[[Costs, int], str], note: str) -> Table:
    costs = [found.costs_of(found.curves[0], decoder) for decoder in found.decoders]
    rows = tuple((number(size), *(cell(one, size) for one in costs)) for size in found.listed)
    return Table(title, ("vocabulary", *found.decoder_names), rows, note)


def _density(found: Findings) -> Table:
    rows = tuple(
        (number(size), *(number(curve.bytes / curve.tokens(size)) for curve in found.curves)) for size in found.listed
    )
    return Table("Bytes a token, text by text", ("vocabulary", *(curve.name for curve in found.curves)), rows)
