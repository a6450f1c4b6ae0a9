import jax
import jax.numpy as jnp
import numpy as np
import pytest

from contracts.core import conforms
from contracts.decoder import Mixer
from research.model import Attention
from research.model.attention import causal_attention

SEGMENTS = np.array([[0, 0, 0, 1, 1, 1, 1], [5, 5, 2, 2, 2, 2, 9]], np.int32)

attend = jax.jit(causal_attention)


def heads_of(n_heads: int, n_kv_heads: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    random = np.random.default_rng(0)
    return tuple(jnp.float32(random.normal(size=(2, 7, n, 10))) for n in (n_heads, n_kv_heads, n_kv_heads))


def multi_head_attention(queries, keys, values, segments):
    """Vaswani et al. 2017, equation 1, in float64, one query at a time over the keys that it may see."""
    queries, keys, values = (np.asarray(x, np.float64) for x in (queries, keys, values))
    out = np.zeros_like(queries)
    for row, t in np.ndindex(*queries.shape[:2]):
        seen = [s for s in range(t + 1) if segments is None or segments[row, s] == segments[row, t]]
        scores = np.einsum("hk,shk->hs", queries[row, t], keys[row, seen]) / np.sqrt(queries.shape[-1])
        weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        out[row, t] = np.einsum("hs,shk->hk", weights, values[row, seen])
    return out


@pytest.mark.parametrize("segments", [None, SEGMENTS], ids=["one document", "segments"])
def test_as_many_groups_as_heads_is_multi_head_attention(segments):
    queries, keys, values = heads_of(6, 6)
    expected = multi_head_attention(queries, keys, values, segments)
    np.testing.assert_allclose(attend(queries, keys, values, segments), expected, atol=1e-5)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_grouped_attention_is_multi_head_attention_over_repeated_keys_and_values(groups):
    queries, keys, values = heads_of(6, groups)
    repeated_keys, repeated_values = (np.repeat(x, 6 // groups, axis=2) for x in (keys, values))
    expected = multi_head_attention(queries, repeated_keys, repeated_values, SEGMENTS)
    np.testing.assert_allclose(attend(queries, keys, values, SEGMENTS), expected, atol=1e-5)


def test_attention_is_a_mixer():
    assert conforms(Attention, Mixer) is Attention


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_heads_give_heads_of_their_own_dtype(dtype):
    queries, keys, values = (x.astype(dtype) for x in heads_of(6, 3))
    mixed = attend(queries, keys, values, SEGMENTS)
    repeated_keys, repeated_values = (np.repeat(x, 2, axis=2) for x in (keys, values))
    assert mixed.dtype == dtype
    expected = multi_head_attention(queries, repeated_keys, repeated_values, SEGMENTS)
    np.testing.assert_allclose(mixed.astype(jnp.float32), expected, atol=0.03)


def test_queries_and_keys_are_turned_and_values_are_not(make):
    heads = jax.jit(make().blocks[0].mixer.heads)
    x = jnp.float32(np.random.default_rng(1).normal(size=(2, 7, 42)))
    here, there = (heads(x, jnp.full((2, 7), position, jnp.int32)) for position in (0, 1))
    assert [bool(np.array_equal(a, b)) for a, b in zip(here, there, strict=True)] == [False, False, True]


def test_the_rotary_base_comes_from_the_config(make):
    x = jnp.float32(np.random.default_rng(1).normal(size=(2, 7, 42)))
    positions = jnp.ones((2, 7), jnp.int32)
    low, high = (jax.jit(make(rope_theta=theta).blocks[0].mixer.heads)(x, positions)[0] for theta in (10.0, 1e6))
    assert not np.allclose(low, high)
