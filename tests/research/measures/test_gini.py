"""The Gini coefficient against its definition, its limits, and an interval that holds it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ShapeError
from research.measures import gini, paired_gini


def of(*costs):
    (value,) = gini(np.array([costs], np.float64))
    return float(value)


COSTS = st.lists(st.integers(0, 10_000), min_size=2, max_size=30).filter(any).map(lambda x: np.array(x, np.float64))


@given(COSTS)
def test_it_is_the_mean_difference_over_twice_the_mean(costs):
    differences = np.abs(costs[:, None] - costs[None, :]).mean()
    assert of(*costs) == pytest.approx(differences / (2 * costs.mean()))


def test_equal_costs_have_none_and_one_payer_nearly_all():
    assert of(7, 7, 7, 7, 7) == 0
    assert of(0, 0, 0, 9) == pytest.approx(3 / 4)


def test_each_row_of_many_is_the_coefficient_of_its_own():
    rows = np.array([[1.0, 2, 3], [4, 4, 4], [0, 0, 1]])
    assert gini(rows).tolist() == [of(*row) for row in rows]


def test_the_interval_holds_the_coefficient_of_the_totals_and_is_the_same_for_the_same_seed():
    costs = np.random.default_rng(1).poisson([[20], [25], [60]], (3, 200)).astype(np.int64)
    found = paired_gini(costs, resamples=400, seed=3)
    assert found.value == of(*costs.sum(axis=1))
    assert found.low < found.value < found.high
    assert found == paired_gini(costs, resamples=400, seed=3)


def test_languages_in_fixed_proportion_leave_nothing_to_chance():
    sentence = np.random.default_rng(2).integers(1, 50, 100)
    found = paired_gini(np.stack([sentence, 3 * sentence]), resamples=100)
    assert found.low == pytest.approx(0.25)
    assert found.high == pytest.approx(0.25)


def test_a_single_language_or_unit_is_refused():
    for shape in ((1, 5), (3, 1)):
        with pytest.raises(ShapeError, match="at least 2 languages and 2 units"):
            paired_gini(np.ones(shape, np.int64))
