"""What one document's training and another's tokens have to do with each other: nothing, where they are kept apart.

Two ways of keeping apart: segments in one row, and rows of their own. Logits can be right while the backward pass
mixes documents, so the gradient of every parameter is compared as well, bit for bit. Rows of one length are enough,
and one compilation, which is what a gradient costs most.
"""

import numpy as np
from hypothesis import strategies as st

from contracts.laws.decoder_examples import Change, changes, changes_before, documents, moved, one_row, rows_of
from contracts.laws.decoder_gradient import ParameterGradient, parameter_gradient
from contracts.laws.decoder_run import DecoderRun
from contracts.laws.law import NotApplicable
from contracts.laws.search import Search

TAKES_NO_SEGMENTS = "it takes no segments: from_apply(..., segments=KEYWORD) if it does"


def segment_gradient(run: DecoderRun, search: Search) -> str:
    """Where segments tell two documents of a row apart, what is learned from the second is the same whatever the first
    one says."""
    if not run.view.segments:
        raise NotApplicable(TAKES_NO_SEGMENTS)
    gradient = _gradient(run)

    def complaint(example: tuple[Change, int]) -> str:
        change, cut = example
        segments = documents(len(change.row), cut)
        second = np.arange(len(change.row))[None, :] >= cut
        before, after = (gradient(row, segments, second) for row in (change.before, change.after))
        by = _farthest(before, after)
        said = f"token {change.at} of {change.row} set to {change.to} moves the gradient of the second by {by:.3g}"
        return f"with the documents cut at {cut}, {said}" if by > run.view.leak else ""

    return search.smallest(changes_before(run, run.short), complaint)


def row_isolation(run: DecoderRun, search: Search) -> str:
    """A row's logits, and what is learned from it, are the same bit for bit whatever the other rows say."""
    gradient = None if run.problem else parameter_gradient(run)

    def complaint(example: tuple[Change, list[int]]) -> str:
        change, kept = example
        before, after = (np.concatenate([row, one_row(kept)]) for row in (change.before, change.after))
        said = f"beside {kept}, token {change.at} of {change.row} set to {change.to} moves"
        by = moved(run.logits(before)[1], run.logits(after)[1]).max()
        if by > run.view.leak:
            return f"{said} its logits by {by:.3g}"
        if gradient is None:
            return ""
        second = np.zeros(before.shape, bool)
        second[1] = True
        by = _farthest(gradient(before, None, second), gradient(after, None, second))
        return f"{said} its gradient by {by:.3g}" if by > run.view.leak else ""

    def beside(change: Change) -> st.SearchStrategy[tuple[Change, list[int]]]:
        return st.tuples(st.just(change), rows_of(run, len(change.row)))

    return search.smallest(changes(run, run.short).flatmap(beside), complaint)


def control(run: DecoderRun) -> str:
    """What keeps a row's first document from its second, where nothing does: the other side of `segment_isolation`."""
    change = Change(run.spread(run.short)[0].tolist(), 0, 1 % run.vocab_size)
    by = moved(run.logits(change.before)[0, 1:], run.logits(change.after)[0, 1:]).max()
    return f"without segments the same moves them by up to {by:.2g}" if by else "without segments nothing moves either"


def _gradient(run: DecoderRun) -> ParameterGradient:
    if run.problem:
        raise NotApplicable(f"it can't be traced: {run.problem}")
    return parameter_gradient(run)


def _farthest(before: list[np.ndarray], after: list[np.ndarray]) -> float:
    return max((float(moved(a, b).max(initial=0)) for a, b in zip(before, after, strict=True)), default=0.0)
