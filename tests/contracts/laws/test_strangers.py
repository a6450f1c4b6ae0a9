"""Decoders in the style of other libraries come in as they are, or through a pair or one function call."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import flax.linen
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from contracts.decoder import DecoderConfig
from contracts.laws import Effort, assert_laws, from_apply, verify
from research.model import Decoder

QUICK = Effort(examples=10, seconds=60.0)
TOY = {"vocab_size": 31, "d_model": 12, "n_layers": 1, "n_heads": 2, "n_kv_heads": 1, "head_dim": 6, "d_ff": 20}


class LinenDecoder(flax.linen.Module):
    """Written as Linen's examples are."""

    isolate: bool = True

    @flax.linen.compact
    def __call__(self, tokens: jax.Array, segment_ids: jax.Array | None = None) -> jax.Array:
        embed = flax.linen.Embed(31, 12)
        x = embed(tokens)
        mask = flax.linen.make_causal_mask(tokens)
        if segment_ids is not None and self.isolate:
            same = flax.linen.make_attention_mask(segment_ids, segment_ids, jnp.equal)
            mask = flax.linen.combine_masks(mask, same)
        x = x + flax.linen.MultiHeadDotProductAttention(num_heads=2)(flax.linen.LayerNorm()(x), mask=mask)
        return embed.attend(flax.linen.LayerNorm()(x))


@jax.tree_util.register_pytree_node_class
@dataclass(frozen=True)
class EquinoxStyle:
    """A module that is a pytree, holds a function among its leaves, and takes one row without a batch axis."""

    embed: jax.Array
    filter: jax.Array
    activation: Callable[[jax.Array], jax.Array]

    def __call__(self, tokens: jax.Array) -> jax.Array:
        x = self.activation(self.embed[tokens])
        past = jnp.cumsum(x @ self.filter, axis=0) / jnp.arange(1, len(x) + 1)[:, None]
        return (x + past) @ self.embed.T

    def tree_flatten(self) -> tuple[tuple[Any, ...], None]:
        return (self.embed, self.filter, self.activation), None

    @classmethod
    def tree_unflatten(cls, _: None, leaves: tuple[Any, ...]) -> "EquinoxStyle":
        return cls(*leaves)


class Dropping(nnx.Module):
    """Forgets to switch dropout off."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.embed = nnx.Embed(31, 12, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)
        self.head = nnx.Linear(12, 31, rngs=rngs)

    def __call__(self, tokens: jax.Array) -> jax.Array:
        return self.head(self.dropout(self.embed(tokens)))


class RunningMean(nnx.Module):
    """A mixer that takes segments and forgets them."""

    def __init__(self, config: DecoderConfig, *, rngs: nnx.Rngs) -> None:
        self.out = nnx.Linear(config.d_model, config.d_model, use_bias=False, rngs=rngs)

    def __call__(self, x, positions, segments):
        return self.out(jnp.cumsum(x, axis=1) / (positions[:, :, None] + 1))


def broken_by(decoder: Any) -> list[str]:
    return [outcome.law for outcome in verify(decoder, effort=QUICK).broken]


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{}, {"scan_layers": True, "tied": True, "compute_dtype": "bfloat16"}])
def test_our_decoder_keeps_every_law(changes):
    assert_laws(Decoder(DecoderConfig(**TOY, **changes), rngs=nnx.Rngs(0)), effort=QUICK)


@pytest.mark.slow
def test_a_mixer_that_forgets_segments_breaks_isolation_alone():
    decoder = Decoder(DecoderConfig(**TOY), rngs=nnx.Rngs(0), mixer=RunningMean)
    assert broken_by(decoder) == ["segment-isolation"]


@pytest.mark.slow
def test_a_linen_module_comes_in_with_its_variables():
    model = LinenDecoder()
    variables = model.init(jax.random.key(0), jnp.zeros((1, 4), jnp.int32))
    assert_laws((model.apply, variables), effort=QUICK)


@pytest.mark.slow
def test_the_segments_of_a_linen_module_come_in_by_their_keyword():
    for model, broken in ((LinenDecoder(), []), (LinenDecoder(isolate=False), ["segment-isolation"])):
        variables = model.init(jax.random.key(0), jnp.zeros((1, 4), jnp.int32))
        assert broken_by(from_apply(model.apply, variables, segments="segment_ids")) == broken


@pytest.mark.slow
def test_a_module_that_takes_one_row_comes_in_through_vmap():
    one_row, square = jax.random.normal(jax.random.key(0), (31, 12)), jax.random.normal(jax.random.key(1), (12, 12))
    model = EquinoxStyle(one_row, square, jax.nn.gelu)
    assert_laws((lambda model, tokens: jax.vmap(model)(tokens), model), effort=QUICK)
    assert broken_by(model) == ["shape"]


@pytest.mark.slow
def test_dropout_that_is_on_is_found_although_it_compiles_to_a_function():
    assert broken_by(Dropping(nnx.Rngs(0))) == ["deterministic"]


def test_a_plain_function_of_tokens_is_enough():
    table = np.random.default_rng(0).normal(size=(31, 31)).astype(np.float32)
    assert_laws(lambda tokens: jnp.asarray(table)[tokens], effort=QUICK)
