"""Stored curves: kept whole, read between their points and never beyond."""

import dataclasses
import json
import math

import pytest

from contracts.errors import InputError
from experiments.ablation.outcome import Outcome, Score


def score(step, text, nats, size, **changes):
    fields = {
        "step": step,
        "text_bytes": 100 * step,
        "flops": 7 * step,
        "context": "own",
        "text": text,
        "nats_text": nats,
        "nats_protocol": (0.5,) * len(nats),
        "bytes": size,
        "position_nats": (1.0, 2.0),
        "position_tokens": (1, 1),
    }
    return Score(**{**fields, **changes})


OUTCOME = Outcome(
    loss=(3.0, 2.5),
    text_bytes=(100, 200),
    step_flops=7,
    parameters=11,
    scores=(
        score(1, "en", (30.0, 10.0), 20),
        score(1, "ko", (50.0,), 10),
        score(4, "en", (20.0, 5.0), 20),
        score(4, "ko", (40.0,), 10),
    ),
    leakage={"cross": {"logits": 1.5}},
    seconds=0.1,
)


def test_an_outcome_comes_back_from_json_as_it_was():
    assert Outcome.from_json(json.loads(json.dumps(OUTCOME.to_json()))) == OUTCOME


def test_bits_a_byte_of_several_texts_are_a_sum_over_a_sum():
    value = OUTCOME.at("text_bytes", 100, "own", ["en", "ko"])
    assert value == pytest.approx((30 + 10 + 0.5 + 0.5 + 50 + 0.5) / 30 / math.log(2))
    assert OUTCOME.at("text_bytes", 100, "own", ["en"], protocol=False) == pytest.approx(2 / math.log(2))


def test_between_its_points_a_curve_is_a_line_in_the_logarithm():
    for axis, middle in (("text_bytes", 200), ("flops", 14)):
        ends = [OUTCOME.at(axis, x, "own", ["en"]) for x in (middle / 2, middle * 2)]
        assert OUTCOME.at(axis, middle, "own", ["en"]) == pytest.approx(sum(ends) / 2)


def test_nats_at_a_position_are_read_at_the_same_place_of_the_curve():
    later = [dataclasses.replace(one, position_nats=(1.0, 4.0)) for one in OUTCOME.scores[2:]]
    outcome = dataclasses.replace(OUTCOME, scores=(*OUTCOME.scores[:2], *later))
    assert outcome.at_position("text_bytes", 200, "own", ["en", "ko"], 1) == pytest.approx(3.0)
    assert outcome.at_position("text_bytes", 400, "own", ["en"], 1) == pytest.approx(4.0)


@pytest.mark.parametrize("spent", [99, 401])
def test_a_curve_is_never_drawn_on(spent):
    with pytest.raises(InputError, match="where the curve was measured"):
        OUTCOME.at("text_bytes", spent, "own", ["en"])


def test_a_text_or_context_that_was_not_scored_is_named():
    with pytest.raises(InputError, match="scored in the context alone"):
        OUTCOME.at("flops", 7, "alone", ["en"])
    with pytest.raises(InputError, match="got de"):
        OUTCOME.last("own", "de")
