"""AdamW as the config says, made of optax's parts."""

import jax
import optax
from jaxtyping import PyTree

from contracts.decoder import DecoderConfig
from research.train.config import TrainConfig


def learning_rate(config: TrainConfig) -> optax.Schedule:
    """Step to learning rate: a line up to the peak, which step `warmup_steps` has, then the schedule down.

    The first step has peak / (warmup_steps + 1): one of rate 0 would be a step wasted.
    """
    optimizer = config.optimizer
    peak, warmup, share = optimizer.peak_learning_rate, optimizer.warmup_steps, optimizer.final_share
    parts, boundaries = [], []
    if warmup:
        parts.append(optax.linear_schedule(peak / (warmup + 1), peak, warmup))
        boundaries.append(warmup)
    if optimizer.schedule == "wsd":
        parts.append(optax.constant_schedule(peak))
        boundaries.append(config.steps - config.decay_steps)
        parts.append(optax.linear_schedule(peak, share * peak, config.decay_steps))
    else:
        parts.append(optax.cosine_decay_schedule(peak, config.decay_steps, share))
    return optax.join_schedules(parts, boundaries)


def adamw(config: TrainConfig) -> optax.GradientTransformation:
    """Gradients clipped by their common norm, then AdamW; what `is_matrix` says decays."""
    optimizer = config.optimizer
    return optax.chain(
        optax.clip_by_global_norm(optimizer.clip_norm),
        optax.adamw(
            learning_rate(config),
            b1=optimizer.beta1,
            b2=optimizer.beta2,
            eps=optimizer.eps,
            weight_decay=optimizer.weight_decay,
            mask=lambda params: matrices(params, config.decoder),
        ),
    )


def matrices(params: PyTree, config: DecoderConfig) -> PyTree:
    """Whether each parameter is a matrix; the axis that scanned layers add in front does not make one of a scale."""

    def is_matrix(path: tuple, parameter: jax.Array) -> bool:
        stacked = config.scan_layers and jax.tree_util.keystr(path, simple=True, separator=".").startswith("blocks.")
        return parameter.ndim - stacked >= 2

    return jax.tree_util.tree_map_with_path(is_matrix, params)
