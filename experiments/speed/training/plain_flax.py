"""A decoder as public minimal examples in Flax have it: dense attention, a step under `nnx.jit`, a step a dispatch.

Layer norms, learned positions, GELU over 4 d, head tied to the embedding, no biases: GPT-2's parts.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from experiments.speed.training.candidates import BETAS, CLIP_NORM, PEAK_LEARNING_RATE, WEIGHT_DECAY, Train
from experiments.speed.training.question import Shape


class Layer(nnx.Module):
    """Attention and an MLP, each after a norm and added to what it read."""

    def __init__(self, shape: Shape, *, rngs: nnx.Rngs) -> None:
        linear = partial(nnx.Linear, use_bias=False, dtype=jnp.dtype(shape.dtype), rngs=rngs)
        norm = partial(nnx.LayerNorm, use_bias=False, dtype=jnp.dtype(shape.dtype), rngs=rngs)
        self.n_heads = shape.n_heads
        self.attention_norm, self.mlp_norm = norm(shape.d_model), norm(shape.d_model)
        self.qkv, self.out = linear(shape.d_model, 3 * shape.d_model), linear(shape.d_model, shape.d_model)
        self.up, self.down = linear(shape.d_model, 4 * shape.d_model), linear(4 * shape.d_model, shape.d_model)

    def __call__(self, x: jax.Array, mask: jax.Array) -> jax.Array:
        x = x + self.out(self.mix(self.attention_norm(x), mask))
        return x + self.down(jax.nn.gelu(self.up(self.mlp_norm(x))))

    def mix(self, x: jax.Array, mask: jax.Array) -> jax.Array:
        """Causal attention over all pairs."""
        queries, keys, values = (
            part.reshape(*x.shape[:2], self.n_heads, -1) for part in jnp.split(self.qkv(x), 3, axis=-1)
        )
        scores = jnp.einsum("bthk,bshk->bhts", queries, keys) / np.sqrt(queries.shape[-1])
        weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf).astype(jnp.float32)).astype(x.dtype)
        return jnp.einsum("bhts,bshk->bthk", weights, values).reshape(x.shape)


class PlainDecoder(nnx.Module):
    """Tokens to logits."""

    def __init__(self, shape: Shape, *, rngs: nnx.Rngs) -> None:
        table = partial(
            nnx.Embed,
            features=shape.d_model,
            dtype=jnp.dtype(shape.dtype),
            embedding_init=nnx.initializers.normal(0.02),
            rngs=rngs,
        )
        self.tokens, self.positions = table(shape.vocab_size), table(shape.length)
        self.layers = nnx.List([Layer(shape, rngs=rngs) for _ in range(shape.n_layers)])
        self.norm = nnx.LayerNorm(shape.d_model, use_bias=False, dtype=jnp.dtype(shape.dtype), rngs=rngs)

    def __call__(self, tokens: jax.Array) -> jax.Array:
        length = tokens.shape[1]
        mask = jnp.tril(jnp.ones((1, 1, length, length), bool))
        x = self.tokens(tokens) + self.positions(jnp.arange(length))[None]
        for layer in self.layers:
            x = layer(x, mask)
        return self.tokens.attend(self.norm(x)).astype(jnp.float32)


@nnx.jit
def train_step(model: PlainDecoder, optimizer: nnx.Optimizer, windows: jax.Array) -> jax.Array:
    """One step; the loss before it."""

    def mean_loss(model: PlainDecoder) -> jax.Array:
        logits = model(windows[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, windows[:, 1:]).mean()

    loss, gradients = nnx.value_and_grad(mean_loss)(model)
    optimizer.update(model, gradients)
    return loss


def make(shape: Shape, windows: np.ndarray) -> Train:
    """Ready to compile."""
    model = PlainDecoder(shape, rngs=nnx.Rngs(0))
    adamw = optax.adamw(PEAK_LEARNING_RATE, *BETAS, weight_decay=WEIGHT_DECAY)
    optimizer = nnx.Optimizer(model, optax.chain(optax.clip_by_global_norm(CLIP_NORM), adamw), wrt=nnx.Param)
    ids = jnp.asarray(windows)

    def train(steps: int) -> float:
        for _ in range(steps):
            loss = train_step(model, optimizer, ids)
        return float(loss)

    return train
