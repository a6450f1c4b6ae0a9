"""With and without a cache the texts are equal; the judgement is the rule's. No test is timed."""

import numpy as np
import pytest

from contracts.errors import InputError
from experiments.speed.generation import measure
from experiments.speed.generation.measure import Measured
from experiments.speed.generation.question import GenerationSpeed


@pytest.mark.slow
def test_a_small_run_writes_equal_texts_and_a_line_for_each_number_of_rows():
    finding = measure(GenerationSpeed(tokens=9, rows=(1, 2), rounds=2, d_model=32, n_layers=1))
    assert [row[0] for row in finding.tables[0].rows] == ["1", "2"]
    assert len({(row.quantity, *row.factors.items()) for row in finding.rows}) == len(finding.rows) == 6


@pytest.mark.parametrize(
    ("whole", "judgement"), [([20.0, 10.0], "met"), ([30.0, 40.0], "missed"), ([10.0, 30.0], "undecided")]
)
def test_the_aim_is_judged_by_the_whole_range(whole: list[float], judgement: str):
    assert Measured(1, np.array([100.0, 100.0]), np.array(whole)).judgement == judgement


@pytest.mark.parametrize("wrong", [{"tokens": 1}, {"rounds": 1}, {"rows": ()}, {"rows": (0,)}, {"d_model": 40}])
def test_what_does_not_fit_is_refused_by_the_name_of_its_option(wrong: dict[str, object]):
    (option,) = wrong
    with pytest.raises(InputError, match="--" + option.replace("_", "-")):
        GenerationSpeed(**wrong)
