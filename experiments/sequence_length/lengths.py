"""Lengths of every text under every tokenizer, and what follows from a length: context, attention, bill."""

from collections.abc import Sequence

from contracts.results import Factor, Row
from experiments.sequence_length.columns import Column
from experiments.sequence_length.question import SequenceLength
from experiments.sequence_length.texts import Text


def text_rows(texts: Sequence[Text], checked: int) -> list[Row]:
    """Characters, bytes and documents of every text; `checked` documents keep N <= T <= 4 N."""
    rows = []
    for text in texts:
        factors = named(text)
        characters, size = text.characters, text.bytes
        rows += [
            Row("characters", characters, "characters", "exact", "count", factors),
            Row("bytes", size, "bytes", "exact", "count", factors),
            Row("documents", len(text.cut.documents), "documents", "exact", "count", factors),
            Row("bytes_per_character", size / characters, "bytes/character", "exact", "count", factors),
            _attention(size / characters, "bytes", "characters", factors),
        ]
    rows.append(Row("length_law_documents", checked, "documents", "exact", "count", {"law": "N <= T <= 4 N"}))
    rows.append(Row("length_law_violations", 0, "documents", "exact", "count", {"law": "N <= T <= 4 N"}))
    return rows


def length_rows(texts: Sequence[Text], columns: Sequence[Column], arguments: SequenceLength) -> list[Row]:
    """Tokens and what follows from them, for every text, column and view."""
    rows = []
    for column in columns:
        for view, counts in column.views():
            for text, count in zip(texts, counts, strict=True):
                rows += _length(text, int(count.sum()), {**named(text), **view}, arguments)
    return rows


def _length(text: Text, tokens: int, factors: dict[str, Factor], arguments: SequenceLength) -> list[Row]:
    characters, size, context = text.characters, text.bytes, arguments.context
    in_context = {**factors, "context": context}

    def exact(quantity: str, value: float, unit: str, own: dict[str, Factor] = factors) -> Row:
        return Row(quantity, value, unit, "exact", "count", own)

    rows = [
        exact("tokens", tokens, "tokens"),
        exact("bytes_per_token", size / tokens, "bytes/token"),
        exact("characters_per_token", characters / tokens, "characters/token"),
        _attention(tokens / size, "tokens", "bytes", factors),
        exact("context_characters", context * characters / tokens, "characters", in_context),
        exact("contexts_filled", tokens / context, "contexts", in_context),
    ]
    if arguments.price_per_million is not None:
        priced = {**factors, "price_per_million": arguments.price_per_million}
        rows.append(exact("bill", tokens / 1e6 * arguments.price_per_million, "currency", priced))
    return rows


def _attention(ratio: float, of: str, against: str, factors: dict[str, Factor]) -> Row:
    """Attention compares every pair of positions, so its cost is the square of the length."""
    return Row("attention_ratio", ratio**2, "ratio", "exact", "count", {**factors, "of": of, "against": against})


def named(text: Text) -> dict[str, Factor]:
    """The factors that identify a text."""
    return {"slice": text.name, "group": text.group}
