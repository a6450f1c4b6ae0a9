"""A terabyte on paper: what each stage costs on one machine and on many, from rates that were measured here.

Counting and encoding are spread over all cores of all machines. Counts are added up, and merges learned, on one core:
that is where more machines end to help.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.speed.tokenizers.texts import Text
from research.progress import progress
from research.tokenizers import PATTERNS, engine
from research.tokenizers.counting.map_reduce import count_part
from research.tokenizers.counting.parts import SIZE, FileRange
from research.tokenizers.kernels.count import WordCounter

TERABYTE = 1e12
MACHINES, CORES = (1, 10, 100, 1000), 2
_SHARES = (16, 4, 1)


@dataclass(frozen=True)
class Stages:
    """Seconds of each stage of a training, each on one core, and what counting left."""

    size: int
    """bytes of text"""
    counting: float
    adding: float
    """the counts of all parts, one after another"""
    merging: float
    words: int
    """distinct pre-tokens"""
    word_bytes: int


@dataclass(frozen=True)
class Estimate:
    """Hours of each stage for a terabyte on so many machines."""

    machines: int
    counting: float
    adding: float
    merging: float
    encoding: float

    @property
    def limit(self) -> str:
        """The stage that training waits for longest; encoding is work of its own, which more machines always speed."""
        stages = {name: getattr(self, name) for name in ("counting", "adding", "merging")}
        return max(stages, key=lambda name: stages[name])

    @property
    def training(self) -> float:
        """Counts are added up while others count; then merges are learned."""
        return max(self.counting, self.adding) + self.merging


def measured_stages(text: Text, pattern: str, size: int) -> list[Stages]:
    """Of a sixteenth, a quarter and the whole of `text`, so that growth shows."""
    found = []
    with progress("stages", total=len(_SHARES), unit="texts") as bar:
        for share in _SHARES:
            found.append(_stages(text, text.size // share, pattern, size))
            bar.advance()
    return found


def _stages(text: Text, end: int, pattern: str, size: int) -> Stages:
    """One part at a time, so that each stage is timed alone."""
    pretokenizer, counter, counting, adding = PATTERNS[pattern], WordCounter(), 0.0, 0.0
    for begin in range(0, end, SIZE):
        begun = time.perf_counter()
        stop = min(begin + SIZE, end)
        part = FileRange(str(text.path), begin, stop, is_last=stop == text.size)
        counts = count_part(part, pretokenizer)
        counted = time.perf_counter()
        counter.add_counts(counts)
        counting, adding = counting + counted - begun, adding + time.perf_counter() - counted
    words = counter.result()
    begun = time.perf_counter()
    engine.learn(words, size - 256)
    merging = time.perf_counter() - begun
    return Stages(end, counting, adding, merging, len(words.counts) - 1, int(words.starts[-1]))


def growth(stages: Sequence[Stages]) -> float:
    """Heaps' exponent b of distinct pre-tokens ~ bytes^b, by least squares on logarithms."""
    sizes, words = ([math.log(getattr(stage, name)) for stage in stages] for name in ("size", "words"))
    return float(np.polyfit(sizes, words, 1)[0]) if len(set(sizes)) > 1 else 0.0


def estimates(stages: Sequence[Stages], encoding_rate: float) -> list[Estimate]:
    """`encoding_rate` in bytes a second of one core."""
    last = stages[-1]
    larger = (TERABYTE / last.size) ** growth(stages)
    hours = TERABYTE / last.size / 3600
    return [
        Estimate(
            machines,
            counting=hours * last.counting / (machines * CORES),
            adding=hours * last.adding,
            merging=last.merging * larger / 3600,
            encoding=TERABYTE / encoding_rate / (machines * CORES) / 3600,
        )
        for machines in MACHINES
    ]


def most_machines(stages: Sequence[Stages]) -> float:
    """From how many machines on the one that adds up is the limit."""
    return stages[-1].counting / stages[-1].adding / CORES
