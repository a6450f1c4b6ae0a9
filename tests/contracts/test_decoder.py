import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.decoder import DTYPES, DecoderConfig
from contracts.errors import InputError

SIZES = ["vocab_size", "d_model", "n_layers", "n_heads", "n_kv_heads", "head_dim", "d_ff", "context_length"]


@given(
    st.integers(1, 10**6),
    st.integers(1, 10**5),
    st.integers(1, 64),
    st.integers(1, 16),
    st.integers(1, 256),
    st.sampled_from(DTYPES),
)
def test_every_consistent_shape_is_accepted(vocab_size, d_model, groups, heads_per_group, half_head, dtype):
    config = DecoderConfig(
        vocab_size=vocab_size,
        d_model=d_model,
        n_heads=groups * heads_per_group,
        n_kv_heads=groups,
        head_dim=2 * half_head,
        param_dtype=dtype,
        compute_dtype=dtype,
    )
    assert config.problems() == []


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("value", [0, -4, 4.0, "4", True, None])
def test_a_size_is_a_positive_integer(name, value):
    with pytest.raises(InputError) as error:
        DecoderConfig(**{name: value})
    assert f"{name} = {value!r} is not a positive integer" in str(error.value)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"head_dim": 63}, "head_dim = 63 is odd"),
        ({"n_heads": 6, "n_kv_heads": 4}, "n_heads = 6 is not a multiple of n_kv_heads = 4"),
        ({"n_heads": 2, "n_kv_heads": 4}, "n_heads = 2 is not a multiple of n_kv_heads = 4"),
        ({"rope_theta": 0.0}, "rope_theta = 0.0 is not a positive number"),
        ({"rope_theta": float("inf")}, "rope_theta = inf is not a positive number"),
        ({"rope_theta": "x"}, "rope_theta = 'x' is not a positive number"),
        ({"tied": "yes"}, "tied = 'yes' is not True or False"),
        ({"rope_theta": float("nan")}, "rope_theta = nan is not a positive number"),
        ({"param_dtype": "float64"}, "param_dtype = 'float64' is not one of float32, bfloat16, float16"),
        ({"compute_dtype": "int8"}, "compute_dtype = 'int8' is not one of float32, bfloat16, float16"),
    ],
)
def test_a_rule_broken_is_named_with_its_values(changes: dict[str, Any], rule):
    with pytest.raises(InputError) as error:
        DecoderConfig(**changes)
    assert rule in str(error.value)


def test_all_broken_rules_are_reported_at_once():
    with pytest.raises(InputError) as error:
        DecoderConfig(head_dim=63, n_heads=6, n_kv_heads=4, rope_theta=-1.0, compute_dtype="int8")  # type: ignore[arg-type]
    for name in ("head_dim", "n_heads", "rope_theta", "compute_dtype"):
        assert f"{name} = " in str(error.value)


def test_a_config_is_a_value():
    config = DecoderConfig(d_model=42)
    assert config == DecoderConfig(d_model=42)
    assert hash(config) == hash(DecoderConfig(d_model=42))
    assert dataclasses.replace(config, d_model=43) != config
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.d_model = 43  # type: ignore[misc]


def test_replacing_a_field_checks_the_rules_again():
    with pytest.raises(InputError, match="n_kv_heads = 3"):
        dataclasses.replace(DecoderConfig(), n_kv_heads=3)
