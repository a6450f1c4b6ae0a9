"""The training step: a pure function from state and batch to state and metrics, which a reader takes in at once.

A module is split once into its graph, which is static, and its parameters, which are data; inside a step it is merged
again. Several steps are one dispatch, so that a small decoder does not wait for the host.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jaxtyping import Array, Bool, Float32, Int32, PyTree, UInt32

from contracts.batch import Batch
from contracts.core import contract
from contracts.decoder import LanguageModel
from contracts.tokenizer import ByteLengths
from research.model.nats import token_nats
from research.train.compiler import compiler_options
from research.train.config import TrainConfig
from research.train.optimizer import adamw, learning_rate

Scalar = Float32[Array, ""]


class TrainState(NamedTuple):
    """All that a step changes."""

    params: PyTree
    opt_state: PyTree
    step: Int32[Array, ""]
    """steps made"""


class Metrics(NamedTuple):
    """What a step tells; of several steps each field has a leading axis."""

    loss: Scalar
    """mean nats of a target, each weighted as the batch says"""
    bits_per_byte: Scalar
    """all nats over ln 2 and the bytes of the targets trained on; a protocol token has none"""
    gradient_norm: Scalar
    """before clipping"""
    learning_rate: Scalar
    loss_finite: Bool[Array, ""]
    gradients_finite: Bool[Array, ""]
    tokens_in_range: Bool[Array, ""]


MakeDecoder = Callable[..., Any]
"""`make(config, rngs=rngs)`: a `LanguageModel` that is an `nnx.Module`, such as `research.model.Decoder`"""
Step = Callable[[TrainState, Batch], tuple[TrainState, Metrics]]


def first_state(config: TrainConfig, make: MakeDecoder, seed: UInt32[Any, ""] | None = None) -> TrainState:
    """What training begins with: parameters from the seed, or the config's, and an optimizer that has seen nothing."""
    key = jax.random.key(config.seed if seed is None else seed)
    params = nnx.split(make(config.decoder, rngs=nnx.Rngs(key)))[1]
    return TrainState(params, adamw(config).init(params), jnp.int32(0))


def make_train_step(
    config: TrainConfig,
    graph: nnx.GraphDef,
    token_bytes: ByteLengths,
    gather: Callable[[PyTree], PyTree] = lambda params: params,
) -> Step:
    """The step of a decoder whose graph is `graph`; `token_bytes` are the bytes of each id.

    `gather` brings the parameters to where they are computed with, if they are kept elsewhere.

    It takes a batch whose fields have the parts of the step in front: `[accumulate, B, T]`.
    """
    optimizer, schedule = adamw(config), learning_rate(config)

    def train_step(state: TrainState, batch: Batch) -> tuple[TrainState, Metrics]:
        def nats(params: PyTree, part: Batch) -> Scalar:
            return batch_nats(nnx.merge(graph, gather(params)), part, config.policy.needs_mask)

        def add(total: PyTree, part: Batch) -> tuple[PyTree, None]:
            return jax.tree.map(jnp.add, total, jax.value_and_grad(nats)(state.params, part)), None

        none_yet = (jnp.float32(0), jax.tree.map(jnp.zeros_like, state.params))
        total, _ = jax.lax.scan(add, none_yet, batch)
        loss, gradients = jax.tree.map(lambda each: each / jnp.maximum(batch.weights.sum(), 1), total)
        updates, opt_state = optimizer.update(gradients, state.opt_state, state.params)
        norm = optax.tree.norm(gradients)
        metrics = Metrics(
            loss=loss,
            bits_per_byte=total[0] / (jnp.log(2.0) * trained_bytes(batch, token_bytes)),
            gradient_norm=norm,
            learning_rate=jnp.float32(schedule(state.step)),
            loss_finite=jnp.isfinite(loss),
            gradients_finite=jnp.isfinite(norm),
            tokens_in_range=in_range(batch, config.decoder.vocab_size),
        )
        return TrainState(optax.apply_updates(state.params, updates), opt_state, state.step + 1), metrics

    return train_step


def make_dispatch(train_step: Step, **options: Any) -> Step:
    """Compiled, as many steps one after another as the batch has entries in front; the state given to it is used up."""

    def dispatch(state: TrainState, batches: Batch) -> tuple[TrainState, Metrics]:
        return jax.lax.scan(train_step, state, batches)

    return jax.jit(dispatch, donate_argnums=0, compiler_options=compiler_options(), **options)


@contract
def batch_nats(decoder: LanguageModel, batch: Batch, needs_mask: bool) -> Scalar:
    """The nats of all targets, each times its weight. Segments reach the decoder only where rows need a mask."""
    logits = decoder(batch.tokens, batch.segments if needs_mask else None, batch.positions)
    return jnp.sum(token_nats(logits, batch.targets) * batch.weights)


def trained_bytes(batch: Batch, token_bytes: ByteLengths) -> Scalar:
    """Bytes of the targets that are trained on, at least one: rows of protocol tokens alone have none."""
    counted = jnp.asarray(token_bytes)[batch.targets] * (batch.weights > 0)
    return jnp.maximum(counted.sum(), 1).astype(jnp.float32)


def in_range(batch: Batch, vocab_size: int) -> Bool[Array, ""]:
    """Whether every id is one of the vocabulary."""
    ids = jnp.stack([batch.tokens, batch.targets])
    return jnp.all((ids >= 0) & (ids < vocab_size))
