"""A subject for faults: a decoder that reads new tokens with a key-value cache.

Small, complete and under contract: logits from the cache are those of the whole row.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

from contracts.core import contract
from contracts.decoder import Hidden, KeysValues, Logits, Positions, Queries, Tokens

Slots = Float[Array, "B S G K"]
Start = Int32[Array, ""]


class LayerCache(NamedTuple):
    """What one layer keeps of a row; slot s belongs to position s."""

    keys: Slots
    values: Slots


class CachedDecoder:
    """Logits of new tokens, given the caches of all tokens before them. The decoder's layers are a list."""

    def __init__(self, decoder: Any) -> None:
        self.decoder, self.config = decoder, decoder.config

    @contract
    def empty(self, tokens: Tokens, slots: int) -> list[LayerCache]:
        """The caches of these rows before their first token."""
        zeros = jnp.zeros((tokens.shape[0], slots, self.config.n_kv_heads, self.config.head_dim), jnp.float32)
        return [LayerCache(zeros, zeros) for _ in range(self.config.n_layers)]

    @contract
    def step(self, tokens: Tokens, caches: list[LayerCache], start: Start) -> tuple[Logits, list[LayerCache]]:
        """Logits of `tokens`, the first of which stands at position `start`, and the caches after them."""
        rows, length = tokens.shape
        positions = jnp.broadcast_to(start + jnp.arange(length, dtype=jnp.int32)[None, :], (rows, length))
        x, extended = self.decoder.embed(tokens), []
        for block, cache in zip(self.decoder.blocks, caches, strict=True):
            mixed, cache = self.mix(block.mixer, block.mixer_norm(x), positions, cache)
            x = x + mixed
            x = x + block.feed_forward(block.feed_forward_norm(x))
            extended.append(cache)
        return self.decoder.logits(self.decoder.norm(x)), extended

    @contract
    def mix(self, mixer: Any, x: Hidden, positions: Positions, cache: LayerCache) -> tuple[Hidden, LayerCache]:
        """The attention layer, over the cache instead of the row."""
        queries, keys, values = mixer.heads(x, positions)
        cache = extend(cache, keys, values, positions[0, 0])
        mixed = attend(queries, cache, positions[0, 0])
        return mixer.out(mixed.reshape(x.shape[0], x.shape[1], -1)), cache


@contract
def extend(cache: LayerCache, keys: KeysValues, values: KeysValues, start: Start) -> LayerCache:
    """The cache with the keys and values of the positions from `start` on."""
    at = (0, start, 0, 0)
    return LayerCache(
        jax.lax.dynamic_update_slice(cache.keys, keys, at), jax.lax.dynamic_update_slice(cache.values, values, at)
    )


@contract
def attend(queries: Queries, cache: LayerCache, start: Start) -> Queries:
    """Each query over the slots up to its own position."""
    rows, length, heads, width = queries.shape
    groups = cache.keys.shape[2]
    grouped = queries.reshape(rows, length, groups, heads // groups, width)
    scores = jnp.einsum("btghk,bsgk->bghts", grouped, cache.keys) * width**-0.5
    seen = jnp.arange(cache.keys.shape[1])[None, :] <= start + jnp.arange(length)[:, None]
    weights = jax.nn.softmax(jnp.where(seen[None, None, None, :, :], scores, -jnp.inf), axis=-1)
    return jnp.einsum("bghts,bsgk->btghk", weights, cache.values).reshape(queries.shape)


@contract
def by_name(caches: list[LayerCache]) -> dict[str, LayerCache]:
    """The caches as a prompt's are stored."""
    return {f"layer {index}": cache for index, cache in enumerate(caches)}


@contract
def in_order(named: dict[str, LayerCache]) -> list[LayerCache]:
    """What `by_name` stored."""
    return [named[f"layer {index}"] for index in range(len(named))]
