"""What seeds can tell: differences paired by seed, what a number of seeds can see, and the verdict.

The seed is the unit. Documents of one held-out text say how two given decoders differ; only other seeds say whether
the next two will.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from contracts.errors import ShapeError

LEVEL, POWER = 0.05, 0.8
_MOST_SEEDS = 100_000
_NODES = 200

Word = Literal["better", "worse", "equivalent", "inconclusive"]


@dataclass(frozen=True)
class Difference:
    """A mean difference over pairs, with its 95 % t-interval."""

    value: float
    low: float
    high: float
    n: int
    """pairs"""
    spread: float
    """standard deviation of the differences"""
    correlation: float | None
    """of the two sides over the seeds: what pairing was worth; `None` where a side does not vary"""


@dataclass(frozen=True)
class Verdict:
    """Exactly one of four words."""

    word: Word
    margin: float
    seeds: int | None
    """how many would see a difference as large as the margin; only where the word is inconclusive"""

    def __str__(self) -> str:
        if self.word == "inconclusive":
            return f"inconclusive: needs {self.seeds:,} seeds" if self.seeds else "inconclusive"
        return f"equivalent (within {self.margin:g})" if self.word == "equivalent" else self.word


def paired_difference(ours: Sequence[float], theirs: Sequence[float]) -> Difference:
    """The mean of ours minus theirs, pair by pair, with mean +- t(n - 1) s / sqrt(n) (Student 1908)."""
    from scipy.stats import t

    if len(ours) != len(theirs) or len(ours) < 2:
        raise ShapeError(f"paired_difference: at least 2 pairs, got {len(ours)} and {len(theirs)}")
    differences = np.subtract(ours, theirs)
    n, mean, spread = len(differences), float(differences.mean()), float(differences.std(ddof=1))
    half = float(t.ppf(1 - LEVEL / 2, n - 1)) * spread / math.sqrt(n)
    varies = np.std(ours) > 0 and np.std(theirs) > 0
    correlation = float(np.corrcoef(ours, theirs)[0, 1]) if varies else None
    return Difference(mean, mean - half, mean + half, n, spread, correlation)


def power(n: int, difference: float, spread: float) -> float:
    """The probability that `n` pairs show a true difference: that the two-sided paired t-test at 5 % rejects.

    Under a true difference the statistic is (Z + difference sqrt(n) / spread) / S, a noncentral t: Z is normal and S^2
    a chi-square of n - 1 degrees of freedom over n - 1 (Cohen 1988, chapter 2). Given S the probability is normal; its
    mean over the quantiles of S is taken by Gauss-Legendre, for the closed form has no value for two pairs.
    """
    from scipy.stats import chi2, norm, t

    if n < 2:
        return 0.0
    if spread == 0:
        return 1.0 if difference else LEVEL
    critical, shift = t.ppf(1 - LEVEL / 2, n - 1), abs(difference) * math.sqrt(n) / spread
    nodes, weights = _quadrature()
    bounds = critical * np.sqrt(chi2.ppf((nodes + 1) / 2, n - 1) / (n - 1))
    return float(weights @ (norm.sf(bounds - shift) + norm.cdf(-bounds - shift)) / 2)


@cache
def _quadrature() -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(_NODES)


def visible_difference(n: int, spread: float) -> float:
    """The smallest true difference that `n` pairs of this spread show with 80 % power."""
    from scipy.optimize import brentq

    if spread == 0:
        return 0.0
    # in units of the spread; with two pairs it is about 12 of them
    return spread * float(brentq(lambda effect: power(n, effect, 1.0) - POWER, 1e-3, 100.0))


def seeds_needed(difference: float, spread: float) -> int:
    """The fewest pairs that show a true difference of this size with 80 % power."""
    low, high = 1, 2
    while power(high, difference, spread) < POWER:
        low, high = high, 2 * high
        if high > _MOST_SEEDS:
            return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle, difference, spread) >= POWER else (middle, high)
    return high


def verdict(difference: Difference, margin: float) -> Verdict:
    """Lower is better. In this order:

    equivalent, if the whole interval lies within the margin on both sides of 0; better or worse, if it lies wholly
    below or above 0; otherwise inconclusive, with the number of seeds that would see a difference of the margin.
    """
    if -margin < difference.low and difference.high < margin:
        return Verdict("equivalent", margin, None)
    if difference.high < 0 or difference.low > 0:
        return Verdict("better" if difference.high < 0 else "worse", margin, None)
    return Verdict("inconclusive", margin, max(difference.n + 1, seeds_needed(margin, difference.spread)))
