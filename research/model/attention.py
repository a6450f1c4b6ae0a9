"""Causal grouped-query attention with rotary positions: the mixer that a decoder has unless given another.

No caller builds a mask: it is made here from segment ids, so a position can never see the future or another document.
"""

import jax
import jax.numpy as jnp
from flax import nnx

from contracts.core import contract
from contracts.decoder import DecoderConfig, Hidden, KeysValues, Positions, Queries, Segments
from research.model.layers import linear, residual_stddev
from research.model.query_blocks import attend_in_blocks, query_block
from research.model.rotary import rotate


class Attention(nnx.Module):
    """A `Mixer`: query D x (H K), key and value D x (G K), out (H K) x D, without biases.

    Query head h reads key-value head h // (H / G) (Ainslie et al. 2023, arXiv 2305.13245); G = H is multi-head
    attention, G = 1 multi-query attention.
    """

    def __init__(self, config: DecoderConfig, *, rngs: nnx.Rngs) -> None:
        query_width, kv_width = config.n_heads * config.head_dim, config.n_kv_heads * config.head_dim
        self.config = config
        self.query = linear(config, config.d_model, query_width, rngs=rngs)
        self.key = linear(config, config.d_model, kv_width, rngs=rngs)
        self.value = linear(config, config.d_model, kv_width, rngs=rngs)
        self.out = linear(config, query_width, config.d_model, rngs=rngs, stddev=residual_stddev(config, query_width))

    @contract
    def __call__(self, x: Hidden, positions: Positions, segments: Segments | None) -> Hidden:
        queries, keys, values = self.heads(x, positions)
        mixed = causal_attention(queries, keys, values, segments)
        return self.out(mixed.reshape(*x.shape[:2], -1))

    @contract
    def heads(self, x: Hidden, positions: Positions) -> tuple[Queries, KeysValues, KeysValues]:
        """Queries, keys and values of every position; queries and keys are turned by their positions."""
        rows, length, _ = x.shape
        queries = self.query(x).reshape(rows, length, self.config.n_heads, self.config.head_dim)
        keys = self.key(x).reshape(rows, length, self.config.n_kv_heads, self.config.head_dim)
        values = self.value(x).reshape(rows, length, self.config.n_kv_heads, self.config.head_dim)
        theta = self.config.rope_theta
        return rotate(queries, positions, theta), rotate(keys, positions, theta), values


@contract
def causal_attention(
    queries: Queries, keys: KeysValues, values: KeysValues, segments: Segments | None = None
) -> Queries:
    """softmax(Q K^T / sqrt(K)) V over the positions up to a query's own, and of its own segment if given.

    The softmax is float32. Without segments nothing but `is_causal` is asked for, which a fused kernel can answer
    without a mask in memory; a longer row on a CPU is computed in blocks. This is the one place to put a faster
    algorithm.
    """
    dtype = queries.dtype
    if dtype == jnp.float16:  # the kernel asks for float16 products summed in float32, which a CPU does not have
        queries, keys, values = (x.astype(jnp.float32) for x in (queries, keys, values))
    block = query_block(queries.shape[1])
    if block < queries.shape[1]:
        return attend_in_blocks(queries, keys, values, segments, block).astype(dtype)
    same_segment = None if segments is None else segments[:, None, :, None] == segments[:, None, None, :]
    return jax.nn.dot_product_attention(queries, keys, values, mask=same_segment, is_causal=True).astype(dtype)
