"""Documents, however many and however long, as pages of pieces: what every later stage reads.

A page holds documents between marks. A document longer than a page is cut where its pattern allows it, so that memory
is bounded, no stage has to know a neighbouring page, and threads can share a text.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from contracts.errors import InputError
from research.tokenizers.kernels import scan
from research.tokenizers.kernels.patterns import Scanner, scanned
from research.tokenizers.pretokenize import Pretokenizer

PADDING = 16
"""Bytes after a page, so that eight can be loaded from any place."""

LARGEST = 1 << 31
"""Borders are 32 bits."""

PAGE = 1 << 17
"""128 KB: with its borders and word numbers well within a core's second cache."""


class Page(NamedTuple):
    """Documents in UTF-8 between marks, and where their pieces begin. The next page takes the same memory."""

    data: np.ndarray
    """uint8: mark, document, mark, document, mark, padding"""
    eights: np.ndarray
    """uint64: the same by eights"""
    borders: np.ndarray
    """uint32: the first byte of each piece (every mark is one), then the end of the last"""
    pieces: int
    closed: np.ndarray
    """bool: for each mark whether a document ends there; if not, it goes on with the next page"""


def eights(data: np.ndarray) -> np.ndarray:
    """A view of bytes whose element i is the eight bytes from i on: two loads take a word where bytes take a loop."""
    return np.ndarray(len(data) - 7, np.uint64, data, strides=(1,))


class Pages:
    """Lays documents on pages of one pattern. Its memory is kept: to get and clear it takes longer than a sentence."""

    def __init__(self, pretokenizer: Pretokenizer, size: int = PAGE) -> None:
        pattern = scanned(pretokenizer)
        self._pretokenizer = pretokenizer
        self._layout = None if pattern is None else Layout(pattern, size)

    def of(self, documents: Iterable[np.ndarray]) -> Iterator[Page]:
        """The pieces of `documents` (uint8, valid UTF-8), on pages of `size` bytes or more where no cut is allowed."""
        if self._layout is None:
            return (_matched(document, self._pretokenizer) for document in documents)
        return self._layout.pages(documents)


def last_cut(text: np.ndarray, end: int, pretokenizer: Pretokenizer) -> int:
    """The last place in `text[:end]` (uint8, valid UTF-8) where it may be cut in two; 0 if there is none."""
    pattern = scanned(pretokenizer)
    if pattern is None:
        return 0
    return int(scan.last_cut(read_only(text), end, pattern.classes, pattern.cuts))


def read_only(array: np.ndarray) -> np.ndarray:
    """One kind of array, so that kernels compile once."""
    view = array[:]
    view.flags.writeable = False
    return view


class Layout:
    """Lays documents on a page and has it scanned when it is full."""

    def __init__(self, pattern: Scanner, size: int = PAGE) -> None:
        self.pattern = pattern
        self.usual = size
        self._take(size)

    def _take(self, size: int) -> None:
        _require_room(size)
        self.size = size
        self.data = np.zeros(size + PADDING, np.uint8)
        self.data[0] = scan.MARK
        self.eights = eights(self.data)
        self.borders, self.other = np.empty((2, size + 1), np.uint32)
        self.closed = np.zeros(size, np.bool_)
        self._begin()

    def _begin(self) -> None:
        self.end, self.marks = 1, 1

    def pages(self, documents: Iterable[np.ndarray]) -> Iterator[Page]:
        """As `Pages.of`."""
        self._begin()
        for document in documents:
            rest = read_only(document)
            while len(rest) >= self.size - self.end:
                cut = scan.last_cut(rest, max(0, self.size - self.end - 1), self.pattern.classes, self.pattern.cuts)
                if cut == 0 and self.end == 1:
                    self._take(2 * self.size)
                    continue
                if cut:
                    self._lay(rest[:cut], closed=False)
                    rest = rest[cut:]
                yield self._scanned()
                self._begin()
            self._lay(rest, closed=True)
        yield self._scanned()
        if self.size > self.usual:
            self._take(self.usual)

    def _lay(self, text: np.ndarray, closed: bool) -> None:
        end = self.end + len(text)
        self.data[self.end : end] = text
        self.data[end] = scan.MARK
        self.end = end + 1
        self.closed[self.marks] = closed
        self.marks += 1

    def _scanned(self) -> Page:
        pieces = self.pattern.split(self.data, self.end, self.borders, self.other)
        return Page(self.data, self.eights, self.borders, pieces, self.closed)


def _matched(document: np.ndarray, pretokenizer: Pretokenizer) -> Page:
    """One document on a page, split by the pre-tokenizer itself."""
    _require_room(len(document) + 2)
    text = document.tobytes().decode()
    pieces = pretokenizer.split(text)
    ends = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)))
    if len(text) < len(document):
        first_bytes = np.flatnonzero(document & 0xC0 != 0x80)
        ends = np.append(first_bytes, len(document))[ends]
    data = np.zeros(len(document) + 2 + PADDING, np.uint8)
    data[1 : -PADDING - 1] = document
    data[[0, len(document) + 1]] = scan.MARK
    borders = np.concatenate([[0, 1], 1 + ends, [len(document) + 2]]).astype(np.uint32)
    return Page(data, eights(data), borders, len(pieces) + 2, np.array([False, True]))


def _require_room(size: int) -> None:
    if size > LARGEST:
        raise InputError(
            "document",
            expected=f"pieces that together fit on a page of {LARGEST} bytes, or text that its pattern can cut",
            got=f"at least {size // 2} bytes that it can't",
            hint="give it in parts",
        )
