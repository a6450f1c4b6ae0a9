"""Timings of several rounds as a row and as text: the median, with the least and the most."""

from collections.abc import Mapping

import numpy as np

from contracts.results import Factor, Row


def timed_row(quantity: str, values: np.ndarray, unit: str, factors: Mapping[str, Factor], tolerance: float) -> Row:
    """The row of `values`, one entry a round; a later run counts as equal up to the relative `tolerance`."""
    low, high, median = float(values.min()), float(values.max()), float(np.median(values))
    return Row(quantity, median, unit, "timed", "clock", factors, low, high, len(values), tolerance)


def spread(values: np.ndarray, digits: int = 2) -> str:
    """`1,684 [857, 1,885]`."""
    return f"{np.median(values):,.{digits}f} [{values.min():,.{digits}f}, {values.max():,.{digits}f}]"
