"""What decoders are tried on: rows of tokens, a change of one token, and how far that moves the logits."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contracts.laws.decoder_run import DecoderRun


@dataclass(frozen=True)
class Change:
    """A row of tokens, one of which is set to another id."""

    row: list[int]
    at: int
    to: int

    @property
    def before(self) -> np.ndarray:
        """The row, as a batch of one."""
        return one_row(self.row)

    @property
    def after(self) -> np.ndarray:
        """The changed row, as a batch of one."""
        return one_row([*self.row[: self.at], self.to, *self.row[self.at + 1 :]])

    def complaint(self, by: np.ndarray, first: int, leak: float) -> str:
        """That the change moved logits T x V that it must not move; the first of them are of position `first`."""
        farthest = by.max(axis=-1, initial=0)
        if not (farthest > leak).any():
            return ""
        position = int((farthest > leak).argmax())
        change = f"token {self.at} of {self.row} set to {self.to}"
        hint = "; if that is rounding, from_apply(..., leak=1e-5)" if farthest.max() < 1e-5 else ""
        return f"{change} moves the logits of position {first + position} by {farthest[position]:.3g}{hint}"


def changes(run: DecoderRun, length: int | None = None) -> SearchStrategy[Change]:
    """Any row of two lengths, or of the one given, any of its tokens, any other id."""
    return rows(run, length).flatmap(lambda row: _changes_of(run, row, before=len(row)))


def changes_before(run: DecoderRun, length: int | None = None) -> SearchStrategy[tuple[Change, int]]:
    """Any row cut in two documents, and a change in the first; with the position where the second begins."""

    def cut_at(row: list[int], cut: int) -> SearchStrategy[tuple[Change, int]]:
        return st.tuples(_changes_of(run, row, before=cut), st.just(cut))

    return rows(run, length).flatmap(lambda row: st.integers(1, len(row) - 1).flatmap(lambda cut: cut_at(row, cut)))


def rows(run: DecoderRun, length: int | None = None) -> SearchStrategy[list[int]]:
    """Any ids in a short or in a long row, or in one of that length."""
    lengths = (run.short, run.long) if length is None else (length,)
    return st.sampled_from(lengths).flatmap(lambda length: rows_of(run, length))


def rows_of(run: DecoderRun, length: int) -> SearchStrategy[list[int]]:
    """Any ids in a row of that many positions."""
    return st.lists(st.integers(0, run.vocab_size - 1), min_size=length, max_size=length)


def one_row(row: list[int]) -> np.ndarray:
    """The row as tokens 1 x T."""
    return np.array([row], np.int32)


def documents(length: int, cut: int) -> np.ndarray:
    """Segments 1 x T of two documents, the second from position `cut` on."""
    return np.array([[1] * cut + [2] * (length - cut)], np.int32)


def moved(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """How far each logit moved; infinitely, where only one of the two is a number."""
    with np.errstate(invalid="ignore"):
        by = np.abs(after - before)
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    return np.where(same, 0.0, np.where(np.isnan(by), np.inf, by))


def _changes_of(run: DecoderRun, row: list[int], before: int) -> SearchStrategy[Change]:
    def change(at: int, step: int) -> Change:
        return Change(row, at, (row[at] + step) % run.vocab_size)

    return st.builds(change, st.integers(0, before - 1), st.integers(1, run.vocab_size - 1))
