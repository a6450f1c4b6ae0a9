"""Curves over length: slopes on log-log axes, where one curve crosses another, and intervals by resampling."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

Curves = Float64[np.ndarray, "*curves lengths"]


@dataclass(frozen=True)
class Estimate:
    """A value with the bounds of its 95 % interval."""

    value: float
    low: float
    high: float

    def scaled(self, factor: float) -> "Estimate":
        """The same in another unit."""
        return Estimate(factor * self.value, factor * self.low, factor * self.high)

    def within(self, low: float, high: float) -> bool:
        """Whether the whole interval is."""
        return low <= self.low and self.high <= high


def estimate(value: float, draws: np.ndarray) -> Estimate:
    """`value` with the middle 95 % of `draws`."""
    low, high = np.quantile(draws, (0.025, 0.975))
    return Estimate(float(value), float(low), float(high))


def slopes(lengths: Sequence[int], costs: Curves) -> np.ndarray:
    """d log cost / d log T between neighbouring lengths, along the last axis."""
    return np.diff(np.log(costs), axis=-1) / np.diff(np.log(lengths))


def fitted_slope(lengths: Sequence[int], costs: Curves) -> np.ndarray:
    """Least-squares slope of log cost on log T, along the last axis."""
    x = np.log(lengths) - np.log(lengths).mean()
    return (np.log(costs) * x).sum(axis=-1) / (x**2).sum()


def crossing_length(lengths: Sequence[int], ratio: Float64[np.ndarray, "lengths"]) -> float | None:
    """Where `ratio` passes 1 for the last time, log-linear between lengths.

    Beyond the ends the line through the nearest two points is drawn on; `None` where that line does not rise, or so
    little that no float holds the length.
    """
    x, y = np.log(lengths), np.log(ratio)
    below = np.flatnonzero(y < 0)
    left = min(int(below[-1]), len(lengths) - 2) if below.size else 0
    rise = (y[left + 1] - y[left]) / (x[left + 1] - x[left])
    if rise <= 0:
        return None
    log_length = x[left] - y[left] / rise
    return math.exp(log_length) if log_length < math.log(sys.float_info.max) else None
