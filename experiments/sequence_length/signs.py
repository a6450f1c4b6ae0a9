"""Signs that are more than they look: emoji of several code points, and text in decomposed form."""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.results import Row
from experiments.sequence_length.columns import Column, Taught, swapped
from experiments.sequence_length.lengths import named
from experiments.sequence_length.texts import Text
from research.measures import EMOJI
from research.progress import progress


@dataclass(frozen=True)
class Emoji:
    """One sign and its tokens by column; a learned column is the vocabulary of the second half of the documents."""

    kind: str
    sign: str
    tokens: dict[str, int]


def emoji(columns: Sequence[Column]) -> list[Emoji]:
    """Every kind of emoji under every column."""
    return [
        Emoji(kind, sign, {column.name: len(column.by_half[0].encode(sign)) for column in columns})
        for kind, sign in EMOJI.items()
    ]


def emoji_rows(found: Sequence[Emoji]) -> list[Row]:
    """Code points, and tokens by tokenizer."""
    rows = []
    for one in found:
        factors = {"emoji": one.kind, "sign": one.sign}
        rows.append(Row("characters", len(one.sign), "characters", "exact", "count", factors))
        for name, tokens in one.tokens.items():
            rows.append(Row("tokens", tokens, "tokens", "exact", "count", {**factors, "tokenizer": name}))
    return rows


@dataclass(frozen=True)
class Decomposed:
    """A text in NFD over the same text in NFC, by column; `bytes` is one of them."""

    text: Text
    ratios: dict[str, float]


def decomposed(texts: Sequence[Text], columns: Sequence[Column], taught: Taught, pattern: str) -> list[Decomposed]:
    """Every text that NFD changes; learned columns unseen, by the vocabularies that the text as it is taught."""
    found = []
    with progress("decomposing", total=len(texts), unit="slices") as bar:
        for index, text in enumerate(texts):
            composed, apart = text.in_form("NFC"), text.in_form("NFD")
            if apart.units != composed.units:
                known = {column.name: int(column.counts[index].sum()) for column in columns}
                before = known if composed is text else _tokens(composed, columns, taught, pattern)
                after = _tokens(apart, columns, taught, pattern)
                found.append(Decomposed(text, {name: after[name] / before[name] for name in known}))
            bar.advance()
    return found


def _tokens(text: Text, columns: Sequence[Column], taught: Taught, pattern: str) -> dict[str, int]:
    learned = [column for column in columns if column.learned]
    sizes = [column.vocabulary for column in learned]
    unseen = swapped(text, taught, sizes, pattern)["unseen"].sum(axis=1)
    found = {column.name: int(tokens) for column, tokens in zip(learned, unseen, strict=True)}
    for column in columns:
        if not column.learned:
            tokenizer = column.by_half[0]
            counts = text.pretokens(tokenizer.pattern or "words").tokens(tokenizer, [column.vocabulary])
            found[column.name] = int(counts.sum())
    return found


def decomposed_rows(found: Sequence[Decomposed]) -> list[Row]:
    """Tokens in NFD over tokens in NFC."""
    return [
        Row("nfd_over_nfc", ratio, "ratio", "exact", "count", {**named(one.text), "tokenizer": name})
        for one in found
        for name, ratio in one.ratios.items()
    ]
