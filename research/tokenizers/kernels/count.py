"""Stage 2, counting: how often each distinct pre-token occurs, in 64 bits. Counts of parts add up to the whole's.

So counting is map and reduce, over any `concurrent.futures` executor, and the parts may be cut anywhere that the
pattern allows: the sum is the same.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from research.tokenizers.kernels.jit import kernel
from research.tokenizers.kernels.pages import PADDING, Pages, eights
from research.tokenizers.kernels.scan import MARK
from research.tokenizers.kernels.words import Words
from research.tokenizers.pretokenize import Pretokenizer


@dataclass(frozen=True, eq=False)
class WordCounts:
    """Distinct pre-tokens and how often each occurs. They lie like a page: a mark (word 0), then word after word."""

    text: np.ndarray
    """uint8, with padding"""
    starts: np.ndarray
    """uint32: where each word begins in `text`, then the end of the last"""
    counts: np.ndarray
    """int64; that of the mark means nothing"""

    @classmethod
    def of(cls, counts: Mapping[bytes, int]) -> "WordCounts":
        """From words as bytes."""
        text = bytes([MARK]) + b"".join(counts)
        lengths = [0, 1, *map(len, counts)]
        return cls(
            np.frombuffer(text + bytes(PADDING), np.uint8).copy(),
            np.cumsum(lengths).astype(np.uint32),
            np.array([0, *counts.values()], np.int64),
        )

    def items(self) -> Iterable[tuple[bytes, int]]:
        """The words as bytes, with their counts."""
        text, starts = self.text.tobytes(), self.starts.tolist()
        for word, count in enumerate(self.counts.tolist()[1:], 1):
            yield text[starts[word] : starts[word + 1]], count


class WordCounter:
    """Counts documents, and the counts of others."""

    def __init__(self) -> None:
        self.words = Words()
        self.counts = np.zeros(len(self.words.keys), np.int64)
        self._numbers = np.empty(0, np.uint32)

    def add(self, documents: Iterable[np.ndarray], pretokenizer: Pretokenizer) -> None:
        """Count the pieces of `documents` (uint8, valid UTF-8)."""
        for page in Pages(pretokenizer).of(documents):
            numbers = self._number(page.data, page.eights, page.borders, page.pieces)
            _count(numbers, page.pieces, self.counts)

    def add_counts(self, other: WordCounts) -> None:
        """Add up: the words of `other` as often as they occur there."""
        known = len(other.counts)
        numbers = self._number(other.text, eights(other.text), other.starts, known)
        self.counts[numbers[:known]] += other.counts

    def _number(self, data: np.ndarray, data8: np.ndarray, borders: np.ndarray, pieces: int) -> np.ndarray:
        if pieces > len(self._numbers):
            self._numbers = np.empty(1 << pieces.bit_length(), np.uint32)
        self.words.number(data, data8, borders, pieces, self._numbers)
        if len(self.words.keys) > len(self.counts):
            self.counts = np.append(self.counts, np.zeros(len(self.words.keys) - len(self.counts), np.int64))
        return self._numbers

    def result(self) -> WordCounts:
        """All that was counted."""
        words = self.words
        text = words.text[: words.size + PADDING]
        return WordCounts(text, words.starts[: words.known + 1], self.counts.copy()[: words.known])


@kernel
def _count(numbers, pieces, counts):
    for piece in range(pieces):
        counts[numbers[piece]] += 1
