"""Exponents, crossings and intervals on curves whose answer is known, and the rule that judges them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.attention_scaling.clock import Sample, Timings
from experiments.attention_scaling.curves import Estimate, crossing_length, fitted_slope, slopes
from experiments.attention_scaling.growth import ClockCrossing, Growth, clock_crossing, growth, timing_rows

LENGTHS = (64, 128, 256, 512)
T = np.asarray(LENGTHS, float)


def timings(**seconds: np.ndarray) -> Timings:
    """Nine repeats of the given curves, each repeat slower than the one before by a factor that all share."""
    slower = 1.1 ** np.arange(9)[:, None]
    samples = {}
    for name, curve in seconds.items():
        fields = {"seconds": curve, "fresh_bytes": 0 * T, "system_seconds": 0.25 * curve, "cpu_seconds": curve}
        samples[name] = np.stack([fields[field] * slower for field in Sample._fields])
    return Timings(LENGTHS, samples, seed=0)


@given(exponent=st.floats(-3, 3), scale=st.floats(1e-6, 1e6))
def test_a_power_law_has_its_exponent_everywhere(exponent: float, scale: float):
    costs = scale * T**exponent
    np.testing.assert_allclose(slopes(LENGTHS, costs), exponent, atol=1e-9)
    np.testing.assert_allclose(fitted_slope(LENGTHS, costs), exponent, atol=1e-9)


def test_the_fitted_slope_is_that_of_numpys_least_squares():
    costs = np.random.default_rng(0).uniform(1, 9, len(LENGTHS))
    np.testing.assert_allclose(fitted_slope(LENGTHS, costs), np.polyfit(np.log(T), np.log(costs), 1)[0])


@given(crossing=st.floats(1, 1e5), exponent=st.floats(0.1, 3))
def test_a_power_law_crosses_where_it_is_one_inside_and_outside_of_the_sweep(crossing: float, exponent: float):
    found = crossing_length(LENGTHS, (T / crossing) ** exponent)
    np.testing.assert_allclose(found, crossing, rtol=1e-6)


def test_of_several_crossings_the_last_one_counts():
    assert crossing_length(LENGTHS, np.asarray([2.0, 0.5, 2.0, 0.25])) is None  # ends below 1, and falling
    assert crossing_length(LENGTHS, np.asarray([0.5, 2.0, 0.5, 2.0])) == pytest.approx(np.sqrt(256 * 512))


@given(st.lists(st.floats(0.5, 0.51), min_size=4, max_size=4), st.booleans())
def test_a_crossing_is_a_length_or_none_however_flat_the_ratio(ratio: list[float], above: bool):
    found = crossing_length(LENGTHS, np.asarray(ratio) * (3 if above else 1))
    assert found is None or 0 <= found < np.inf


def test_a_ratio_that_does_not_rise_has_no_crossing():
    assert crossing_length(LENGTHS, np.full(4, 0.5)) is None
    assert crossing_length(LENGTHS, 0.5 + 1e-9 * np.arange(4)) is None  # a length beyond every float
    assert timings(core=0.5 * T, rest=T).crossing("core", "rest") is None


def test_a_slow_repeat_that_all_share_does_not_widen_a_ratio_or_an_exponent():
    clocked = timings(core=1e-6 * T**2, rest=1e-4 * T)
    for seen in (*clocked.local_exponents("core"), clocked.fitted_exponent("core")):
        assert seen.value == pytest.approx(2)
        assert seen.high - seen.low < 1e-9
    crossing = clocked.crossing("core", "rest")
    assert (crossing.low, crossing.value, crossing.high) == pytest.approx((100, 100, 100))
    assert clocked.system_share("core")[0].value == pytest.approx(0.25)


def test_an_interval_holds_the_median_of_the_repeats_and_grows_with_their_spread():
    rng = np.random.default_rng(1)

    def width(noise: float) -> float:
        samples = np.ones((4, 15, 4)) * T * np.exp(noise * rng.normal(size=(4, 15, 4)))
        seen = Timings(LENGTHS, {"core": samples}, seed=0).fitted_exponent("core")
        assert seen.low <= seen.value <= seen.high
        return seen.high - seen.low

    assert 0 < 3 * width(0.01) < width(0.1)


@pytest.mark.parametrize(
    ("low", "high", "judgement"),
    [
        (1.85, 2.15, "as predicted"),
        (2.1, 2.3, "inconclusive"),
        (1.0, 3.0, "inconclusive"),
        (2.21, 2.4, "steeper"),
        (1.2, 1.79, "shallower"),
    ],
)
def test_an_exponent_is_judged_by_where_its_whole_interval_lies(low: float, high: float, judgement: str):
    part = Growth("core", LENGTHS, tuple(n**2 for n in LENGTHS), (1.0,) * 4, (), Estimate((low + high) / 2, low, high))
    assert part.judgement == judgement


@pytest.mark.parametrize(
    ("low", "high", "judgement"),
    [(500, 1999, "agrees"), (100, 499, "earlier"), (100, 501, "inconclusive"), (2001, 9000, "later")],
)
def test_a_crossing_is_judged_by_where_its_whole_interval_lies(low: float, high: float, judgement: str):
    assert ClockCrossing(1000, Estimate(1000, low, high), extrapolated=False).judgement == judgement


def test_a_crossing_beyond_the_sweep_is_labelled_and_never_called_timed():
    for crossing, kind in ((100, "timed"), (2000, "estimated"), (10, "estimated")):
        clocked = timings(core=T**2, rest=crossing * T)
        grown = {"core": growth(clocked, "core", [n**2 for n in LENGTHS])}
        rows = timing_rows(clocked, grown, clock_crossing(clocked, 1000.0))
        (row,) = (row for row in rows if row.quantity == "crossing_length")
        assert (row.kind, row.factors["extrapolated"]) == (kind, kind == "estimated")
        assert row.value == pytest.approx(crossing)


def test_each_exponent_of_time_stands_beside_that_of_flops():
    clocked = timings(core=T**2.5)
    grown = {"core": growth(clocked, "core", [n**2 for n in LENGTHS])}
    rows = timing_rows(clocked, grown, ClockCrossing(1.0, None, True))
    exponents = [row for row in rows if row.quantity in ("local_exponent", "fitted_exponent")]
    assert [(row.kind, row.witness, round(row.value, 9)) for row in exponents] == [
        ("timed", "clock", 2.5),
        ("exact", "formula", 2.0),
    ] * 4
