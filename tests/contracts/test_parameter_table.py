"""The table of parameters against the real decoder, both ways, and against planted faults."""

import dataclasses
from types import SimpleNamespace

import pytest
from flax import nnx
from hypothesis import given
from hypothesis import strategies as st

from contracts.decoder import DecoderConfig
from contracts.parameters import axis_size, expected_parameters, parameter_count, parameter_differences
from research.costs import decoder_parameters
from research.model import Decoder

#: No two sizes are equal, so that no axis can stand for another.
DISTINCT = DecoderConfig(
    vocab_size=257, d_model=44, n_layers=3, n_heads=6, n_kv_heads=2, head_dim=10, d_ff=52, param_dtype="bfloat16"
)


def paths(config):
    """Path to abstract parameter of the real decoder."""
    state = nnx.state(nnx.eval_shape(lambda: Decoder(config, rngs=nnx.Rngs(0))))
    return {".".join(map(str, path)): leaf for path, leaf in nnx.to_flat_state(state)}


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("scan_layers", [True, False])
def test_the_table_is_what_the_decoder_has(tied, scan_layers):
    config = dataclasses.replace(DISTINCT, tied=tied, scan_layers=scan_layers)
    assert parameter_differences(config, paths(config)) == []
    assert sorted(expected_parameters(config)) == sorted(paths(config))


@given(st.integers(1, 1000), st.integers(1, 99), st.integers(1, 9), st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_the_table_counts_what_the_formula_counts(vocab_size, d_model, n_layers, groups, per_group, tied):
    config = DecoderConfig(
        vocab_size=vocab_size,
        d_model=d_model,
        n_layers=n_layers,
        n_heads=groups * per_group,
        n_kv_heads=groups,
        head_dim=6,
        d_ff=d_model + 1,
        tied=tied,
    )
    assert parameter_count(config) == decoder_parameters(config).total
    scanned = dataclasses.replace(config, scan_layers=True)
    assert parameter_count(scanned) == parameter_count(config)


def array(*shape, dtype="bfloat16"):
    return SimpleNamespace(shape=shape, dtype=dtype)


def test_a_wrong_path_is_missing_and_unexpected():
    found = paths(DISTINCT)
    found["blocks.1.mixer.q.kernel"] = found.pop("blocks.1.mixer.query.kernel")
    assert parameter_differences(DISTINCT, found) == [
        "blocks.*.mixer.q.kernel: unexpected bfloat16[44,60], in layer 1",
        "blocks.*.mixer.query.kernel: missing bfloat16[44,60] = D H*K, in layer 1",
    ]


def test_a_shape_off_by_one_a_transposed_one_and_another_dtype_are_all_reported_at_once():
    found = {**paths(DISTINCT), "norm.scale": array(45), "head.kernel": array(257, 44, dtype="float32")}
    assert parameter_differences(DISTINCT, found) == [
        "head.kernel: [257,44], not [44,257] = D V",
        "head.kernel: float32, not bfloat16 (config.param_dtype)",
        "norm.scale: [45], not [44] = D",
    ]


def test_twelve_layers_do_not_pass_for_sixteen_and_each_array_is_one_line():
    twelve, sixteen = (dataclasses.replace(DISTINCT, n_layers=count) for count in (12, 16))
    missing = parameter_differences(sixteen, expected_parameters(twelve))
    assert len(missing) == 9
    assert "blocks.*.mixer.query.kernel: missing bfloat16[44,60] = D H*K, in layers 12-15" in missing
    assert all("unexpected" in line for line in parameter_differences(twelve, expected_parameters(sixteen)))


def test_scanned_and_listed_layers_are_different_checkpoints():
    scanned = dataclasses.replace(DISTINCT, scan_layers=True)
    assert "blocks.mixer.key.kernel: missing bfloat16[3,44,20] = L D G*K" in parameter_differences(
        scanned, expected_parameters(DISTINCT)
    )


def test_a_head_is_unexpected_exactly_where_the_embedding_is_the_head():
    tied = dataclasses.replace(DISTINCT, tied=True)
    assert parameter_differences(tied, paths(DISTINCT)) == ["head.kernel: unexpected bfloat16[44,257]"]


def test_layers_that_are_not_neighbours_are_named_one_by_one():
    five = dataclasses.replace(DISTINCT, n_layers=6)
    found = dict(expected_parameters(five))
    for layer in (0, 1, 3, 5):
        del found[f"blocks.{layer}.mixer_norm.scale"]
    assert parameter_differences(five, found) == [
        "blocks.*.mixer_norm.scale: missing bfloat16[44] = D, in layers 0-1, 3, 5"
    ]


@pytest.mark.parametrize(("axis", "size"), [("D", 44), ("H*K", 60), ("2*F", 104), ("7", 7)])
def test_an_axis_is_a_product_of_dims_and_numbers(axis, size):
    assert axis_size(axis, {"D": 44, "H": 6, "K": 10, "F": 52}) == size
