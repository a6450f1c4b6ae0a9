"""Attention in blocks of queries, against one query at a time in float64 and against the dense kernel."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.costs import causal_pairs, full_pairs, query_block_pairs
from research.model.attention import causal_attention
from research.model.query_blocks import MOST_BLOCKS, SMALLEST_BLOCK, attend_in_blocks, query_block

LENGTH = 13


def heads_of(n_heads: int, n_kv_heads: int, length: int = LENGTH) -> tuple[jax.Array, jax.Array, jax.Array]:
    random = np.random.default_rng(n_heads)
    return tuple(jnp.float32(random.normal(size=(2, length, n, 6))) for n in (n_heads, n_kv_heads, n_kv_heads))


def one_query_at_a_time(queries, keys, values, segments):
    """softmax(Q K^T / sqrt(K)) V in float64; head h reads group h // (H / G)."""
    queries, keys, values = (np.asarray(x, np.float64) for x in (queries, keys, values))
    group = queries.shape[2] // keys.shape[2]
    out = np.zeros_like(queries)
    for row, t, head in np.ndindex(*queries.shape[:3]):
        seen = [s for s in range(t + 1) if segments is None or segments[row, s] == segments[row, t]]
        weights = np.exp(keys[row, seen, head // group] @ queries[row, t, head] / np.sqrt(queries.shape[-1]))
        out[row, t, head] = weights @ values[row, seen, head // group] / weights.sum()
    return out


attend = jax.jit(attend_in_blocks, static_argnames="block")


@pytest.mark.slow
@pytest.mark.parametrize("heads", [(1, 1), (4, 4), (4, 2), (6, 1)])
@pytest.mark.parametrize("block", [1, 4, 7, LENGTH, LENGTH + 2])
@pytest.mark.parametrize("segmented", [False, True])
def test_blocks_of_any_size_are_attention(heads, block, segmented):
    queries, keys, values = heads_of(*heads)
    segments = jnp.int32(np.random.default_rng(block).integers(0, 3, (2, LENGTH))) if segmented else None
    expected = one_query_at_a_time(queries, keys, values, segments)
    np.testing.assert_allclose(attend(queries, keys, values, segments, block=block), expected, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("segmented", [False, True])
def test_gradients_through_blocks_are_those_of_the_dense_kernel(segmented):
    queries, keys, values = heads_of(4, 2)
    segments = jnp.arange(LENGTH, dtype=jnp.int32)[None].repeat(2, axis=0) // 5 if segmented else None
    same = None if segments is None else segments[:, None, :, None] == segments[:, None, None, :]

    def blocks(*heads):
        return jnp.sum(jnp.sin(attend_in_blocks(*heads, segments, 4)))

    def dense(*heads):
        return jnp.sum(jnp.sin(jax.nn.dot_product_attention(*heads, mask=same, is_causal=True)))

    for ours, theirs in zip(
        *(jax.jit(jax.grad(f, (0, 1, 2)))(queries, keys, values) for f in (blocks, dense)), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_another_document_of_a_row_leaves_no_trace_in_any_bit():
    queries, keys, values = heads_of(4, 2)
    segments = jnp.arange(LENGTH, dtype=jnp.int32)[None].repeat(2, axis=0) // 7
    other = [x.at[:, :7].add(100.0) for x in (queries, keys, values)]
    before, after = (attend(*heads, segments, block=4) for heads in ((queries, keys, values), other))
    assert np.array_equal(before[:, 7:], after[:, 7:])
    assert not np.allclose(before[:, :7], after[:, :7])


@given(length=st.integers(1, 10_000))
def test_a_row_has_at_most_eight_blocks_and_a_short_one_has_one(length):
    block = query_block(length)
    assert -(-length // block) <= MOST_BLOCKS
    assert block >= length or block >= SMALLEST_BLOCK
    assert causal_pairs(length) <= query_block_pairs(length, block) <= full_pairs(length)


@pytest.mark.slow
def test_a_long_row_of_the_decoder_is_attended_to_in_blocks():
    queries, keys, values = heads_of(2, 1, length=2 * SMALLEST_BLOCK + 3)
    matmuls = str(jax.make_jaxpr(causal_attention)(queries, keys, values)).count("dot_general")
    assert matmuls == 2 * 3
    np.testing.assert_allclose(
        causal_attention(queries, keys, values), one_query_at_a_time(queries, keys, values, None), atol=1e-5
    )


def test_a_length_that_is_only_a_name_is_one_block():
    (length,) = jax.export.symbolic_shape("T")
    assert query_block(length) is length
