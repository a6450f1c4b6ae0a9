"""Arms from factors: every combination, each level's fields, and what contradicts itself."""

from dataclasses import dataclass

import pytest

from contracts.errors import InputError
from experiments.ablation import Ablation, Factor


@dataclass(frozen=True)
class Base:
    width: int = 1
    boundary: str = "shared"
    length: int = 8


WIDTH = Factor("width", {"narrow": {}, "wide": {"width": 4, "length": 2}})
BOUNDARY = Factor("boundary", {"shared": {"boundary": "shared"}, "separate": {"boundary": "separate"}})


def test_all_combinations_are_run_unless_some_are_named():
    ablation = Ablation(Base(), (WIDTH, BOUNDARY), (0, 1))
    assert ablation.arms == (("narrow", "shared"), ("narrow", "separate"), ("wide", "shared"), ("wide", "separate"))
    assert Ablation(Base(), (WIDTH, BOUNDARY), (0, 1), (("wide", "shared"),)).arms == (("wide", "shared"),)


def test_an_arm_sets_the_fields_of_its_levels_and_no_others():
    ablation = Ablation(Base(), (WIDTH, BOUNDARY), (0, 1))
    assert ablation.settings(("wide", "separate")) == Base(width=4, length=2, boundary="separate")
    assert ablation.settings(("narrow", "shared")) == Base()
    assert ablation.levels(("wide", "separate")) == {"width": "wide", "boundary": "separate"}


@pytest.mark.parametrize(
    ("factors", "seeds", "arms", "problem"),
    [
        ((WIDTH,), (0,), (), "at least two, all different"),
        ((WIDTH,), (1, 1), (), "at least two, all different"),
        ((Factor("depth", {"deep": {"layers": 3}}),), (0, 1), (), "fields of Base, got layers"),
        ((WIDTH, Factor("rows", {"long": {"length": 9}})), (0, 1), (), "length set by width and by rows"),
        ((WIDTH,), (0, 1), (("broad",),), "one of narrow, wide, got broad"),
        ((WIDTH, BOUNDARY), (0, 1), (("wide",),), "a level of each of 2 factors"),
    ],
)
def test_what_contradicts_itself_is_refused_before_anything_runs(factors, seeds, arms, problem):
    with pytest.raises(InputError, match=problem):
        Ablation(Base(), factors, seeds, arms)


def test_a_factor_has_a_level():
    with pytest.raises(InputError, match="factor empty"):
        Factor("empty", {})
