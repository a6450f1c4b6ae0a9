"""Every number of the run as a row."""

from contracts.results import Factor, Row
from experiments.vocabulary_language.compare import JOINT, Comparison, alone
from experiments.vocabulary_language.worth import Worth
from research.measures import Ratio


def rows(found: Comparison, worths: list[Worth]) -> list[Row]:
    """Vocabularies, tokens and bytes a token, ratios with their intervals, and what joint merges are worth."""
    return [
        *_vocabularies(found),
        *_tokens(found),
        *_ratios(found),
        *(row for worth in worths for row in _worth(worth)),
    ]


def _vocabularies(found: Comparison) -> list[Row]:
    rows = []
    for one in found.vocabularies:
        factors: dict[str, Factor] = {
            "vocabulary_of": one.name,
            "requested": max(found.arguments.vocab_sizes),
            "pattern": found.arguments.pattern,
            "stop_reason": one.tokenizer.stop_reason,
        }
        rows.append(Row("vocabulary_reached", one.tokenizer.text_vocab_size, "tokens", "exact", "count", factors))
        rows.append(Row("training_bytes", one.bytes, "bytes", "exact", "count", factors))
    for language in found.languages:
        text: dict[str, Factor] = {"language": language.name, "slice": language.test.name}
        rows.append(Row("bytes", language.bytes, "bytes", "exact", "count", text))
        rows.append(Row("units", int(language.held_out.sum()), "units", "exact", "count", text))
    return rows


def _tokens(found: Comparison) -> list[Row]:
    rows = []
    for (vocabulary, name), measured in found.measured.items():
        language = next(one for one in found.languages if one.name == name)
        for size, tokens in zip(found.sizes, measured.tokens, strict=True):
            factors: dict[str, Factor] = {"language": name, "vocabulary_of": vocabulary, "vocabulary": size}
            rows.append(Row("tokens", tokens, "tokens", "exact", "count", factors))
            rows.append(Row("bytes_per_token", language.bytes / tokens, "bytes/token", "exact", "count", factors))
    return rows


def _ratios(found: Comparison) -> list[Row]:
    rows = []
    for (vocabulary, name), ratios in found.over_alone.items():
        for size, ratio in zip(found.sizes, ratios, strict=True):
            rows.append(_ratio("joint_over_alone", ratio, {"language": name, "alone": vocabulary, "vocabulary": size}))
    for vocabulary, ratios in found.parities.items():
        for size, ratio in zip(found.sizes, ratios, strict=True):
            rows.append(_ratio("parity", ratio, {"vocabulary_of": vocabulary, "vocabulary": size}))
    return rows


def _ratio(quantity: str, ratio: Ratio, factors: dict[str, Factor]) -> Row:
    return Row(quantity, ratio.value, "ratio", "estimated", "count", factors, ratio.low, ratio.high, ratio.n)


def _worth(worth: Worth) -> list[Row]:
    factors: dict[str, Factor] = {
        "language": worth.language.name,
        "vocabulary_of": JOINT,
        "vocabulary": worth.size,
        "in_merges_of": alone(worth.language),
    }
    return [
        Row("effective_merges", worth.merges, "merges", "exact", "count", factors),
        Row("effective_share", worth.share, "share of merges", "exact", "count", factors),
    ]
