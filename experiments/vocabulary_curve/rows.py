"""Every number of the run as a row."""

from collections.abc import Sequence
from itertools import pairwise

from contracts.results import Factor, Row, Witness
from experiments.vocabulary_curve.costs import Costs
from experiments.vocabulary_curve.curve import Curve
from experiments.vocabulary_curve.decoders import CACHE_DTYPE, CostedDecoder
from experiments.vocabulary_curve.question import AS_GOOD, VocabularyCurve
from research.tokenizers import BPETokenizer


def vocabulary_rows(tokenizer: BPETokenizer, taught_by: int, arguments: VocabularyCurve) -> list[Row]:
    """Requested and reached size, and what it learned from."""
    factors: dict[str, Factor] = {
        "requested": arguments.vocab_size,
        "pattern": arguments.pattern,
        "stop_reason": tokenizer.stop_reason,
    }
    return [
        _exact("vocabulary_reached", tokenizer.text_vocab_size, "tokens", "count", factors),
        _exact("training_bytes", taught_by, "bytes", "count", factors),
    ]


def curve_rows(curve: Curve, sizes: Sequence[int]) -> list[Row]:
    """Tokens and what follows from them without a decoder."""
    text: dict[str, Factor] = {"slice": curve.name}
    rows = [_exact("characters", curve.characters, "characters", "count", text)]
    for size in sizes:
        factors = {**text, "vocabulary": size}
        rows += [
            _exact("tokens", curve.tokens(size), "tokens", "count", factors),
            _exact("bytes_per_token", curve.bytes / curve.tokens(size), "bytes/token", "count", factors),
            _exact("rows_used", curve.used[size], "share of rows", "count", factors),
        ]
    for smaller, size in pairwise(sizes):
        factors = {**text, "vocabulary": size, "since": smaller}
        saved = curve.saved_by_a_row(smaller, size)
        rows.append(_exact("saved_by_a_row", saved, "tokens/million characters", "count", factors))
    return rows


def decoder_rows(decoder: CostedDecoder, sizes: Sequence[int]) -> list[Row]:
    """What a size is of a decoder, and the size that a published law names, whatever the text."""
    rows = [
        _exact(
            "embedding_share",
            decoder.embedding_share(size),
            "share of parameters",
            "formula",
            {**decoder.factors, "vocabulary": size},
        )
        for size in sizes
    ]
    published = decoder.published_optimum()
    if published is not None:
        factors: dict[str, Factor] = {**decoder.factors, "source": "Tao et al. 2024"}
        rows.append(_exact("published_optimum", published, "tokens", "formula", factors))
    return rows


def cost_rows(costs: Costs) -> list[Row]:
    """FLOPs and cache bytes a character at every size, and the optimum with the sizes that are as good."""
    factors: dict[str, Factor] = {"slice": costs.curve.name, **costs.decoder.factors, "context": costs.context}
    cache: dict[str, Factor] = {"slice": costs.curve.name, **costs.decoder.factors, "dtype": CACHE_DTYPE}
    rows = []
    for size, flops in costs.flops.items():
        tokens = costs.curve.context_tokens(size, costs.context)
        rows += [
            _exact(
                "forward_flops_per_character",
                flops,
                "FLOPs/character",
                "formula",
                {**factors, "vocabulary": size, "context_tokens": tokens},
            ),
            _exact(
                "cache_bytes_per_character",
                costs.cache_bytes(size),
                "bytes/character",
                "formula",
                {**cache, "vocabulary": size},
            ),
            _exact(
                "row_pays_from",
                costs.break_even(size),
                "tokens/million characters",
                "formula",
                {**factors, "vocabulary": size},
            ),
        ]
    judged = {**factors, "judgement": costs.judgement}
    rows.append(_exact("cheapest_vocabulary", costs.best, "tokens", "formula", judged))
    for end, size in (("smallest", costs.as_good[0]), ("largest", costs.as_good[-1])):
        rows.append(_exact(f"{end}_as_good", size, "tokens", "formula", {**factors, "within": AS_GOOD}))
    return rows


def _exact(quantity: str, value: float, unit: str, witness: Witness, factors: dict[str, Factor]) -> Row:
    return Row(quantity, value, unit, "exact", witness, factors)
