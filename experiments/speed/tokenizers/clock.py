"""The clock: every call of a job once in each repeat, in a new order each time."""

import gc
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from research.progress import progress

OURS = "bytebound"

Call = Callable[[], Any]
Prepared = Callable[[], Call]
"""makes a call, untimed: a cold encoder is a new one each time"""


@dataclass(frozen=True)
class Ratio:
    """A median over the repeats, and the smallest and largest of them."""

    value: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, samples: np.ndarray) -> "Ratio":
        """Of one sample a repeat."""
        return cls(float(np.median(samples)), float(samples.min()), float(samples.max()), len(samples))


@dataclass(frozen=True)
class Job:
    """One job on one text: seconds of every library that can do it."""

    task: str
    """training, encoding, ..."""
    corpus: str
    setting: str
    """such as `gpt2, 32,768`"""
    size: int
    """bytes that one call works on"""
    seconds: Mapping[str, np.ndarray]
    sizes: Mapping[str, int] = field(default_factory=dict)
    """bytes, where a library is given a part of the text"""
    cannot: Mapping[str, str] = field(default_factory=dict)
    """library to why it is not there"""

    def rate(self, library: str) -> Ratio:
        """Megabytes a second."""
        return Ratio.of(self.sizes.get(library, self.size) / self.seconds[library] / 1e6)

    def ratio(self, library: str) -> Ratio:
        """How many times faster than `library` we are, within the repeats in which it was timed."""
        theirs = self.seconds[library] * self.size / self.sizes.get(library, self.size)
        return Ratio.of(theirs / self.seconds[OURS][: len(theirs)])

    @property
    def fastest_peer(self) -> str | None:
        """By its median time; `None` if none can do it."""
        return max(
            (name for name in self.seconds if name != OURS), key=lambda name: self.rate(name).value, default=None
        )


def interleaved(
    what: str,
    calls: Mapping[str, Prepared],
    repeats: int,
    seed: int,
    patience: float = math.inf,
    look: Callable[[str, Any], None] = lambda name, result: None,
) -> dict[str, np.ndarray]:
    """Seconds of each call. One that is `patience` times slower than the fastest peer is timed once.

    `look` gets the first result of each, untimed.
    """
    taken: dict[str, list[float]] = {name: [] for name in calls}
    order = np.random.default_rng(seed)
    with progress(what, total=repeats, unit="repeats") as bar:
        for repeat in range(repeats):
            for name in order.permutation(list(calls)):
                if repeat == 0 or not _is_slow(name, taken, patience):
                    seconds, result = _timed(calls[name])
                    taken[name].append(seconds)
                    if repeat == 0:
                        look(name, result)
                    del result
            bar.advance()
    return {name: np.array(seconds) for name, seconds in taken.items()}


def _is_slow(name: str, taken: Mapping[str, list[float]], patience: float) -> bool:
    peers = [seconds[0] for other, seconds in taken.items() if other != OURS]
    return name != OURS and taken[name][0] > patience * min(peers)


def _timed(prepare: Prepared) -> tuple[float, Any]:
    call = prepare()
    gc.collect()
    begun = time.perf_counter()
    result = call()
    return time.perf_counter() - begun, result
