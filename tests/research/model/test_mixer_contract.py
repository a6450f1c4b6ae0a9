"""Somebody else's mixer in the decoder: what fits runs, what does not is refused where it stands."""

import functools
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from contracts.errors import ShapeError
from research.model import Attention, Decoder


class Mean(nnx.Module):
    """A mixer by somebody who never heard of contracts: each position gets the mean of those up to its own."""

    def __init__(self, config, *, rngs, scale=1.0):
        self.scale = scale

    def __call__(self, x, positions, segments):
        return self.scale * jnp.cumsum(x, axis=1) / jnp.arange(1, x.shape[1] + 1)[None, :, None]


class Dropping(Mean):
    def __call__(self, x, positions, segments):
        return x[:, 1:]


class Widening(Mean):
    def __call__(self, x, positions, segments):
        return jnp.concatenate([x, x], axis=-1)


class TakingAMask(Mean):
    def __call__(self, x, mask):  # type: ignore[override]
        return x


class Upcasting(Mean):
    def __call__(self, x, positions, segments):
        return x.astype(jnp.float32)


@pytest.fixture
def build(toy):
    """`build(mixer, scan_layers=True)`: a toy decoder around this mixer."""
    return lambda mixer, **changes: Decoder(replace(toy, **changes), rngs=nnx.Rngs(0), mixer=mixer)


def attention_then(mixer):
    """A factory: attention in the first layer, `mixer` in the second."""
    layers = iter([Attention, mixer])
    return lambda config, *, rngs: next(layers)(config, rngs=rngs)


def test_a_mixer_needs_nothing_of_ours_and_may_be_made_by_any_function(build, forward, tokens):
    whole, halved = build(Mean), build(functools.partial(Mean, scale=0.5))
    assert forward(whole, tokens).shape == (5, 7, 53)
    assert not np.allclose(forward(whole, tokens), forward(halved, tokens))


@pytest.mark.needs_contracts
@pytest.mark.parametrize(
    ("mixer", "because"),
    [(Dropping, "T is 7 (x axis 1), but axis 1 here is 6"), (Widening, "but axis 2 here is 84")],
)
@pytest.mark.parametrize("transform", [jax.jit, nnx.jit])
def test_a_mixer_of_the_wrong_shape_is_refused_with_its_place(build, tokens, mixer, because, transform):
    decoder = build(attention_then(mixer))
    with pytest.raises(ShapeError) as error:
        transform(lambda decoder, tokens: decoder(tokens))(decoder, tokens)
    assert error.value.path == "Decoder > .blocks[1] > .mixer"
    assert error.value.argument == "the return value"
    assert because in str(error.value)


@pytest.mark.needs_contracts
@pytest.mark.parametrize("changes", [{"scan_layers": True}, {"remat": True}], ids=["scan", "remat"])
def test_a_mixer_of_the_wrong_shape_is_refused_inside_scan_and_remat(build, tokens, changes):
    with pytest.raises(ShapeError, match="axis 1 here is 6") as error:
        jax.eval_shape(build(Dropping, **changes), tokens)
    assert error.value.path.endswith("> .mixer")


@pytest.mark.needs_contracts
def test_a_mixer_with_other_parameters_is_refused_before_it_is_called(build):
    with pytest.raises(ShapeError, match="TakingAMask does not conform to Mixer") as error:
        build(TakingAMask)
    assert "__call__(self, x, mask)" in str(error.value)


@pytest.mark.parametrize("scan_layers", [False, True], ids=["loop", "scan"])
def test_a_mixer_that_answers_in_float32_leaves_the_residual_stream_in_the_compute_dtype(build, tokens, scan_layers):
    decoder = build(Upcasting, compute_dtype="bfloat16", scan_layers=scan_layers)
    assert jax.eval_shape(decoder.hidden, tokens).dtype == jnp.bfloat16
    assert "f32[5,7,110]" not in str(jax.make_jaxpr(decoder)(tokens))


@pytest.mark.needs_contracts
@pytest.mark.parametrize(
    ("wrong", "got"),
    [
        (lambda tokens: tokens.astype(np.float32), "float32[5,7]"),
        (lambda tokens: tokens.astype(np.uint32), "uint32[5,7]"),
        (lambda tokens: tokens[0], "int32[7]"),
    ],
    ids=["float32", "uint32", "a row on its own"],
)
def test_tokens_are_rows_of_int32(make, tokens, wrong, got):
    with pytest.raises(ShapeError) as error:
        jax.eval_shape(make(), wrong(tokens))
    assert (error.value.path, error.value.argument) == ("Decoder", "argument 'tokens'")
    assert got in str(error.value)


@pytest.mark.needs_contracts
@pytest.mark.parametrize("name", ["segments", "positions"])
def test_segments_and_positions_are_as_long_as_the_tokens(make, tokens, name):
    with pytest.raises(ShapeError, match="T is 7") as error:
        jax.eval_shape(make(), tokens, **{name: tokens[:, 1:]})
    assert error.value.argument == f"argument '{name}'"


def test_a_row_fills_the_context_and_no_more(make):
    row = jax.ShapeDtypeStruct((1, 16), jnp.int32)
    assert jax.eval_shape(make(), row).shape == (1, 16, 53)
    with pytest.raises(ShapeError, match=r"at most 16 positions a row \(config.context_length\)") as error:
        jax.eval_shape(make(), row.update(shape=(1, 17)))
    assert error.value.argument == "argument 'tokens'"


def test_symbolic_rows_up_to_the_context_are_proved_at_once(make):
    rows, length = jax.export.symbolic_shape("B, T", constraints=["T <= 16"])
    tokens = jax.ShapeDtypeStruct((rows, length), jnp.int32)
    assert jax.eval_shape(make(), tokens, segments=tokens).shape == (rows, length, 53)
