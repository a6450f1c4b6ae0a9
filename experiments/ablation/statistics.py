"""What seeds can tell: differences paired by seed, what a number of seeds can see, and the verdict.

The seed is the unit. Documents of one held-out text say how two given decoders differ; only other seeds say whether
the next two will.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from contracts.errors import ShapeError

LEVEL, POWER = 0.05, 0.8
#: Above this no number of seeds is worked out.
MOST_SEEDS = 100_000
_NODES = 200
#: Rounding of float64 sums, not a difference.
_NOTHING = 1e-9

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

    def __str__(self) -> str:
        return f"{signed(self.value)} [{signed(self.low)}, {signed(self.high)}]"


@dataclass(frozen=True)
class Needed:
    """How many seeds would decide, for the spread that was found and for those that it allows."""

    seeds: int
    low: int
    high: int
    """for the ends of the 95 % interval of the spread; numbers above `MOST_SEEDS` stand for more than that"""
    known_from: int
    """the pairs that the spread was found from"""

    @property
    def brief(self) -> str:
        """`about 31 seeds`."""
        return f"{'' if self.seeds > MOST_SEEDS else 'about '}{counted(self.seeds)} seeds"

    def __str__(self) -> str:
        rough = f"{counted(self.low)} to {counted(self.high)} for the spread that {self.known_from} seeds allow"
        return f"{self.brief} ({rough})"


@dataclass(frozen=True)
class Verdict:
    """Exactly one of four words."""

    word: Word
    margin: float
    needed: Needed | None
    """seeds that would decide it; only where the word is inconclusive"""

    @property
    def brief(self) -> str:
        """What a figure has room for."""
        return f"{self.word}: needs {self.needed.brief}" if self.needed else str(self)

    def __str__(self) -> str:
        if self.needed:
            return f"{self.word}: needs {self.needed}"
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


def equivalence_power(n: int, margin: float, spread: float) -> float:
    """The probability that `n` pairs without a true difference are found equivalent.

    That is that the 95 % t-interval lies within the margin on both sides: two one-sided tests (Schuirmann 1987), each
    at 2.5 %. Given S, as in `power`, the mean has to be within margin - t S spread / sqrt(n) of 0.
    """
    from scipy.stats import chi2, norm, t

    if n < 2:
        return 0.0
    if spread == 0:
        return 1.0
    nodes, weights = _quadrature()
    bounds = t.ppf(1 - LEVEL / 2, n - 1) * np.sqrt(chi2.ppf((nodes + 1) / 2, n - 1) / (n - 1))
    room = np.maximum(margin * math.sqrt(n) / spread - bounds, 0)
    return float(weights @ (2 * norm.cdf(room) - 1) / 2)


def visible_difference(n: int, spread: float) -> float:
    """The smallest true difference that `n` pairs of this spread show with 80 % power."""
    from scipy.optimize import brentq

    if spread == 0:
        return 0.0
    # in units of the spread; with two pairs it is about 12 of them
    return spread * float(brentq(lambda effect: power(n, effect, 1.0) - POWER, 1e-3, 100.0))


def seeds_needed(difference: float, spread: float) -> int:
    """The fewest pairs that show a true difference of this size with 80 % power; `MOST_SEEDS` + 1 for more."""
    return _fewest(lambda n: power(n, difference, spread))


def seeds_to_equivalence(margin: float, spread: float) -> int:
    """The fewest pairs that show, with 80 % power, that there is no difference; `MOST_SEEDS` + 1 for more."""
    return _fewest(lambda n: equivalence_power(n, margin, spread))


def seeds_to_decide(margin: float, spread: float, pairs: int) -> Needed:
    """As many as see a difference of the margin and, where there is none, see that; more than `pairs` in any case.

    A spread from few pairs is rough, and N goes with its square: the interval is that of a standard deviation,
    s sqrt((n - 1) / chi-square) at 2.5 % and 97.5 %.
    """
    from scipy.stats import chi2

    ends = spread * np.sqrt((pairs - 1) / chi2.ppf([1 - LEVEL / 2, LEVEL / 2], pairs - 1))
    middle, low, high = (
        max(pairs + 1, seeds_needed(margin, each), seeds_to_equivalence(margin, each))
        for each in (spread, *ends.tolist())
    )
    return Needed(middle, low, high, pairs)


def _fewest(power_of: Callable[[int], float]) -> int:
    low, high = 1, 2
    while power_of(high) < POWER:
        low, high = high, 2 * high
        if low >= MOST_SEEDS:
            return MOST_SEEDS + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(middle) >= POWER else (middle, high)
    return min(high, MOST_SEEDS + 1)


def counted(seeds: int) -> str:
    """`1,180`, or `more than 100,000`."""
    return f"{seeds:,}" if seeds <= MOST_SEEDS else f"more than {MOST_SEEDS:,}"


def signed(value: float) -> str:
    """`-0.013`; what three digits would call zero has as many as show one, and zero has no sign."""
    if abs(value) < _NOTHING:
        return "0.000"
    digits = 3 if abs(value) >= 0.0005 else math.ceil(-math.log10(abs(value)))
    return f"{value:+.{digits}f}"


def foreseen(seeds: int, spread: float, margin: float) -> str:
    """What is known of a number of seeds before the run."""
    return (
        f"at a spread of {spread:g}, {seeds} seeds show differences from {visible_difference(seeds, spread):.3f} bits "
        f"a byte on (80 % power); the margin is {margin:g}, and to be found equivalent within it takes "
        f"{counted(seeds_to_equivalence(margin, spread))} seeds"
    )


def verdict(difference: Difference, margin: float) -> Verdict:
    """Lower is better. In this order:

    equivalent, if the whole interval lies within the margin on both sides of 0; better or worse, if it lies wholly
    below or above 0; otherwise inconclusive, with the number of seeds that would decide.
    """
    if -margin < difference.low and difference.high < margin:
        return Verdict("equivalent", margin, None)
    if difference.high < 0 or difference.low > 0:
        return Verdict("better" if difference.high < 0 else "worse", margin, None)
    return Verdict("inconclusive", margin, seeds_to_decide(margin, difference.spread, difference.n))
