"""The clock: every candidate of a comparison in turn, in a new order each time, and ratios within one turn.

What runs in Python is timed by the thread's own clock, which stands still while the machine does something else.
"""

import gc
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from research.progress import progress

Samples = Mapping[str, np.ndarray]
"""Candidate to seconds a call, one entry a repeat."""


class Spread(NamedTuple):
    """A median, and the 10th and 90th percentile."""

    median: float
    low: float
    high: float
    n: int

    def times(self, factor: float) -> "Spread":
        """The same in another unit."""
        return Spread(self.median * factor, self.low * factor, self.high * factor, self.n)

    def against(self, aim: float) -> str:
        """`met`, `missed` or `undecided`, by the decision rule."""
        return "met" if self.high <= aim else "missed" if self.low > aim else "undecided"


def spread(samples: np.ndarray) -> Spread:
    """Median and percentiles of the repeats."""
    low, median, high = np.percentile(samples, (10, 50, 90))
    return Spread(float(median), float(low), float(high), len(samples))


def interleaved(
    what: str,
    calls: Mapping[str, Callable[[], Any]],
    repeats: int,
    seed: int,
    clock: Callable[[], float] = time.thread_time,
    sample_seconds: float = 0.002,
) -> Samples:
    """Seconds of each call, after one that is not counted; a shorter one is repeated until a sample is filled."""
    for call in calls.values():
        call()
    times = {
        name: max(1, math.ceil(sample_seconds / max(_sample(call, 1, clock), 1e-9))) for name, call in calls.items()
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    order = np.random.default_rng(seed)
    with progress(what, total=repeats, unit="repeats") as bar, no_collection():
        for _ in range(repeats):
            for name in order.permutation(list(calls)):
                taken[name].append(_sample(calls[name], times[name], clock))
            bar.advance()
            gc.collect()
    return {name: np.array(seconds) for name, seconds in taken.items()}


def _sample(call: Callable[[], Any], times: int, clock: Callable[[], float]) -> float:
    begun = clock()
    for _ in range(times):
        call()
    return (clock() - begun) / times


@contextmanager
def no_collection() -> Iterator[None]:
    """The collector's pauses belong to nobody's call."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
