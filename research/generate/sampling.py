"""The next token from its logits. A draw depends on seed, row and position alone, never on what shares the batch."""

import jax
import jax.numpy as jnp
import numpy as np

from contracts.core import contract
from contracts.generation import Allowed, Count, NextLogits, NextTokens, RowKeys, Sampling


@contract
def row_keys(seed: jax.Array, rows: int, position: Count) -> RowKeys:
    """A key for each row of a batch at that position."""
    return jax.vmap(lambda row: jax.random.fold_in(jax.random.fold_in(seed, row), position))(jnp.arange(rows))


@contract
def sample(logits: NextLogits, keys: RowKeys, allowed: Allowed, sampling: Sampling) -> NextTokens:
    """Draw a token for each row, of the allowed ones.

    Tokens of equal logits are ordered by id, so `top_k` keeps exactly k and temperature 0 takes the smallest id.
    """
    logits = jnp.where(allowed[None, :], logits, -jnp.inf)
    if sampling.temperature < np.finfo(np.float32).tiny:  # float32 has no such number: a quotient by it is infinite
        return jnp.argmax(logits, axis=-1).astype(jnp.int32)
    # The likeliest at 0, so that no quotient is infinite but those of tokens that are never drawn.
    logits = (logits - jnp.max(logits, axis=-1, keepdims=True)) / sampling.temperature
    if sampling.top_k is None and sampling.top_p is None:
        return _draw(keys, logits)
    order = jnp.argsort(-logits, axis=-1, stable=True)
    ranked = _cut(jnp.take_along_axis(logits, order, axis=-1), sampling)
    return jnp.take_along_axis(order, _draw(keys, ranked)[:, None], axis=-1)[:, 0].astype(jnp.int32)


def _cut(ranked: jax.Array, sampling: Sampling) -> jax.Array:
    """Logits in falling order, without those that are too unlikely."""
    if sampling.top_k is not None:
        ranked = jnp.where(jnp.arange(ranked.shape[-1])[None, :] < sampling.top_k, ranked, -jnp.inf)
    if sampling.top_p is not None:
        probability = jax.nn.softmax(ranked, axis=-1)
        more_likely = jnp.cumsum(probability, axis=-1) - probability
        ranked = jnp.where(more_likely < sampling.top_p, ranked, -jnp.inf)
    return ranked


def _draw(keys: jax.Array, logits: jax.Array) -> jax.Array:
    return jax.vmap(jax.random.categorical)(keys, logits).astype(jnp.int32)
