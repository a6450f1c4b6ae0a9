"""The parts of a decoder as programs of a length T, each with the matmul terms that it runs.

One idea: the layer is cut at the attention core (scores, softmax, weighted sum), which alone grows with T^2. What is
counted in a part's trace and what the clock sees are the same program.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx

from contracts.core import contract
from contracts.decoder import DecoderConfig, Hidden, Positions, Segments
from research.costs import full_pairs, query_block_pairs
from research.costs.jaxpr import FlopCount, MatmulTerm
from research.model import Attention, Decoder
from research.model.attention import causal_attention
from research.model.decoder import Block
from research.model.query_blocks import query_block

PROJECTIONS = ("queries", "keys", "values", "output")
CORE = ("scores", "weighted_sum")
FEED_FORWARD, LOGITS = "feed_forward", "logits"


@dataclass(frozen=True)
class Part:
    """A program over one row of T positions: `run(weights, *inputs)`."""

    name: str
    terms: tuple[str, ...]
    """the terms of `ForwardFlops` that it runs, and no other matmul"""
    n_layers: int
    run: Callable[..., jax.Array]
    weights: Any
    """their shapes, in the module's pytree"""
    inputs: Callable[[int], tuple[jax.ShapeDtypeStruct, ...]]
    """the shapes of its inputs at a length"""
    pairs: Callable[[int], int] = full_pairs
    """query-key pairs that it computes at a length, masked or not"""


class Scoped(nnx.Module):
    """A module whose matmuls carry a name in the trace; nothing else changes."""

    def __init__(self, name: str, inner: Callable[[jax.Array], jax.Array]) -> None:
        self.name, self.inner = name, inner

    def __call__(self, x: jax.Array) -> jax.Array:
        with jax.named_scope(self.name):
            return self.inner(x)


class DenseAttention(Attention):
    """Attention whose core computes all pairs, as the layer does wherever no kernel leaves some out."""

    @contract
    def __call__(self, x: Hidden, positions: Positions, segments: Segments | None) -> Hidden:
        return self.out(dense_core(*self.heads(x, positions)).reshape(*x.shape[:2], -1))


class ProjectionsOnly(Attention):
    """Attention without its core: all four projections and the rotation, each position on its own."""

    @contract
    def __call__(self, x: Hidden, positions: Positions, segments: Segments | None) -> Hidden:
        queries, keys, values = self.heads(x, positions)
        shared = (keys + values)[:, :, :, None, :]  # read, or the compiler would drop their projections
        grouped = queries.reshape(*shared.shape[:3], -1, self.config.head_dim) + shared
        return self.out(grouped.reshape(*x.shape[:2], -1))


def parts(config: DecoderConfig) -> list[Part]:
    """Every part that is counted and timed, smallest first; only shapes, no array is allocated.

    `core` is scores, mask, softmax and weighted sum over all pairs; `core matmuls` the same without mask and softmax,
    for the clock; `core in blocks` what the project's decoder does instead, where its rows are long; `attention` the
    mixer with its projections; `rest` a layer without its core; `decoder` all layers and the logits.
    """
    heads = (config.n_heads, config.n_kv_heads, config.n_kv_heads)
    dtype = jnp.dtype(config.compute_dtype)

    def qkv(length: int) -> tuple[jax.ShapeDtypeStruct, ...]:
        return tuple(jax.ShapeDtypeStruct((1, length, n, config.head_dim), dtype) for n in heads)

    def hidden(length: int) -> tuple[jax.ShapeDtypeStruct, ...]:
        return (jax.ShapeDtypeStruct((1, length, config.d_model), dtype),)

    def tokens(length: int) -> tuple[jax.ShapeDtypeStruct, ...]:
        return (jax.ShapeDtypeStruct((1, length), jnp.int32),)

    decoder = nnx.eval_shape(lambda: Decoder(config, rngs=nnx.Rngs(0), mixer=DenseAttention))
    rest = nnx.eval_shape(lambda: Block(config, rngs=nnx.Rngs(0), mixer=ProjectionsOnly))
    blocks: Any = decoder.blocks
    for block in (*blocks, rest):
        _name_terms(block)
    run_attention, attention_weights = _functional(blocks[0].mixer, with_positions=True)
    run_rest, rest_weights = _functional(rest, with_positions=True)
    run_decoder, decoder_weights = _functional(decoder, with_positions=False)
    everything = (*PROJECTIONS, *CORE, FEED_FORWARD, LOGITS)
    return [
        Part("core", CORE, 1, lambda _, q, k, v: dense_core(q, k, v), (), qkv),
        Part("core matmuls", CORE, 1, lambda _, q, k, v: core_matmuls(q, k, v), (), qkv),
        Part("core in blocks", CORE, 1, lambda _, q, k, v: causal_attention(q, k, v), (), qkv, pairs_in_blocks),
        Part("attention", (*PROJECTIONS, *CORE), 1, run_attention, attention_weights, hidden),
        Part("rest", (*PROJECTIONS, FEED_FORWARD), 1, run_rest, rest_weights, hidden),
        Part("decoder", everything, config.n_layers, run_decoder, decoder_weights, tokens),
    ]


def dense_core(queries: jax.Array, keys: jax.Array, values: jax.Array) -> jax.Array:
    """softmax(Q K^T / sqrt(K)) V of which every pair is computed and the later keys are masked."""
    return jax.nn.dot_product_attention(queries, keys, values, is_causal=True)


def pairs_in_blocks(length: int) -> int:
    """What `causal_attention` computes on this machine."""
    return query_block_pairs(length, query_block(length))


def core_matmuls(queries: jax.Array, keys: jax.Array, values: jax.Array) -> jax.Array:
    """(Q K^T) V as `dense_core` multiplies them, without scale, mask and softmax: what those three add."""
    rows, length, n_heads, head_dim = queries.shape
    grouped = queries.reshape(rows, length, keys.shape[2], -1, head_dim)
    scores = jnp.einsum("btghk,bsgk->bghts", grouped, keys)
    return jnp.einsum("bghts,bsgk->btghk", scores, values).reshape(rows, length, n_heads, head_dim)


def term_flops(count: FlopCount) -> dict[str, int]:
    """FLOPs of a counted part by the names that `ForwardFlops.terms` has."""
    flops: dict[str, int] = {}
    for term in count.terms:
        name = _term_name(term)
        flops[name] = flops.get(name, 0) + term.flops
    return flops


def _term_name(term: MatmulTerm) -> str:
    """The scope's name where there is one. The rest is the head, whose right side is a matrix; the scores, which
    contract the last axis (K) of queries and keys; and the weighted sum, which does not."""
    for name in (*PROJECTIONS, FEED_FORWARD):
        if name in term.scope.split("/"):
            return name
    if len(term.rhs_shape) == 2:
        return LOGITS
    left, right = term.equation.split("->")[0].split(",")
    return CORE[0] if left[-1] == right[-1] else CORE[1]


def _name_terms(block: Block) -> None:
    mixer: Any = block.mixer
    for attribute, name in zip(("query", "key", "value", "out"), PROJECTIONS, strict=True):
        setattr(mixer, attribute, Scoped(name, getattr(mixer, attribute)))
    wrapped: Any = Scoped(FEED_FORWARD, block.feed_forward)
    block.feed_forward = wrapped


def _functional(module: nnx.Module, with_positions: bool) -> tuple[Callable[..., jax.Array], Any]:
    """`run(weights, x)` and the weights of a module; a layer also gets the positions 0, 1, 2, ..."""
    graphdef, weights = nnx.split(module)

    def run(weights: Any, x: jax.Array) -> jax.Array:
        call: Any = nnx.merge(graphdef, weights)
        if not with_positions:
            return call(x)
        return call(x, jnp.arange(x.shape[1], dtype=jnp.int32)[None, :], None)

    return run, weights
