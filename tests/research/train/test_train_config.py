"""A config refuses what conflicts, all at once, and is the same after a way through JSON."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tiny_run import CONFIG, tiny

from contracts.errors import InputError
from research.train import PRESETS, OptimizerConfig, preset
from research.train.config import parse_config
from research.train.optimizer import learning_rate


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"batch_size": 0}, "batch_size = 0 is not an integer of at least 1"),
        ({"steps": True}, "steps = True is not an integer of at least 1"),
        ({"seed": -1}, "seed = -1 is not an integer of at least 0"),
        ({"seed": 1 << 32}, "is not below 2**32"),
        ({"accumulate": 4}, "batch_size = 6 can't be computed in accumulate = 4 parts"),
        ({"length": 17}, "length = 17 is more than the decoder's context_length 16"),
        ({"checkpoint_interval": 5}, "checkpoint_interval = 5 is not a multiple of steps_per_dispatch = 2"),
        ({"evaluation_interval": 3}, "evaluation_interval = 3 is not a multiple of steps_per_dispatch = 2"),
        ({"steps": 3}, "steps = 3 is not more than the optimizer's warmup_steps = 3"),
    ],
)
def test_a_run_of_conflicting_values_is_refused_with_value_and_rule(changes, rule):
    with pytest.raises(InputError) as caught:
        tiny(**changes)
    assert rule in str(caught.value)


def test_all_conflicts_are_told_at_once():
    with pytest.raises(InputError) as caught:
        tiny(accumulate=4, length=17, steps=2)
    assert all(word in str(caught.value) for word in ("accumulate = 4", "length = 17", "steps = 2"))


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("peak_learning_rate", 0, "a number above 0"),
        ("peak_learning_rate", float("nan"), "a number above 0"),
        ("warmup_steps", 1.5, "an integer of at least 0"),
        ("schedule", "linear", "one of cosine, wsd"),
        ("decay_share", 1.1, "a number at least 0 and at most 1"),
        ("final_share", -0.1, "a number at least 0 and at most 1"),
        ("beta2", 1, "a number at least 0 and below 1"),
        ("eps", 0, "a number above 0"),
        ("weight_decay", "much", "a number at least 0"),
        ("clip_norm", float("inf"), "a number above 0"),
    ],
)
def test_an_optimizer_of_bad_values_is_refused(name, value, rule):
    with pytest.raises(InputError) as caught:
        OptimizerConfig(**{name: value})
    assert f"{name} = {value!r} is not {rule}" in str(caught.value)


def test_a_decay_that_meets_the_warm_up_is_refused():
    optimizer = OptimizerConfig(schedule="wsd", warmup_steps=8, decay_share=0.5)
    with pytest.raises(InputError, match="8 of warm-up and 6 of decay"):
        tiny(optimizer=optimizer)


def test_a_config_is_the_same_after_a_way_through_json():
    assert parse_config(json.loads(json.dumps(CONFIG.to_json())), "here") == CONFIG


def test_a_config_with_a_field_too_many_or_too_few_is_refused():
    stored = CONFIG.to_json()
    for broken in (stored | {"more": 1}, {name: stored[name] for name in stored if name != "policy"}):
        with pytest.raises(InputError, match="training config: expected the fields of one"):
            parse_config(broken, "here")


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_a_config_for_every_vocabulary(name):
    for vocab_size in (257, 4097, 50_257):
        assert preset(name, vocab_size).decoder.vocab_size == vocab_size
    assert preset(name, 257, seed=7).seed == 7


def test_an_unknown_preset_is_refused_with_those_that_there_are():
    with pytest.raises(InputError, match="one of seconds, minutes, hours"):
        preset("weeks", 257)


def test_dispatches_end_at_multiples_and_at_the_last_step_wherever_they_begin():
    config = tiny(steps=7)
    assert [config.next_stop(step) for step in range(7)] == [2, 2, 4, 4, 6, 6, 7]


def test_the_learning_rate_rises_in_a_line_and_falls_in_half_a_cosine():
    config = tiny(steps=23)
    rate = learning_rate(config)
    found = np.array([float(rate(step)) for step in range(24)])
    warm_up = 0.01 * np.arange(1, 4) / 4
    fall = 0.01 * (0.1 + 0.9 * (1 + np.cos(np.pi * np.arange(21) / 20)) / 2)
    np.testing.assert_allclose(found, [*warm_up, *fall], rtol=1e-5)


def test_the_learning_rate_of_wsd_stays_at_its_peak_and_falls_in_a_line():
    optimizer = OptimizerConfig(peak_learning_rate=0.01, warmup_steps=0, schedule="wsd", decay_share=0.25)
    rate = learning_rate(tiny(steps=20, optimizer=replace(optimizer, final_share=0.0)))
    found = np.array([float(rate(step)) for step in range(21)])
    np.testing.assert_allclose(found, [0.01] * 15 + list(0.01 * (1 - np.arange(6) / 5)), atol=1e-9)
