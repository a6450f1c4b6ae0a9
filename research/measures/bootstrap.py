"""Ratios of totals with an interval: units are drawn with replacement, and numerator and denominator together.

Pairing is what makes the interval narrow: a long sentence is long in both languages.
"""

from dataclasses import dataclass

import numpy as np

from contracts.core import contract
from contracts.errors import ShapeError
from contracts.measures import CountsBySize, Resampled

#: What an interval of 95 % leaves out, half of it on each side.
PERCENTILES = (2.5, 97.5)
_DRAWS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Ratio:
    """A ratio of two totals over the same units, with its 95 % percentile interval."""

    value: float
    low: float
    high: float
    n: int
    """units that were resampled"""

    def squared(self) -> "Ratio":
        """What attention pays: its cost grows with the square of the length."""
        return Ratio(self.value**2, self.low**2, self.high**2, self.n)

    def above(self, bound: float) -> bool:
        """Whether the whole interval lies above `bound`."""
        return self.low > bound

    def below(self, bound: float) -> bool:
        """Whether the whole interval lies below `bound`."""
        return self.high < bound


@contract
def paired_ratios(
    numerators: CountsBySize, denominators: CountsBySize, resamples: int = 2000, seed: int = 0
) -> list[Ratio]:
    """Row by row the ratio of the two totals (sum over sum, never a mean of ratios).

    Percentile bootstrap over units (Efron and Tibshirani 1993, chapter 13), one draw for all rows. The same seed
    gives the same intervals. A draw whose denominator is empty, possible with few units, is left out.
    """
    rows, n = numerators.shape
    if n < 2:
        raise ShapeError(f"paired_ratios: an interval needs at least 2 units, got {n}")
    sums = resampled_sums(np.concatenate([numerators, denominators]), resamples, seed)
    above, below = sums[:, :rows], sums[:, rows:]
    drawn = np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
    low, high = np.nanpercentile(drawn, PERCENTILES, axis=0)
    values = numerators.sum(axis=1) / denominators.sum(axis=1)
    return [Ratio(float(values[i]), float(low[i]), float(high[i]), n) for i in range(rows)]


@contract
def resampled_sums(counts: CountsBySize, resamples: int, seed: int) -> Resampled:
    """The total of every row in each of `resamples` draws of all its units with replacement."""
    n = counts.shape[1]
    draw = np.random.default_rng(seed)
    sums = []
    step = max(1, _DRAWS_AT_ONCE // n)
    for done in range(0, resamples, step):
        batch = min(step, resamples - done)
        drawn = draw.integers(n, size=(batch, n)) + n * np.arange(batch)[:, None]
        times_drawn = np.bincount(drawn.ravel(), minlength=batch * n).reshape(batch, n)
        sums.append(times_drawn.astype(np.float64) @ counts.T.astype(np.float64))
    return np.concatenate(sums)
