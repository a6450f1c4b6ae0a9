"""Stage 1 for a regex without a name: its automaton runs over a page and writes where pieces begin.

    page     FF  d  o     i  t  !  !  FF          [a-z]+ ?|!!?(?=[a-z])     ! is left unmatched, as a piece of its own
    borders  0   1        4     6     8  9

An entry of the table, by state and class of the next character, is a state and what is to be done first:

    ACCEPTS   a match may end before this character
    BORDER    it does: the entry's state is already that of the next piece
    SLOW      a run ends that has read too much, or may go on for long in vain; rare in real texts

The mark begins no match and ends every run, so that it comes out as a piece like any other.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from research.tokenizers.automaton import Automaton
from research.tokenizers.automaton.classes import END
from research.tokenizers.automaton.tables import DEAD, START, Tables
from research.tokenizers.kernels.jit import kernel
from research.tokenizers.kernels.scan import character

ACCEPTS, BORDER, SLOW = 1, 2, 4
_FLAGS = 3


@dataclass(frozen=True, eq=False)
class Runner:
    """An automaton as the kernel takes it: what `Pages` asks of a pattern."""

    classes: np.ndarray
    """uint8[0x110000]"""
    cuts: np.ndarray
    """bool[classes, classes]"""
    entries: np.ndarray
    """int32[rows * width]: `row * width << 3 | flags`; the last two rows are that of the mark and that of no state"""
    width: int
    """classes"""
    nothing: np.ndarray
    """bool[classes]: where a piece begins though nothing matches"""
    doubts: np.ndarray
    """uint32[rows]: a bit for each doubtful state"""

    @classmethod
    def of(cls, automaton: Automaton) -> "Runner":
        """Its tables, packed."""
        tables = automaton.tables
        rows, width = tables.follows.shape
        doubts = np.zeros(rows + 2, np.uint32)
        doubts[list(automaton.doubtful)] = 1 << np.arange(len(automaton.doubtful), dtype=np.uint32)
        nothing = tables.nothing.copy()
        nothing[END] = True
        return cls(automaton.classes, automaton.cuts, _packed(tables, doubts), width, nothing, doubts)

    def split(self, page: np.ndarray, end: int, borders: np.ndarray, other: np.ndarray) -> int:
        """As `scan.split`."""
        return split(page, end, self.classes, self.entries, self.width, self.nothing, self.doubts, borders, other)


def _packed(tables: Tables, doubts: np.ndarray) -> np.ndarray:
    """Rows of entries; where a match ends and nothing can follow, the first step of the next piece is built in."""
    rows, width = tables.follows.shape
    mark, dead = rows, rows + 1
    follows = np.vstack([tables.follows, np.full((2, width), DEAD, np.int32)])
    accepts = np.vstack([tables.accepts, np.ones((1, width), np.bool_), np.zeros((1, width), np.bool_)])
    follows[START, END] = mark
    follows[follows == DEAD] = dead
    ends = accepts & (follows == dead)
    target = np.where(ends, follows[START], follows)
    slow = (target == dead) | (~accepts | ends) & (doubts[target] != 0)
    flags = ACCEPTS * accepts | BORDER * ends | SLOW * slow
    return (target * width << _FLAGS | flags).astype(np.int32).reshape(-1)


@kernel
def split(page, end, classes, entries, width, nothing, doubts, borders, vain):
    """Write the borders of the pieces in `page[:end]` to `borders`; the number of pieces. `vain` is of its size."""
    remembers = doubts.any()
    if remembers:
        vain[: end + 1] = 0
    dead = len(entries) - width
    at, last, row = 0, 0, 0
    borders[0] = 0
    pieces = 1
    while at < end:
        kind, length = character(page, at, classes)
        entry = entries[row + kind]
        # Written whether it counts or not, as in `scan`.
        borders[pieces] = at
        pieces += entry >> 1 & 1
        last = at if entry & ACCEPTS else last
        row = entry >> _FLAGS
        at += length
        if entry & SLOW:
            begin = np.int64(borders[pieces - 1])
            if row != dead or last == begin:
                last = _next_border(page, begin, classes, entries, width, nothing, doubts, remembers, vain)
            borders[pieces] = last
            pieces += 1
            at, row = last, 0
    borders[pieces] = end
    return pieces


@njit
def _next_border(page, begin, classes, entries, width, nothing, doubts, remembers, vain):
    """Where the piece at `begin` ends: its match, or if there is none what is left unmatched up to the next one."""
    end = _match_end(page, begin, classes, entries, width, doubts, remembers, vain)
    if end > begin:
        return end
    while True:
        end += character(page, end, classes)[1]
        if nothing[character(page, end, classes)[0]]:
            return end
        if _match_end(page, end, classes, entries, width, doubts, remembers, vain) > end:
            return end


@njit
def _match_end(page, begin, classes, entries, width, doubts, remembers, vain):
    """Where the match at `begin` ends; `begin` if there is none. In `vain`, for every byte, the doubtful states that
    from there on find no match: no text is read twice on their account."""
    dead = len(entries) - width
    at, row = begin, 0
    last, row_at_last = begin, 0
    while True:
        kind, length = character(page, at, classes)
        entry = entries[row + kind]
        if entry & ACCEPTS:
            last, row_at_last = at, row
        if entry & BORDER or entry >> _FLAGS == dead:
            break
        row = entry >> _FLAGS
        at += length
        if entry & SLOW and doubts[row // width] & vain[at]:
            break
    if remembers:
        end, at, row = at, last, row_at_last
        while at < end:
            kind, length = character(page, at, classes)
            row = entries[row + kind] >> _FLAGS
            at += length
            vain[at] |= doubts[row // width]
    return last
