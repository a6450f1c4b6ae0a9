"""What becomes of words: into how many tokens each is cut, and how many are kept whole.

A word is what stands between white space, without punctuation and symbols at its two ends: `don't` and `3.14` are
one, `(yes)` is `yes`, a dash is none. In scripts that write without spaces it is a clause.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contracts.core import contract
from contracts.errors import ShapeError
from contracts.measures import Offsets, PerWord, UnitCounts
from research.measures.pretokens import Encoded, unit_at


@dataclass(frozen=True, eq=False)
class WordPlaces:
    """Where the words of a text of joined units stand, in UTF-8 bytes."""

    begins: PerWord
    ends: PerWord
    unit_of: PerWord
    """the unit in which each word begins"""
    units: int
    bytes: int
    """of the whole text"""


@dataclass(frozen=True, eq=False)
class Words:
    """The words that begin in each unit of a text, and their tokens under one tokenizer."""

    words: UnitCounts
    pieces: UnitCounts
    """tokens that hold some of a word, summed over the words"""
    whole: UnitCounts
    """words that a single token holds, with or without what stands around them"""


def word_spans(text: str) -> list[tuple[int, int]]:
    """First character and end of every word."""
    around = "".join(character for character in set(text) if unicodedata.category(character)[0] in "PS")
    spans = []
    for run in re.finditer(r"\S+", text):
        start = run.end() - len(run[0].lstrip(around))
        end = run.start() + len(run[0].rstrip(around))
        if start < end:
            spans.append((start, end))
    return spans


def word_places(units: Sequence[str], joiner: str) -> WordPlaces:
    """The words of `joiner.join(units)`."""
    text = joiner.join(units)
    offsets, spans = byte_offsets(text), np.array(word_spans(text), np.int64).reshape(-1, 2)
    unit_of = unit_at(spans[:, 0], units, joiner)
    return WordPlaces(offsets[spans[:, 0]], offsets[spans[:, 1]], unit_of, len(units), int(offsets[-1]))


# No @contract: it would look at every distinct pre-token.
def words_kept(places: WordPlaces, encoded: Encoded) -> Words:
    """The words of a text, and the tokens of the same text that each is spread over."""
    ends = encoded.ends()
    if ends.max(initial=0) != places.bytes:
        raise ShapeError(f"words_kept: {ends.max(initial=0)} bytes of tokens for a text of {places.bytes} bytes")
    pieces = 1 + np.searchsorted(ends, places.ends, "left") - np.searchsorted(ends, places.begins, "right")

    def by_unit(per_word: np.ndarray) -> np.ndarray:
        return np.bincount(places.unit_of, per_word, places.units).astype(np.int64)

    return Words(by_unit(np.ones_like(pieces)), by_unit(pieces), by_unit(pieces == 1))


@contract
def byte_offsets(text: str) -> Offsets:
    """The UTF-8 offset at which each character begins, and that of the end."""
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    widths = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(widths)])
