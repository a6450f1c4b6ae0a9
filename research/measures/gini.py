"""How unevenly a tokenizer charges languages for the same content: the Gini coefficient of their token counts."""

from dataclasses import dataclass

import numpy as np

from contracts.core import contract
from contracts.errors import ShapeError
from contracts.measures import CountsBySize, Drawn, Resampled
from research.measures.bootstrap import PERCENTILES, resampled_sums


@dataclass(frozen=True)
class Gini:
    """0 if all languages cost the same, towards 1 if one bears all, with a 95 % percentile interval."""

    value: float
    low: float
    high: float
    n: int
    """units that were resampled"""


@contract
def gini(costs: Resampled) -> Drawn:
    """The Gini coefficient of each row of costs: the mean difference of two of them over twice their mean.

    With the costs c_1 <= ... <= c_n in order it is sum (2 i - n - 1) c_i / (n sum c_i).
    """
    ordered = np.sort(costs)
    n = costs.shape[1]
    return (ordered * (2 * np.arange(1, n + 1) - n - 1)).sum(axis=1) / (n * ordered.sum(axis=1))


@contract
def paired_gini(costs: CountsBySize, resamples: int = 2000, seed: int = 0) -> Gini:
    """Over languages, the rows, each with its cost of the same units; units are drawn with replacement, together."""
    languages, n = costs.shape
    if languages < 2 or n < 2:
        raise ShapeError(f"paired_gini: at least 2 languages and 2 units, got {languages} and {n}")
    low, high = np.percentile(gini(resampled_sums(costs, resamples, seed)), PERCENTILES)
    (value,) = gini(costs.sum(axis=1, dtype=np.float64)[None])
    return Gini(float(value), float(low), float(high), n)
