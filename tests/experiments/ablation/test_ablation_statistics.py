"""Intervals, power and verdicts against scipy, published sample sizes and simulated experiments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from contracts.errors import ShapeError
from experiments.ablation.statistics import (
    Difference,
    paired_difference,
    power,
    seeds_needed,
    verdict,
    visible_difference,
)

VALUES = st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=12)


@given(VALUES)
def test_the_interval_is_that_of_the_paired_t_test(pairs):
    ours, theirs = zip(*pairs, strict=True)
    found = paired_difference(ours, theirs)
    if np.ptp(np.subtract(ours, theirs)) < 1e-9:
        return
    expected = stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_one_pair_has_no_interval():
    with pytest.raises(ShapeError, match="at least 2 pairs"):
        paired_difference([1.0], [2.0])


@pytest.mark.parametrize(("effect", "published"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_pairs_needed_for_cohens_effects_are_the_published_ones(effect, published):
    """G*Power 3.1, t-test of two dependent means, two-sided 5 %, power 0.8."""
    assert seeds_needed(effect, 1.0) == published


def test_a_published_study_of_masks_needs_about_24_seeds():
    assert 23 <= seeds_needed(0.01, 0.017) <= 26


@pytest.mark.parametrize("n", [2, 3, 5, 20])
@pytest.mark.parametrize("effect", [0.0, 0.4, 1.0])
def test_power_is_that_of_the_noncentral_t_distribution(n, effect):
    critical = stats.t.ppf(0.975, n - 1)
    shift = effect * n**0.5
    expected = stats.nct.sf(critical, n - 1, shift) + stats.nct.cdf(-critical, n - 1, shift)
    assert power(n, effect, 1.0) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("n", [2, 3, 6])
def test_a_visible_difference_is_found_in_eight_of_ten_simulated_experiments(n):
    spread = 0.3
    draws = np.random.default_rng(n).normal(visible_difference(n, spread), spread, size=(20_000, n))
    rejected = stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05
    assert rejected.mean() == pytest.approx(0.8, abs=0.012)


@given(st.floats(-1, 1), st.floats(0, 2), st.integers(2, 50), st.floats(0.001, 1))
def test_a_verdict_is_the_one_word_that_the_interval_allows(middle, half, n, margin):
    found = Difference(middle, middle - half, middle + half, n, spread=half, correlation=None)
    judged = verdict(found, margin)
    within = abs(middle - half) < margin and abs(middle + half) < margin
    away = abs(middle) > half
    if within:
        assert judged.word == "equivalent"
    elif away:
        assert judged.word == ("better" if middle < 0 else "worse")
    else:
        assert judged.word == "inconclusive"
        assert judged.seeds > n
        assert str(judged) == f"inconclusive: needs {judged.seeds:,} seeds"


def test_seeds_that_agree_to_the_last_bit_are_equivalent_or_not_by_the_margin_alone():
    assert verdict(paired_difference([1.0, 2.0], [1.0, 2.0]), 0.02).word == "equivalent"
    assert verdict(paired_difference([1.0, 2.0], [1.5, 2.5]), 0.02).word == "better"
    assert power(2, 0.1, 0.0) == 1.0
    assert visible_difference(3, 0.0) == 0.0
