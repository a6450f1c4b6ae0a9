"""Encodes bytes with given merges: pages to word numbers to ids, with a bounded memory of words."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int64

from contracts.errors import InputError
from contracts.tokenizer import Merges, TokenIds
from research.tokenizers.kernels import encode
from research.tokenizers.kernels.decode import token_lengths
from research.tokenizers.kernels.pages import Page, Pages
from research.tokenizers.kernels.words import Words
from research.tokenizers.pretokenize import Pretokenizer

_MOST_WORDS, _MOST_BYTES = 1 << 19, 1 << 23


class Encoder:
    """Bytes to ids. What it remembers makes it faster and changes no id. One thread at a time may use it."""

    def __init__(self, merges: Merges, pretokenizer: Pretokenizer) -> None:
        if len(merges) > (1 << encode.ID_BITS) - 256:
            raise InputError("merges", expected=f"at most {(1 << encode.ID_BITS) - 256}", got=len(merges))
        self._pages = Pages(pretokenizer)
        self._merges = np.array(merges, np.int32).reshape(-1, 2)
        self._table = encode.merge_table(self._merges)
        self._lengths = token_lengths(self._merges)
        self._forget()

    def encode(self, data: np.ndarray) -> TokenIds:
        """The ids of one text: uint8, valid UTF-8."""
        return self.encode_batch([data])[0]

    def encode_batch(self, documents: Sequence[np.ndarray]) -> tuple[TokenIds, Int64[np.ndarray, "documents+1"]]:
        """The ids of all documents in one array, and where each of them begins in it, and the last one ends."""
        tokens = np.empty(sum(map(len, documents)), np.int32)
        offsets = np.zeros(len(documents) + 1, np.int64)
        end = done = 0
        for page in self._pages.of(documents):
            end, done = self._append(page, tokens, end, offsets, done)
        tokens.resize(end, refcheck=False)
        return tokens, offsets

    @property
    def remembered(self) -> int:
        """How many words are remembered."""
        return self._words.known - 1

    def _append(self, page: Page, tokens: np.ndarray, end: int, offsets: np.ndarray, done: int) -> tuple[int, int]:
        """Write the ids of a page from `end` on; the new end, and how many documents have ended."""
        if self._words.known > _MOST_WORDS or self._words.size > _MOST_BYTES:
            self._forget()
        numbers = self._number(page)
        return encode.emit(numbers, page.pieces, self._ids, self._id_starts, tokens, end, page.closed, offsets, done)

    def _forget(self) -> None:
        self._words = Words()
        self._ids, self._id_starts = np.empty(0, np.int32), np.zeros(2, np.uint32)
        self._numbers = np.empty(0, np.uint32)

    def _number(self, page: Page) -> np.ndarray:
        """The numbers of pieces, and the ids of those that are new."""
        if page.pieces > len(self._numbers):
            self._numbers = np.empty(2 * page.pieces, np.uint32)
        words, known = self._words, self._words.known
        words.number(page.data, page.eights, page.borders, page.pieces, self._numbers)
        if words.known > known:
            self._ids = _as_long_as(words.text, self._ids)
            self._id_starts = _as_long_as(words.starts, self._id_starts)
            encode.encode_words(
                words.text,
                words.starts,
                known,
                words.known,
                self._table,
                self._merges,
                self._lengths,
                self._ids,
                self._id_starts,
            )
        return self._numbers


def _as_long_as(other: np.ndarray, array: np.ndarray) -> np.ndarray:
    return np.append(array, np.empty(len(other) - len(array), array.dtype)) if len(other) > len(array) else array
