"""Generation without a cache, for decoders whose mixer has none: every new token costs a pass over the whole row."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from contracts.core import contract
from contracts.decoder import Tokens
from contracts.generation import Count, NextLogits, NextTokens, Pads


class TokenBuffer(NamedTuple):
    """The tokens of all rows so far; takes the place of a `KeyValueCache`."""

    tokens: Tokens

    @contract
    def read(self, decoder: Any, tokens: NextTokens, slot: Count, pads: Pads) -> tuple[NextLogits, "TokenBuffer"]:
        """The logits of what follows these tokens, one a row, which are written into `slot`.

        Padding is a segment of its own; what stands behind `slot` is not yet seen by anything.
        """
        buffer = jax.lax.dynamic_update_slice(self.tokens, tokens[:, None], (0, slot))
        places = jnp.arange(buffer.shape[1], dtype=jnp.int32)[None, :] - pads[:, None]
        segments = jnp.where(places < 0, -1, 0).astype(jnp.int32)
        logits = decoder(buffer, segments, jnp.maximum(places, 0))
        return jax.lax.dynamic_index_in_dim(logits, slot, axis=1, keepdims=False), TokenBuffer(buffer)
