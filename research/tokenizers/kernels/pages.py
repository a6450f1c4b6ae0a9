"""Documents, however many and however long, as pages of pieces: what every later stage reads.

A page holds documents between marks. A document longer than a page is cut where its pattern allows it, so that memory
is bounded, no stage has to know a neighbouring page, and threads can share a text.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from contracts.errors import InputError
from research.tokenizers.kernels import scan
from research.tokenizers.kernels.patterns import Pattern, scanned
from research.tokenizers.pretokenize import Pretokenizer

PADDING = 16
"""Bytes after a page, so that eight can be loaded from any place."""

LARGEST = 1 << 31
"""Borders are 32 bits."""

PAGE = 1 << 17
"""128 KB: with its borders and word numbers well within a core's second cache."""


@dataclass(frozen=True)
class Page:
    """Documents in UTF-8 between marks, and where their pieces begin. The next page takes the same memory."""

    data: np.ndarray
    """uint8: mark, document, mark, document, mark, padding"""
    borders: np.ndarray
    """uint32: the first byte of each piece (every mark is one), then the end of the last"""
    pieces: int
    closed: list[bool]
    """for each mark but the first, whether a document ends there; if not, it goes on with the next page"""


def pages(documents: Iterable[np.ndarray], pretokenizer: Pretokenizer, size: int = PAGE) -> Iterator[Page]:
    """The pieces of `documents` (uint8, valid UTF-8) on pages of `size` bytes, or more where no cut is allowed."""
    pattern = scanned(pretokenizer)
    if pattern is None:
        return (_matched(document, pretokenizer) for document in documents)
    return _Layout(pattern, size).pages(documents)


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


class _Layout:
    """Lays documents on a page and has it scanned when it is full."""

    def __init__(self, pattern: Pattern, size: int) -> None:
        self.pattern = pattern
        self._take(size)

    def _take(self, size: int) -> None:
        _require_room(size)
        self.size = size
        self.data = np.zeros(size + PADDING, np.uint8)
        self.data[0] = scan.MARK
        self.buffers = np.empty((2, size + 1), np.uint32)
        self._begin()

    def _begin(self) -> None:
        self.end = 1
        self.closed: list[bool] = []

    def pages(self, documents: Iterable[np.ndarray]) -> Iterator[Page]:
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

    def _lay(self, text: np.ndarray, closed: bool) -> None:
        end = self.end + len(text)
        self.data[self.end : end] = text
        self.data[end] = scan.MARK
        self.end = end + 1
        self.closed.append(closed)

    def _scanned(self) -> Page:
        pattern, (borders, other) = self.pattern, self.buffers
        pieces = scan.scan(self.data, self.end, pattern.classes, pattern.borders, borders)
        if pattern.contractions:
            any_case = pattern.contractions == "any case"
            pieces = scan.set_contractions_apart(self.data, borders, pieces, any_case, other)
            borders, other = other, borders
        if pattern.lines_and_threes:
            pieces = scan.join_lines_and_set_threes(self.data, borders, pieces, pattern.classes, other)
            borders, other = other, borders
        return Page(self.data, borders, pieces, self.closed)


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
    return Page(data, borders, len(pieces) + 2, [True])


def _require_room(size: int) -> None:
    if size > LARGEST:
        raise InputError(
            "document",
            expected=f"pieces that together fit on a page of {LARGEST} bytes, or text that its pattern can cut",
            got=f"at least {size // 2} bytes that it can't",
            hint="give it in parts",
        )
