"""What a run found: seconds of every candidate in every round, and what follows from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from contracts.results import Factor, Row
from experiments.speed.training.question import AIM_NANOGPT, AIM_PLAIN, NANOGPT, OURS, PLAIN, Shape

Judgement = Literal["met", "missed", "undecided"]

AIMS = {PLAIN: AIM_PLAIN, NANOGPT: AIM_NANOGPT}

#: A later run on another machine counts as equal up to these relative differences.
_RATIO_TOLERANCE, _SECONDS_TOLERANCE = 0.5, 4.0


class Spread(NamedTuple):
    """A median with the smallest and the largest."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Timed:
    """One candidate at one shape."""

    seconds: np.ndarray
    """of a step, one entry a round"""
    first_seconds: float
    """until its first steps were done: compilation and those steps"""
    steps: int
    """that a round has"""
    peak_bytes: int
    imported_bytes: int
    losses: tuple[float, float]
    """after its first steps, and at the end: it did train"""

    @property
    def compile_seconds(self) -> float:
        """What the first steps took longer than later ones."""
        return max(0.0, self.first_seconds - self.steps * float(np.median(self.seconds)))


@dataclass(frozen=True)
class Measured:
    """All candidates at one shape."""

    shape: Shape
    timed: Mapping[str, Timed]
    matmul_rate: float
    """FLOPs a second of the decoder's own products alone"""
    useful_flops: int
    """of a step"""

    def tokens_per_second(self, name: str) -> Spread:
        """Over the rounds."""
        return spread(self.shape.tokens / self.timed[name].seconds)

    def speedup(self, name: str) -> Spread:
        """This project's tokens a second over those of another, round by round."""
        return spread(self.timed[name].seconds / self.timed[OURS].seconds)

    def share(self, name: str) -> float:
        """Of the rate of the products alone, what the step's useful FLOPs reach."""
        return self.useful_flops / float(np.median(self.timed[name].seconds)) / self.matmul_rate

    def judgement(self, name: str) -> Judgement:
        """By the rule that stood before the run."""
        ratio = self.speedup(name)
        if ratio.low >= AIMS[name]:
            return "met"
        return "missed" if ratio.high < AIMS[name] else "undecided"


@dataclass(frozen=True)
class Findings:
    """Every shape, and which peers were not there."""

    measured: Sequence[Measured]
    absent: Sequence[str]
    torch: str
    """its version"""

    @property
    def peers(self) -> list[str]:
        """Who was there besides this project."""
        return [name for name in self.measured[0].timed if name != OURS]


def spread(values: np.ndarray) -> Spread:
    """Median, least and most."""
    return Spread(float(np.median(values)), float(values.min()), float(values.max()))


def rows(found: Findings) -> list[Row]:
    """Tokens a second, ratios, compilation and memory of every candidate at every shape."""
    result = []
    for one in found.measured:
        shape: dict[str, Factor] = {
            "d_model": one.shape.d_model, "n_layers": one.shape.n_layers, "length": one.shape.length,
            "batch_size": one.shape.batch_size, "vocab_size": one.shape.vocab_size, "dtype": one.shape.dtype,
        }  # fmt: skip
        result.append(_timed("matmul_rate", Spread(*3 * (one.matmul_rate,)), "FLOP/s", shape, 1))
        result.append(Row("useful_flops", one.useful_flops, "FLOPs/step", "exact", "formula", shape))
        for name, timed in one.timed.items():
            factors, n = {**shape, "candidate": name}, len(timed.seconds)
            result.append(_timed("tokens_per_second", one.tokens_per_second(name), "tokens/s", factors, n))
            result.append(_timed("first_steps", Spread(*3 * (timed.first_seconds,)), "seconds", factors, 1))
            result.append(_timed("peak_memory", Spread(*3 * (float(timed.peak_bytes),)), "bytes", factors, 1))
            if name != OURS:
                ratio = one.speedup(name)
                result.append(
                    Row("speedup", ratio.value, "ratio", "timed", "clock", factors, ratio.low, ratio.high, n,
                        _RATIO_TOLERANCE)
                )  # fmt: skip
    return result


def _timed(quantity: str, value: Spread, unit: str, factors: dict[str, Factor], n: int) -> Row:
    return Row(quantity, value.value, unit, "timed", "clock", factors, value.low, value.high, n, _SECONDS_TOLERANCE)
