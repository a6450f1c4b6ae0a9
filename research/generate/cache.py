"""The key-value cache: what attention needs to know of earlier positions, so that a new token costs one position.

Rows of different lengths end in the same slot: a shorter one has padding before it, which is never looked at. So all
rows are written by one update in one place, and positions are counted from where a row begins.
"""

from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from contracts.core import contract
from contracts.decoder import Hidden, KeysValues, LanguageModel, Positions, Queries, Tokens
from contracts.dims import Dim
from contracts.generation import Count, NextLogits, NextTokens, Pads
from research.model import Attention, Decoder
from research.model.decoder import Block

S = Dim("S", "slots of a cache: the most positions that it holds, padding included")

Slots = Float[Array, "B G S K"]
Seen = Bool[Array, "B T S"]


class LayerCache(NamedTuple):
    """What one layer keeps: B x G x S x K, so that a head's slots stand side by side (on a CPU 12 times as fast at 16
    rows as B x S x G x K). Under `scan_layers` both arrays have a leading axis of layers."""

    keys: Any
    values: Any


class KeyValueCache(NamedTuple):
    """The caches of all layers, a plain pytree: a list, or one stacked cache under `scan_layers`."""

    layers: Any

    def write(self, decoder: Decoder, tokens: Tokens, slot: Count, pads: Pads) -> "KeyValueCache":
        """The cache with these tokens, the first of them in `slot`."""
        return advance(decoder, tokens, self, slot, pads)[1]

    def read(self, decoder: Decoder, tokens: NextTokens, slot: Count, pads: Pads) -> tuple[NextLogits, "KeyValueCache"]:
        """The logits of what follows these tokens, one a row, which are written into `slot`."""
        hidden, cache = advance(decoder, tokens[:, None], self, slot, pads)
        return decoder.logits(hidden)[:, 0], cache


def has_cache(decoder: LanguageModel) -> bool:
    """Whether every layer of the decoder mixes by this project's attention, whose keys and values can be kept.

    A subclass with a `__call__` of its own may look at something else.
    """
    if not isinstance(decoder, Decoder):
        return False
    blocks = [decoder.blocks] if isinstance(decoder.blocks, Block) else decoder.blocks
    return all(type(block.mixer).__call__ is Attention.__call__ for block in blocks)


def empty_cache(decoder: Decoder, rows: int, slots: int) -> KeyValueCache:
    """The cache before the first token."""
    config = decoder.config
    shape = (rows, config.n_kv_heads, slots, config.head_dim)
    dtype = jnp.dtype(config.compute_dtype)
    if config.scan_layers:
        # two arrays: what is donated must not be one buffer twice
        return KeyValueCache(LayerCache(*(jnp.zeros((config.n_layers, *shape), dtype) for _ in range(2))))
    return KeyValueCache([LayerCache(jnp.zeros(shape, dtype), jnp.zeros(shape, dtype)) for _ in range(config.n_layers)])


@contract
def advance(
    decoder: Decoder, tokens: Tokens, cache: KeyValueCache, slot: Count, pads: Pads
) -> tuple[Hidden, KeyValueCache]:
    """The normed states of new tokens, the first of which stands in `slot`, and the cache with them.

    A row's first `pads` slots are padding: nothing sees them, and its position 0 is the slot behind them.
    """
    slots = slot + jnp.arange(tokens.shape[1], dtype=jnp.int32)[None, :]
    positions = jnp.maximum(slots - pads[:, None], 0)

    def run(x: jax.Array, layer: tuple[Block, LayerCache]) -> tuple[jax.Array, LayerCache]:
        block, kept = layer
        mixed, kept = _mix(cast(Attention, block.mixer), block.mixer_norm(x), positions, kept, slot, pads)
        x = x + mixed.astype(x.dtype)
        return x + block.feed_forward(block.feed_forward_norm(x)), kept

    x = decoder.embed(tokens)
    if isinstance(decoder.blocks, Block):
        x, layers = jax.lax.scan(run, x, (decoder.blocks, cache.layers))
        return decoder.norm(x), KeyValueCache(layers)
    kept = []
    for layer in zip(decoder.blocks, cache.layers, strict=True):
        x, each = run(x, layer)
        kept.append(each)
    return decoder.norm(x), KeyValueCache(kept)


@contract
def _mix(
    mixer: Attention, x: Hidden, positions: Positions, kept: LayerCache, slot: Count, pads: Pads
) -> tuple[Hidden, LayerCache]:
    """Attention of the new positions over all that the cache holds."""
    queries, keys, values = mixer.heads(x, positions)
    kept = LayerCache(_put(kept.keys, keys, slot), _put(kept.values, values, slot))
    mixed = attend(queries, kept.keys, kept.values, _seen(x.shape[1], kept.keys.shape[2], slot, pads))
    return mixer.out(mixed.reshape(*x.shape[:2], -1)), kept


@contract
def _put(kept: Slots, new: KeysValues, slot: Count) -> Slots:
    return jax.lax.dynamic_update_slice(kept, new.astype(kept.dtype).transpose(0, 2, 1, 3), (0, 0, slot, 0))


def _seen(new: int, slots: int, slot: jax.Array, pads: jax.Array) -> jax.Array:
    """Which slots each new position sees: those up to its own that are no padding, and its own in any case."""
    own = (slot + jnp.arange(new))[None, :, None]
    each = jnp.arange(slots)[None, None, :]
    return ((each <= own) & (each >= pads[:, None, None])) | (each == own)


@contract
def attend(queries: Queries, keys: Slots, values: Slots, seen: Seen) -> Queries:
    """softmax(Q K^T / sqrt(K)) V over the slots that are seen; the softmax is float32, as without a cache."""
    rows, length, heads, width = queries.shape
    groups = keys.shape[1]
    grouped = queries.reshape(rows, length, groups, heads // groups, width)
    scores = jnp.einsum("btghk,bgsk->bghts", grouped, keys, preferred_element_type=jnp.float32) * width**-0.5
    weights = jax.nn.softmax(jnp.where(seen[:, None, None, :, :], scores, -jnp.inf), axis=-1)
    mixed = jnp.einsum("bghts,bgsk->btghk", weights.astype(values.dtype), values)
    return mixed.reshape(queries.shape)
