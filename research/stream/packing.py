"""Which tokens stand in which row: windows over the stream, or whole documents by best fit.

A row of T positions is T + 1 slots: every slot but the last is an input, every slot but the first a target. Both
plans answer the same question, `slots(rows)`, so all else about a batch is written once.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from jaxtyping import Bool, Int32, Int64

from contracts.stream import TokenStream
from research.stream.fitting import best_fit
from research.stream.layout import Layout

RowNumbers = Int64[np.ndarray, "B"]
PerPiece = Int64[np.ndarray, "pieces"]


class Slots(NamedTuple):
    """The tokens of some rows. Behind slot `pairs` a row is padding, and its tokens mean nothing."""

    tokens: Int32[np.ndarray, "B slots"]
    opens: Bool[np.ndarray, "B slots"]
    """a document begins here; unsaid of the first slot"""
    pairs: Int64[np.ndarray, "B"]
    """predictions of the row: (input, target) at neighbouring slots, from the first on"""


class Plan(Protocol):
    """The rows of one epoch, with what they hold in all."""

    @property
    def rows(self) -> int:
        """Rows that hold at least one prediction."""

    @property
    def pairs(self) -> int:
        """Predictions in all rows."""

    @property
    def joins(self) -> int:
        """Predictions of a document's first token from another's last."""

    @property
    def unreached(self) -> int:
        """Documents whose first token is the target of no prediction, joins included."""

    @property
    def split_documents(self) -> int:
        """Documents whose own predictions stand in more than one row."""

    def slots(self, row: RowNumbers) -> Slots:
        """The rows of these numbers."""


@dataclass(frozen=True, eq=False)
class Windows:
    """Row r predicts tokens rT + 1 to rT + T of the stream; the last row is filled up with padding."""

    stream: TokenStream
    layout: Layout
    length: int

    @property
    def rows(self) -> int:
        return -(-self.pairs // self.length)

    @property
    def pairs(self) -> int:
        return len(self.stream.tokens) - 1

    @property
    def joins(self) -> int:
        return 0 if self.layout.is_shared else len(self.stream.starts) - 1

    @property
    def unreached(self) -> int:
        return 1

    @cached_property
    def split_documents(self) -> int:
        first_pair = self.layout.begins(self.stream.starts)
        last_pair = np.maximum(self.layout.ends(self.stream) - 2, first_pair)
        return int(np.count_nonzero(first_pair // self.length != last_pair // self.length))

    def slots(self, row: RowNumbers) -> Slots:
        begin = row * self.length
        index = np.minimum(begin[:, None] + np.arange(self.length + 1), self.pairs)
        opens = np.zeros(index.shape, bool)
        # A document that begins at token t has its text at t + shift.
        shift = int(self.layout.before is not None)
        starts = self.stream.starts
        inside = np.searchsorted(starts, np.stack([begin, begin + self.length]) + shift, side="right")
        number, document = ranges(*inside)
        opens[number, starts[document] - shift - begin[number]] = True
        return Slots(self.stream.tokens[index].astype(np.int32), opens, np.minimum(self.pairs - begin, self.length))


@dataclass(frozen=True, eq=False)
class Bins:
    """A row holds whole documents, laid out as a stream of their own, or a piece of one that is longer than a row.

    Pieces of a long document overlap by one token, so that each of its predictions is in one of them; what is left
    over at its end may be followed by other documents. `alone` gives each document rows of its own.
    """

    stream: TokenStream
    layout: Layout
    length: int
    alone: bool

    @cached_property
    def pieces(self) -> "Pieces":
        begin = self.layout.begins(self.stream.starts)
        tokens = self.layout.ends(self.stream) - begin
        document, number = ranges(np.zeros_like(begin), np.maximum(1, -(-(tokens - 1) // self.length)))
        offset = number * self.length
        return Pieces(begin[document] + offset, np.minimum(tokens[document] - offset, self.length + 1), number == 0)

    @cached_property
    def order(self) -> tuple[PerPiece, Int64[np.ndarray, "bounds"]]:
        """The pieces row by row, those of row r from the r-th bound to the next. A row without a pair is left out."""
        _, tokens, is_first = self.pieces
        shared = int(self.layout.is_shared)
        if self.alone:
            bin_of = np.arange(len(tokens))
        else:
            bin_of = best_fit(tokens - shared, self.length + 1 - shared, opens_bin=~is_first)
        # What continues a document stands first in its row, where nothing precedes it that it did not follow.
        order = np.lexsort((is_first, bin_of))
        size = np.bincount(bin_of, tokens - shared).astype(np.int64)
        kept = size + shared >= 2
        order = order[kept[bin_of[order]]]
        bounds = np.cumsum(np.append(0, np.bincount(bin_of)[kept]))
        return order, bounds

    @property
    def rows(self) -> int:
        return len(self.order[1]) - 1

    @cached_property
    def pairs(self) -> int:
        shared = int(self.layout.is_shared)
        order, _ = self.order
        return int((self.pieces.tokens[order] - shared).sum()) - self.rows * (1 - shared)

    @property
    def joins(self) -> int:
        return 0 if self.layout.is_shared else len(self.order[0]) - self.rows

    @cached_property
    def unreached(self) -> int:
        order, bounds = self.order
        left_out = len(self.pieces.is_first) - len(order)
        return int(np.count_nonzero(self.pieces.is_first[order[bounds[:-1]]])) + left_out

    @cached_property
    def split_documents(self) -> int:
        continued = np.append(~self.pieces.is_first[1:], False)
        return int(np.count_nonzero(self.pieces.is_first & continued))

    def slots(self, row: RowNumbers) -> Slots:
        order, bounds = self.order
        number, place = ranges(bounds[row], bounds[row + 1])
        begin, tokens, _ = (field[order[place]] for field in self.pieces)
        # Each piece stands behind those before it in its row, and on the boundary token that it shares with the last.
        size = tokens - int(self.layout.is_shared)
        behind = np.cumsum(size) - size
        following_row = np.cumsum(bounds[row + 1] - bounds[row])
        at = behind - behind[np.append(0, following_row[:-1])][number]
        found = np.zeros((len(row), self.length + 1), np.int32)
        opens = np.zeros(found.shape, bool)
        opens[number, at] = True
        piece, index = ranges(begin, begin + tokens)
        found[number[piece], at[piece] + index - begin[piece]] = self.stream.tokens[index]
        return Slots(found, opens, (at + tokens - 1)[following_row - 1])


class Pieces(NamedTuple):
    """Documents, cut where they are longer than a row: where each piece begins in the stream, and how long it is."""

    begin: PerPiece
    tokens: PerPiece
    is_first: Bool[np.ndarray, "pieces"]
    """whether its document begins with it"""


def ranges(begin: Int64[np.ndarray, "n"], end: Int64[np.ndarray, "n"]) -> tuple[np.ndarray, np.ndarray]:
    """Every i of `range(begin[k], end[k])` for k = 0, 1, 2, ..., as the arrays of all k and of all i."""
    length = end - begin
    which = np.repeat(np.arange(len(length)), length)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(length) - length - begin, length)
