"""Do documents of one row see each other? Asked of a decoder by changing the first and looking at the others.

Zero means equal bit for bit, not small: a masked pair has the weight 0 exactly, and 0 times anything is nothing.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import Int64

from contracts.batch import Batch, RowPolicy
from contracts.core import contract
from research.model.nats import token_nats

Documents = Int64[np.ndarray, "B T"]


class Leakage(NamedTuple):
    """The largest trace of a row's first document in those behind it; 0 where there is none, to the last bit."""

    logits: float
    """change of a logit when every token of the first document is another one"""
    gradient: float
    """derivative of the others' loss by an element of the embedding of a token that only the first one has"""
    control: float
    """derivative by the embeddings of the others' own tokens; if that is 0 too, the question was not asked"""
    positions: int
    """of other documents that were looked at"""

    @property
    def none(self) -> bool:
        """Not one bit arrives, and it would have been seen."""
        return self.logits == 0 and self.gradient == 0 and self.control > 0


@contract
def leakage(decoder: Any, rows: Batch, documents: Documents, policy: RowPolicy, seed: int = 0) -> Leakage:
    """Ask a decoder, an untied `research.model.Decoder`, about rows that are laid out as a policy says.

    Tokens are drawn anew: the first document's from the upper half of the vocabulary, all others from the lower, so
    that the rows of the embedding table belong to one or the other.

    Args:
        decoder: Trained or not.
        rows: Where documents stand, their segments and positions; the tokens are not used.
        documents: Of each position the document, 0 for the first of a row, -1 for padding.
        policy: Whether the decoder is given the segments.
        seed: Of the drawn tokens.
    """
    first, others = documents == 0, documents > 0
    half, size = decoder.config.vocab_size // 2, documents.shape
    draw = np.random.default_rng(seed)
    lower, upper = draw.integers(half, size=size), draw.integers(half, size=size)
    tokens = np.where(first, half + upper, lower).astype(np.int32)
    changed = np.where(first, half + (upper + 1) % half, lower).astype(np.int32)
    segments = jnp.asarray(rows.segments) if policy.needs_mask else None
    positions = jnp.asarray(rows.positions)
    before, after = (np.asarray(_logits(decoder, jnp.asarray(t), segments, positions)) for t in (tokens, changed))
    targets, weights = jnp.asarray(lower.astype(np.int32)), jnp.asarray(others.astype(np.float32))
    table = np.asarray(_by_embedding(decoder, jnp.asarray(tokens), targets, weights, segments, positions))
    return Leakage(
        logits=float(np.abs(before - after)[others].max(initial=0)),
        gradient=float(np.abs(table[half:]).max()),
        control=float(np.abs(table[:half]).max()),
        positions=int(others.sum()),
    )


@jax.jit
def _logits(decoder: Any, tokens: jax.Array, segments: jax.Array | None, positions: jax.Array) -> jax.Array:
    return decoder(tokens, segments, positions)


@jax.jit
def _by_embedding(
    decoder: Any,
    tokens: jax.Array,
    targets: jax.Array,
    weights: jax.Array,
    segments: jax.Array | None,
    positions: jax.Array,
) -> jax.Array:
    """The gradient of the weighted loss by the embedding table, `[V, D]`."""
    graph, params = nnx.split(decoder)

    def loss(params: Any) -> jax.Array:
        logits = nnx.merge(graph, params)(tokens, segments, positions)
        return jnp.sum(token_nats(logits, targets) * weights)

    return nnx.merge(graph, jax.grad(loss)(params)).embed.embedding[...]
