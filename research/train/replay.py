"""A step once more, under checkify: what a loss that is not finite came from.

Checks of indices are left out: jax 0.10.2 can't make them of the gradient of `take_along_axis`. Ids are checked on the
host instead, before they reach the device.
"""

import os
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax.experimental import checkify
from jaxtyping import PyTree

from contracts.batch import Batch
from contracts.errors import InputError
from research.stream import verify_corpus
from research.train.checkpoint import finished_steps, load_state
from research.train.loop import Training
from research.train.run import CHECKPOINTS, checked_checkpoint, corpus_of, read_run_manifest
from research.train.step import batch_nats

_LIBRARIES = ("jax", "flax", "optax")


class Replay(NamedTuple):
    """What a step did when it was made again."""

    step: int
    """counted from 1, as in the log"""
    loss: float
    """mean nats of a target"""
    gradient_norm: float
    finding: str
    """the first operation whose result is not a number, and where it stands; empty if there is none"""
    bad_before: tuple[str, ...]
    """parameters that were not finite already"""
    bad_gradients: tuple[str, ...]
    """parameters whose gradient is not finite"""


def replay(folder: str | os.PathLike[str], step: int, corpus: str | os.PathLike[str] | None = None) -> Replay:
    """Make step `step` (counted from 1, as in the log) of the run in `folder` again.

    It begins at the newest checkpoint before it, or at the beginning.

    Nothing in the folder is changed. Steps before it are made as the run made them, those of its own dispatch one by
    one, so that rounding may differ.

    Raises:
        InputError: for a step that the run does not have.
        StepFailed: for a step before it that is not finite.
    """
    folder = Path(folder)
    manifest = read_run_manifest(folder)
    if not 1 <= step <= manifest.config.steps:
        raise InputError("step to replay", expected=f"1 to {manifest.config.steps}", got=step, where=str(folder))
    stored = corpus_of(folder, manifest, corpus)
    verify_corpus(stored)
    training = Training(manifest.config, stored.train, stored.tokenizer)
    before = [found for found in finished_steps(folder / CHECKPOINTS) if found < step]
    if before:
        path = checked_checkpoint(folder, before[-1], training.program.abstract_state)
        training.state = load_state(path, training.program.placed_state)
    _advance(training, step - 1)
    batch = jax.tree.map(lambda field: field[0], training.batches(step - 1, step))
    return _checked(training, batch, step)


def _advance(training: Training, made: int) -> None:
    """Train until so many steps are made."""
    config = training.config
    first = int(training.state.step)
    if config.next_stop(first) <= made:
        for done in training.dispatches():
            first = done.stop
            if config.next_stop(first) > made:
                break
    for number in range(first, made):
        training.state, _ = training.program.dispatch(training.state, training.batches(number, number + 1))


def _checked(training: Training, batch: Batch, step: int) -> Replay:
    """Loss and gradients of the step, part by part; the optimizer, which comes after them, is left out."""
    params, needs_mask = training.state.params, training.config.policy.needs_mask

    def nats(params: PyTree, part: Batch) -> jax.Array:
        return batch_nats(nnx.merge(training.program.graph, params), part, needs_mask)

    checked = jax.jit(checkify.checkify(jax.value_and_grad(nats), errors=checkify.nan_checks))
    parts = [jax.tree.map(lambda field, part=part: field[part], batch) for part in range(training.config.accumulate)]
    errors, found = zip(*(checked(params, part) for part in parts), strict=True)
    weight = max(float(batch.weights.sum()), 1.0)
    loss, gradients = jax.tree.map(lambda *each: sum(each) / weight, *found)
    return Replay(
        step=step,
        loss=float(loss),
        gradient_norm=float(optax.tree.norm(gradients)),
        finding=next(filter(None, map(_told, errors)), ""),
        bad_before=_not_finite(params),
        bad_gradients=_not_finite(gradients),
    )


def _told(error: checkify.Error) -> str:
    """What checkify found, and the innermost line of it that is not JAX's or Flax's."""
    exception = error.get_exception()
    if exception is None:
        return ""
    frames = str(getattr(exception, "traceback_info", "")).splitlines()
    ours = [frame for frame in frames if not any(f"{os.sep}{name}{os.sep}" in frame for name in _LIBRARIES)]
    place = f", at {ours[0]}" if ours else ""
    return f"{str(error.get()).rstrip('.')}{place}"


def _not_finite(tree: PyTree) -> tuple[str, ...]:
    """The paths of arrays with a value that is not finite."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    bad = [path for path, leaf in leaves if not np.asarray(jnp.isfinite(leaf).all())]
    return tuple(jax.tree_util.keystr(path, simple=True, separator=".").removesuffix(".value") for path in bad)
