"""Stage 2: every distinct pre-token gets a number, in order of first occurrence. Counting and encoding need no more.

    slots   . 2 . . 1 . 3 .       open addressing by hash: word numbers
    keys    FF | "the" | "cat"    16 bytes a word: bytes and length if it is short, else hash and length
    starts  0  | 1     | 4   7    where a word stands in `text`
    text    FF t h e c a t

Word 0 is the mark between documents, and a free slot points to it: whoever arrives there is the mark, or new.
"""

import numpy as np
from numba import njit

from contracts.errors import InputError
from research.tokenizers.kernels.jit import kernel
from research.tokenizers.kernels.pages import LARGEST, PADDING, eights
from research.tokenizers.kernels.scan import MARK

_SHORT = np.uint64(16)
# What to keep of the eight bytes from 0 and from 8 on, for words of n bytes.
_FIRST = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(16)], np.uint64)
_SECOND = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(16)], np.uint64)
_LENGTH, _HALF, _STEP = np.uint64(56), np.uint64(32), np.uint64(8)
_LONG = np.uint64(0xFF << 56)
_A, _B = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


class Words:
    """Distinct pre-tokens: their numbers, their bytes."""

    def __init__(self) -> None:
        self.keys = np.empty((1 << 12, 2), np.uint64)
        self.keys[0] = int(MARK), 1 << int(_LENGTH)
        self.slots = np.zeros(2 * len(self.keys), np.uint32)
        self.starts = np.zeros(len(self.keys) + 1, np.uint32)
        self.starts[1] = 1
        self.text = np.zeros(1 << 16, np.uint8)
        self.text[0] = MARK
        self.eights = eights(self.text)
        self.known = 1

    @property
    def size(self) -> int:
        """Bytes of all words together."""
        return int(self.starts[self.known])

    def number(
        self, page: np.ndarray, page8: np.ndarray, borders: np.ndarray, pieces: int, numbers: np.ndarray
    ) -> None:
        """Write the number of each piece of `page` (`page8` is the same by eights); words not seen before are added."""
        self._make_room(self.known + pieces, self.size + int(borders[pieces]))
        self.known = _number(
            page,
            page8,
            borders,
            pieces,
            self.slots,
            self.keys,
            self.starts,
            self.text,
            self.eights,
            self.known,
            numbers,
        )

    def _make_room(self, words: int, size: int) -> None:
        """Before a page, so that the kernel never has to stop."""
        if size > LARGEST:
            raise InputError("corpus", expected=f"distinct pre-tokens of {LARGEST} bytes together", got=f"{size} bytes")
        if words > len(self.keys):
            while words > len(self.keys):
                self.keys = _doubled(self.keys)
            self.starts = np.resize(self.starts, len(self.keys) + 1)
            self.slots = np.zeros(2 * len(self.keys), np.uint32)
            _fill_slots(self.slots, self.keys, self.known)
        while size + PADDING > len(self.text):
            self.text = _doubled(self.text)
            self.eights = eights(self.text)


def _doubled(array: np.ndarray) -> np.ndarray:
    larger = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def _number(page, page8, borders, pieces, slots, keys, starts, text, text8, known, numbers):
    mask = np.uint64(len(slots) - 1)
    for piece in range(pieces):
        start = borders[piece]
        length = np.uint64(borders[piece + 1] - start)
        # A word of up to 15 bytes is its own key, so that most comparisons are two: 1.4 times the speed of a loop.
        if length < _SHORT:
            first = page8[start] & _FIRST[length]
            second = page8[start + _STEP] & _SECOND[length] | length << _LENGTH
        else:
            first, second = _digest(page8, start, length), _LONG | length
        slot = _hash(first, second) & mask
        while True:
            word = slots[slot]
            same_key = keys[word, 0] == first and keys[word, 1] == second
            if same_key and (length < _SHORT or _same(text8, starts[word], page8, start, length)):
                break
            if word == 0:
                word = np.uint32(known)
                known += 1
                slots[slot] = word
                keys[word, 0], keys[word, 1] = first, second
                _append(page, start, length, text, starts, word)
                break
            slot = (slot + np.uint64(1)) & mask
        numbers[piece] = word
    return known


@njit
def _hash(first, second):
    mixed = (first ^ second * _B) * _A
    return mixed ^ mixed >> _HALF


@njit
def _digest(data8, start, length):
    """A long word's first key: all its bytes stirred together."""
    digest = length
    end = start + length
    at = np.uint64(start)
    while at + _STEP <= end:
        digest = _hash(digest, data8[at])
        at += _STEP
    return _hash(digest, data8[at] & _FIRST[end - at])


@njit
def _same(a8, a, b8, b, length):
    a, b = np.uint64(a), np.uint64(b)
    while length >= _STEP:
        if a8[a] != b8[b]:
            return False
        a += _STEP
        b += _STEP
        length -= _STEP
    return (a8[a] ^ b8[b]) & _FIRST[length] == 0


@njit
def _append(page, start, length, text, starts, word):
    to = starts[word]
    for at in range(length):
        text[to + at] = page[start + at]
    starts[word + 1] = to + length


@kernel
def _fill_slots(slots, keys, known):
    mask = np.uint64(len(slots) - 1)
    for word in range(1, known):
        slot = _hash(keys[word, 0], keys[word, 1]) & mask
        while slots[slot]:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = word
