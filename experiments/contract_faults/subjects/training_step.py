"""A subject for faults: windows of a stream to a batch, a loss, and a clipped step.

Plain gradient descent, written out so that shapes can go wrong in all the usual places.
"""

from typing import TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Float32, Int32, PyTree

from contracts.batch import Batch
from contracts.core import contract
from contracts.decoder import Logits, Tokens
from research.model import Decoder

Windows = Int32[Array, "B W"]
Losses = Float32[Array, "B T"]
Scalar = Float32[Array, ""]
Gradients: TypeAlias = PyTree[Float[Array, "..."]]


@contract
def batch_of(windows: Windows, boundary_id: int) -> Batch:
    """Rows of T = W - 1 tokens, each with the next one as target; a boundary opens a segment."""
    tokens, targets = windows[:, :-1], windows[:, 1:]
    opens = tokens == boundary_id
    index = jnp.arange(tokens.shape[1], dtype=jnp.int32)[None, :]
    segments = jnp.cumsum(opens, axis=1, dtype=jnp.int32)
    positions = index - jax.lax.cummax(jnp.where(opens, index, 0), axis=1)
    weights = jnp.where(targets == boundary_id, 0.0, 1.0).astype(jnp.float32)
    return Batch(tokens, targets, segments, positions, weights)


@contract
def token_losses(logits: Logits, targets: Tokens) -> Losses:
    """-log p(target) in nats."""
    largest = jnp.max(logits, axis=-1, keepdims=True)
    normaliser = jnp.log(jnp.sum(jnp.exp(logits - largest), axis=-1, keepdims=True)) + largest
    chosen = jnp.take_along_axis(logits, targets[:, :, None], axis=-1)
    return (normaliser - chosen)[:, :, 0]


@contract
def mean_loss(decoder: Decoder, batch: Batch) -> tuple[Scalar, dict[str, Scalar]]:
    """The weighted mean of the losses, and metrics."""
    logits = decoder(batch.tokens, batch.segments, batch.positions)
    losses = token_losses(logits, batch.targets)
    scored = jnp.sum(batch.weights)
    loss = jnp.sum(losses * batch.weights) / scored
    hits = jnp.sum((jnp.argmax(logits, axis=-1) == batch.targets) * batch.weights)
    return loss, {"loss": loss, "scored": scored, "accuracy": hits / scored}


@contract
def clipping_factor(gradients: Gradients, max_norm: float) -> Scalar:
    """What gradients are multiplied by, so that their norm is at most `max_norm`."""
    squares = [jnp.sum(jnp.square(gradient)) for gradient in jax.tree.leaves(gradients)]
    return jnp.minimum(1.0, max_norm / jnp.sqrt(jnp.sum(jnp.stack(squares), axis=0)))


@contract
def train_step(decoder: Decoder, batch: Batch, rate: float, max_norm: float) -> tuple[Decoder, dict[str, Scalar]]:
    """The decoder after one step of gradient descent, and the metrics before it."""
    gradients, metrics = jax.grad(mean_loss, has_aux=True)(decoder, batch)
    factor = rate * clipping_factor(gradients, max_norm)
    return jax.tree.map(lambda weight, gradient: weight - factor * gradient, decoder, gradients), metrics
