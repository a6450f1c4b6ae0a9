"""Ratios of totals: exact values, and intervals that a plain loop and the theory of large samples confirm."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ShapeError
from research.measures import Ratio, bootstrap, paired_ratios
from research.measures.bootstrap import resampled_sums

COUNTS = st.lists(st.tuples(st.integers(1, 500), st.integers(1, 500)), min_size=2, max_size=30)


def columns(*rows):
    return np.array(rows, np.int64)


@given(COUNTS)
def test_the_value_is_sum_over_sum_and_lies_between_the_extreme_unit_ratios(pairs):
    above, below = zip(*pairs, strict=True)
    (ratio,) = paired_ratios(columns(above), columns(below), resamples=100)
    assert ratio.value == sum(above) / sum(below)
    assert ratio.n == len(pairs)
    extremes = [a / b for a, b in pairs]
    assert min(extremes) - 1e-12 <= ratio.low <= ratio.high <= max(extremes) + 1e-12


@given(st.lists(st.integers(1, 500), min_size=2, max_size=30), st.integers(1, 9))
def test_proportional_texts_have_an_interval_of_no_width(lengths, factor):
    (ratio,) = paired_ratios(columns(lengths) * factor, columns(lengths), resamples=100)
    assert (ratio.low, ratio.value, ratio.high) == pytest.approx((factor, factor, factor), rel=1e-12)


def test_sums_are_those_of_a_loop_that_draws_units_one_by_one():
    counts = columns([3, 1, 4, 1, 5], [9, 2, 6, 5, 3])
    draw = np.random.default_rng(7)
    expected = []
    for _ in range(50):
        drawn = [int(unit) for unit in draw.integers(5, size=5)]
        expected.append([sum(int(row[unit]) for unit in drawn) for row in counts])
    assert resampled_sums(counts, 50, seed=7).tolist() == expected


def test_how_many_draws_are_made_at_once_changes_nothing(monkeypatch):
    counts = columns(range(1, 40), range(40, 1, -1))
    at_once = resampled_sums(counts, 101, seed=3)
    monkeypatch.setattr(bootstrap, "_DRAWS_AT_ONCE", 100)
    assert np.array_equal(resampled_sums(counts, 101, seed=3), at_once)


def test_the_interval_is_as_wide_as_the_delta_method_says():
    random = np.random.default_rng(0)
    below = random.integers(20, 60, 2000)
    above = 2 * below + random.integers(-9, 10, 2000)
    (ratio,) = paired_ratios(columns(above), columns(below), resamples=4000)
    residual = above - ratio.value * below
    standard_error = residual.std() / below.mean() / math.sqrt(2000)
    assert ratio.high - ratio.low == pytest.approx(2 * 1.96 * standard_error, rel=0.06)


def test_pairing_is_kept_between_numerator_and_denominator():
    lengths = np.random.default_rng(1).integers(1, 1000, 50)
    (paired,) = paired_ratios(columns(lengths + 1), columns(lengths))
    (unpaired,) = paired_ratios(columns(lengths + 1), columns(lengths[::-1]))
    assert paired.high - paired.low < 0.05 * (unpaired.high - unpaired.low)


def test_the_seed_decides_the_interval_and_nothing_else():
    above, below = columns(range(1, 30)), columns(range(30, 1, -1))
    first, again, other = (paired_ratios(above, below, seed=seed)[0] for seed in (0, 0, 1))
    assert first == again
    assert first.value == other.value
    assert first.low != other.low


def test_a_draw_without_anything_to_divide_by_is_left_out():
    (ratio,) = paired_ratios(columns([0, 6]), columns([0, 3]))
    assert (ratio.low, ratio.value, ratio.high) == (2, 2, 2)


def test_one_unit_has_no_interval():
    with pytest.raises(ShapeError, match="at least 2 units, got 1"):
        paired_ratios(columns([3]), columns([2]))


def test_a_squared_ratio_squares_its_bounds_too():
    assert Ratio(5.0, 4.0, 6.0, 10).squared() == Ratio(25.0, 16.0, 36.0, 10)


def test_a_ratio_is_above_or_below_only_with_its_whole_interval():
    ratio = Ratio(1.2, 1.1, 1.3, 10)
    assert ratio.above(1.09)
    assert not ratio.above(1.1)
    assert ratio.below(1.31)
    assert not ratio.below(1.3)
