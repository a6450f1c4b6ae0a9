"""Intervals, power and verdicts against scipy, published sample sizes and simulated experiments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from contracts.errors import ShapeError
from experiments.ablation.statistics import (
    MOST_SEEDS,
    Difference,
    Needed,
    equivalence_power,
    paired_difference,
    power,
    seeds_needed,
    seeds_to_decide,
    seeds_to_equivalence,
    signed,
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


@pytest.mark.slow
@pytest.mark.parametrize(("n", "spread", "margin"), [(3, 0.02, 0.05), (6, 0.3, 0.4), (26, 0.03, 0.02)])
def test_equivalence_is_found_as_often_as_in_simulated_experiments_without_a_difference(n, spread, margin):
    draws = np.random.default_rng(n).normal(0, spread, size=(20_000, n))
    found = [verdict(paired_difference(each, np.zeros(n)), margin).word == "equivalent" for each in draws[:100]]
    half = stats.t.ppf(0.975, n - 1) * draws.std(axis=1, ddof=1) / n**0.5
    within = np.abs(draws.mean(axis=1)) + half < margin
    assert np.array_equal(found, within[:100])
    assert equivalence_power(n, margin, spread) == pytest.approx(within.mean(), abs=0.012)


def test_equivalence_takes_more_seeds_than_a_difference_of_the_margin():
    """In the limit (1.96 + 1.28)^2 / (1.96 + 0.84)^2 times as many; a spread of 0.03 and a margin of 0.02 take 26."""
    assert (seeds_needed(0.02, 0.03), seeds_to_equivalence(0.02, 0.03)) == (20, 26)
    assert seeds_to_equivalence(0.02, 1) / seeds_needed(0.02, 1) == pytest.approx((3.2415 / 2.8016) ** 2, rel=1e-3)


def test_how_rough_the_needed_seeds_are_is_said_from_the_chi_square_interval_of_the_spread():
    needed = seeds_to_decide(0.02, 0.03, 3)
    bounds = [0.03 * (2 / stats.chi2.ppf(share, 2)) ** 0.5 for share in (0.975, 0.025)]
    assert [needed.low, needed.seeds, needed.high] == [
        seeds_to_equivalence(0.02, s) for s in (bounds[0], 0.03, bounds[1])
    ]
    assert str(needed) == f"about 26 seeds ({needed.low} to {needed.high:,} for the spread that 3 seeds allow)"
    covered = np.random.default_rng(0).normal(0, 0.03, (5000, 3)).std(axis=1, ddof=1)
    ratios = np.array(bounds) / 0.03
    assert np.mean((covered * ratios[0] < 0.03) & (covered * ratios[1] > 0.03)) == pytest.approx(0.95, abs=0.01)


def test_beyond_the_search_no_number_is_made_up():
    assert seeds_needed(1e-5, 1.0) == seeds_to_equivalence(1e-5, 1.0) == MOST_SEEDS + 1
    assert str(Needed(MOST_SEEDS + 1, 7, MOST_SEEDS + 1, 3)) == (
        "more than 100,000 seeds (7 to more than 100,000 for the spread that 3 seeds allow)"
    )


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.2134, "+0.213"),
        (-0.16, "-0.160"),
        (-0.0000412, "-0.00004"),
        (0.00096, "+0.001"),
        (-1e-17, "0.000"),
        (0, "0.000"),
    ],
)
def test_a_bound_that_three_digits_would_call_zero_can_be_read(value, written):
    assert signed(value) == written


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
        assert n < judged.needed.low <= judged.needed.seeds <= judged.needed.high
        assert str(judged) == f"inconclusive: needs {judged.needed}"
        assert str(judged).startswith(f"{judged.brief} (")


def test_seeds_that_agree_to_the_last_bit_are_equivalent_or_not_by_the_margin_alone():
    assert verdict(paired_difference([1.0, 2.0], [1.0, 2.0]), 0.02).word == "equivalent"
    assert verdict(paired_difference([1.0, 2.0], [1.5, 2.5]), 0.02).word == "better"
    assert power(2, 0.1, 0.0) == 1.0
    assert visible_difference(3, 0.0) == 0.0
