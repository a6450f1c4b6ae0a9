"""A decoder with its cache, as the laws of decoders see it: `assert_laws(cached_view(decoder))` in a test, and
`bytebound contracts verify research.generate:cached_decoder --config d_model=64` on the command line.
"""

from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx

from contracts.decoder import DecoderConfig
from contracts.errors import InputError
from contracts.laws import DecoderView, from_apply
from research.generate.cache import advance, empty_cache, has_cache
from research.model import Decoder


def cached_view(decoder: Decoder, name: str = "Decoder") -> DecoderView:
    """What `verify` takes: logits of whole rows, and the same read from the cache; so the law `cache` applies.

    Raises:
        InputError: for a decoder whose mixer has no cache.
    """
    if not has_cache(decoder):
        mixer = "another mixer than Attention"
        raise InputError(name, expected="a decoder with a key-value cache", got=mixer)

    def init_cache(rows: int, positions: int) -> Any:
        return empty_cache(decoder, rows, positions), 0

    return from_apply(
        lambda decoder, tokens, segments=None: decoder(tokens, segments),
        decoder,
        name=name,
        segments="segments",
        max_length=decoder.config.context_length,
        init_cache=init_cache,
        step=_step,
    )


def cached_decoder(config: DecoderConfig, *, rngs: nnx.Rngs) -> DecoderView:
    """The view of a new decoder of that shape."""
    return cached_view(Decoder(config, rngs=rngs))


def _step(decoder: Decoder, tokens: jax.Array, state: Any) -> tuple[jax.Array, Any]:
    cache, slot = state
    hidden, cache = _advance(decoder, tokens, cache, jnp.int32(slot))
    return hidden, (cache, slot + tokens.shape[1])


@jax.jit
def _advance(decoder: Decoder, tokens: jax.Array, cache: Any, slot: jax.Array) -> Any:
    hidden, cache = advance(decoder, tokens, cache, slot, jnp.zeros(tokens.shape[0], jnp.int32))
    return decoder.logits(hidden), cache
