"""What kind of tokens a text gets, without a model: words cut and kept whole, ids used evenly, bytes left alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contracts.measures import IdCounts, UnitMask
from contracts.results import Factor, Row
from experiments.sequence_length.columns import Column
from experiments.sequence_length.lengths import named
from experiments.sequence_length.question import ALPHA
from experiments.sequence_length.texts import HALVES, Text
from research.measures import Encoded, broken_share, renyi_efficiency, single_byte_share, words_kept
from research.progress import progress


@dataclass(frozen=True)
class Intrinsic:
    """One text under one tokenizer; of a learned pair each half under the vocabulary of the other one."""

    text: Text
    column: Column
    words: int
    pieces: int
    """tokens that hold some of a word, summed over the words"""
    whole: int
    """words that a single token holds"""
    evenness: float
    """Rényi efficiency of order `ALPHA`; of a learned pair the mean of both, weighted by tokens"""
    single_byte: float
    """share of the tokens"""
    broken: float
    """share of the tokens that are not valid UTF-8 alone"""

    @property
    def fertility(self) -> float:
        """Tokens a word; 0 where there is no word."""
        return self.pieces / max(1, self.words)

    @property
    def kept_whole(self) -> float:
        """Share of the words."""
        return self.whole / max(1, self.words)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some units of a text under one tokenizer."""

    encoded: Encoded
    chosen: UnitMask
    occurrences: IdCounts


def intrinsics(texts: Sequence[Text], columns: Sequence[Column]) -> list[Intrinsic]:
    """Every text under every column."""
    with progress("looking into words", total=len(texts), unit="slices") as bar:
        found = []
        for index, text in enumerate(texts):
            found += [_intrinsic(text, column, column.encoded[index]) for column in columns]
            bar.advance()
        return found


def _intrinsic(text: Text, column: Column, by_half: tuple[Encoded, Encoded]) -> Intrinsic:
    parts = _parts(text, column, by_half)
    kept = [(words_kept(text.words, part.encoded), part.chosen) for part in parts]
    tokens = [part.occurrences.sum() for part in parts]
    evenness = [renyi_efficiency(part.occurrences, ALPHA) for part in parts]
    single = [single_byte_share(part.occurrences) for part in parts]
    broken = [broken_share(part.occurrences, part.encoded.tokenizer) for part in parts]
    return Intrinsic(
        text,
        column,
        words=sum(int(words.words[chosen].sum()) for words, chosen in kept),
        pieces=sum(int(words.pieces[chosen].sum()) for words, chosen in kept),
        whole=sum(int(words.whole[chosen].sum()) for words, chosen in kept),
        # The last digits of a power depend on the processor; an exact row must not.
        evenness=round(float(np.average(evenness, weights=tokens)), 9),
        single_byte=float(np.average(single, weights=tokens)),
        broken=float(np.average(broken, weights=tokens)),
    )


def _parts(text: Text, column: Column, by_half: tuple[Encoded, Encoded]) -> list[_Part]:
    """The whole text under a given tokenizer, or each half that has text under its own of a learned pair."""
    if not column.learned:
        return [_part(by_half[0], np.ones(len(text.units), bool))]
    parts = [_part(by_half[half].truncate(column.vocabulary), text.half == half) for half in HALVES]
    return [part for part in parts if part.occurrences.any()]


def _part(encoded: Encoded, chosen: UnitMask) -> _Part:
    return _Part(encoded, chosen, encoded.occurrences(chosen))


def intrinsic_rows(found: Sequence[Intrinsic]) -> list[Row]:
    """Every measure; what speaks of words is left out where there is none."""
    rows = []
    for one in found:
        factors: dict[str, Factor] = {**named(one.text), **one.column.factors}
        rows += [
            Row("renyi_efficiency", one.evenness, "ratio", "exact", "count", {**factors, "alpha": ALPHA}),
            Row("single_byte_tokens", one.single_byte, "share of tokens", "exact", "count", factors),
            Row("broken_tokens", one.broken, "share of tokens", "exact", "count", factors),
        ]
        if one.words:
            rows += [
                Row("fertility", one.fertility, "tokens/word", "exact", "count", factors, n=one.words),
                Row("words_kept_whole", one.kept_whole, "share of words", "exact", "count", factors, n=one.words),
            ]
    return rows
