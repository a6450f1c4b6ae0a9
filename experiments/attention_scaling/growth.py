"""The clock beside the formula: exponents of time and of FLOPs, and where each sees attention overtake the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from contracts.results import Factor, Row
from experiments.attention_scaling.clock import Timings
from experiments.attention_scaling.curves import Estimate, fitted_slope, slopes
from experiments.attention_scaling.question import CROSSING_FACTOR, EXPONENT_MARGIN

# Relative differences up to which another run says the same. Seconds are a machine's own, growth is less so.
_SECONDS, _LOCAL, _FITTED, _CROSSING = 1.0, 1.0, 0.25, 0.5

_DIGITS = 9  # of an exact logarithm: its last bits depend on the machine's mathematical library

GrowthJudgement = Literal["as predicted", "steeper", "shallower", "inconclusive"]
CrossingJudgement = Literal["agrees", "earlier", "later", "inconclusive"]


@dataclass(frozen=True)
class Growth:
    """How a part's FLOPs and time grow with length."""

    part: str
    lengths: tuple[int, ...]
    flops: tuple[int, ...]
    seconds: tuple[float, ...]
    """medians"""
    local: tuple[Estimate, ...]
    """exponent of time between neighbouring lengths"""
    fitted: Estimate
    """exponent of time over all lengths"""

    @property
    def predicted_local(self) -> list[float]:
        """Exponents of FLOPs between neighbouring lengths."""
        return [float(slope) for slope in slopes(self.lengths, np.asarray(self.flops, float))]

    @property
    def predicted(self) -> float:
        """Exponent of FLOPs over all lengths."""
        return float(fitted_slope(self.lengths, np.asarray(self.flops, float)))

    @property
    def rates(self) -> list[float]:
        """FLOPs per second at each length."""
        return [flops / seconds for flops, seconds in zip(self.flops, self.seconds, strict=True)]

    @property
    def judgement(self) -> GrowthJudgement:
        """By the rule of the question."""
        low, high = self.predicted - EXPONENT_MARGIN, self.predicted + EXPONENT_MARGIN
        if self.fitted.within(low, high):
            return "as predicted"
        if self.fitted.low > high:
            return "steeper"
        return "shallower" if self.fitted.high < low else "inconclusive"


@dataclass(frozen=True)
class ClockCrossing:
    """Where the clock sees the core take as long as the rest of a layer, beside the closed form."""

    closed_form: float
    seen: Estimate | None
    extrapolated: bool
    """the length lies outside the timed ones"""

    @property
    def judgement(self) -> CrossingJudgement:
        """By the rule of the question; without a crossing nothing is concluded."""
        if self.seen is None:
            return "inconclusive"
        low, high = self.closed_form / CROSSING_FACTOR, self.closed_form * CROSSING_FACTOR
        if self.seen.within(low, high):
            return "agrees"
        if self.seen.high < low:
            return "earlier"
        return "later" if self.seen.low > high else "inconclusive"


def growth(timings: Timings, part: str, flops: Sequence[int]) -> Growth:
    """A part's growth from its timings and its FLOPs at the same lengths."""
    return Growth(
        part,
        timings.lengths,
        tuple(flops),
        tuple(float(median) for median in timings.median(part)),
        tuple(timings.local_exponents(part)),
        timings.fitted_exponent(part),
    )


def clock_crossing(timings: Timings, closed_form: float) -> ClockCrossing:
    """The measured crossing of `core` and `rest`."""
    seen = timings.crossing("core", "rest")
    inside = seen is not None and timings.lengths[0] <= seen.value <= timings.lengths[-1]
    return ClockCrossing(closed_form, seen, not inside)


def timing_rows(timings: Timings, grown: Mapping[str, Growth], crossing: ClockCrossing) -> list[Row]:
    """Times, exponents beside their predictions, what the operating system did, and the crossing."""
    n = timings.repeats
    rows = []
    for name, part in grown.items():
        spread = timings.seconds(name)
        fresh, system = timings.fresh_bytes(name), timings.system_share(name)
        for i, length in enumerate(timings.lengths):
            at: dict[str, Factor] = {"part": name, "length": length}
            low, high = float(spread[:, i].min()), float(spread[:, i].max())
            rows.append(Row("time", part.seconds[i], "seconds", "timed", "clock", at, low, high, n, _SECONDS))
            rows.append(_estimated("fresh_memory", fresh[i], "bytes/call", at, n, "count"))
            rows.append(_estimated("system_time", system[i], "share of processor time", at, n))
        for i, (seen, predicted) in enumerate(zip(part.local, part.predicted_local, strict=True)):
            between: dict[str, Factor] = {"part": name, "from": timings.lengths[i], "to": timings.lengths[i + 1]}
            rows += _exponent("local_exponent", seen, predicted, between, n, _LOCAL)
        rows += _exponent("fitted_exponent", part.fitted, part.predicted, {"part": name}, n, _FITTED)
    if crossing.seen is not None:
        factors: dict[str, Factor] = {"shape": "swept", "pairs": "full", "extrapolated": crossing.extrapolated}
        if crossing.extrapolated:
            rows.append(_estimated("crossing_length", crossing.seen, "tokens", factors, n))
        else:
            rows.append(_timed("crossing_length", crossing.seen, "tokens", factors, n, _CROSSING))
    return rows


def _exponent(
    quantity: str, seen: Estimate, predicted: float, factors: dict[str, Factor], n: int, tolerance: float
) -> list[Row]:
    return [
        _timed(quantity, seen, "exponent", {**factors, "of": "time"}, n, tolerance),
        Row(quantity, round(predicted, _DIGITS), "exponent", "exact", "formula", {**factors, "of": "FLOPs"}),
    ]


def _timed(quantity: str, seen: Estimate, unit: str, factors: dict[str, Factor], n: int, tolerance: float) -> Row:
    return Row(quantity, seen.value, unit, "timed", "clock", factors, seen.low, seen.high, n, tolerance)


def _estimated(
    quantity: str,
    seen: Estimate,
    unit: str,
    factors: dict[str, Factor],
    n: int,
    witness: Literal["clock", "count"] = "clock",
) -> Row:
    return Row(quantity, seen.value, unit, "estimated", witness, factors, seen.low, seen.high, n)
