"""The loop: batches to the device, metrics back, and nothing else. What is kept and shown is for its caller.

A batch is a pure function of the step, so that training goes on from any state as if it had never stopped.
"""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
from flax import nnx

from contracts.batch import Batch
from contracts.decoder import LanguageModel
from contracts.errors import InputError
from contracts.stream import TokenStream
from contracts.tokenizer import Tokenizer
from research.model import Decoder
from research.model.tokens import check_tokens
from research.stream import Rows
from research.train.config import TrainConfig
from research.train.mesh import data_mesh, require_divisible, split_rows
from research.train.program import program
from research.train.step import MakeDecoder, Metrics, TrainState


class Dispatched(NamedTuple):
    """What one dispatch did: steps `first` to `stop` - 1."""

    first: int
    stop: int
    metrics: Metrics
    """of each step, on the host"""


class StepFailed(InputError):
    """A step whose loss or gradients are not finite, so that there is nothing to go on from."""

    def __init__(self, step: int, problem: str, hint: str) -> None:
        super().__init__(f"step {step}", expected="a finite loss and finite gradients", got=problem, hint=hint)
        self.step = step

    def of_run(self, folder: str | os.PathLike[str]) -> "StepFailed":
        """The same, saying how the step is replayed."""
        replay = f"bytebound train --resume {os.fspath(folder)} --debug-step {self.step}"
        return StepFailed(self.step, str(self.got), f"the checkpoint before it is kept; look into it with: {replay}")

    def __reduce__(self) -> tuple[Any, ...]:
        return StepFailed, (self.step, self.got, self.hint)


class Training:
    """A decoder under training: its state on the devices and the compiled way from one state to the next.

    `state` belongs to the loop while a dispatch runs; between two items of `dispatches` it may be read.
    """

    def __init__(
        self,
        config: TrainConfig,
        stream: TokenStream,
        tokenizer: Tokenizer,
        *,
        make: MakeDecoder = Decoder,
        mesh: jax.sharding.Mesh | None = None,
    ) -> None:
        require_vocabulary(config, tokenizer)
        self.config, self.tokenizer = config, tokenizer
        self.mesh = data_mesh() if mesh is None else mesh
        require_divisible(config.batch_size // config.accumulate, self.mesh)
        self.rows = Rows(stream, tokenizer, config.policy, config.batch_size, config.length)
        self.program = program(config, tokenizer, make, self.mesh)
        self._state: TrainState | None = None

    @property
    def state(self) -> TrainState:
        """The state as it is; the first one, if nothing was restored."""
        if self._state is None:
            self._state = self.program.first_state(self.config.seed)
        return self._state

    @state.setter
    def state(self, state: TrainState) -> None:
        self._state = state

    @property
    def decoder(self) -> LanguageModel:
        """The decoder of the state as it is now."""
        return nnx.merge(self.program.graph, self.state.params)

    def dispatches(self) -> Iterator[Dispatched]:
        """Train from where the state stands to the last step; each item is a dispatch that is done.

        Raises:
            StepFailed: for a loss or gradients that are not finite; the state is then of no use.
        """
        first = int(self.state.step)
        upcoming = self.batches(first, self.config.next_stop(first)) if first < self.config.steps else None
        while upcoming is not None:
            stop = self.config.next_stop(first)
            self.state, metrics = self.program.dispatch(self.state, upcoming)
            # while the device computes, the host makes what comes next
            upcoming = self.batches(stop, self.config.next_stop(stop)) if stop < self.config.steps else None
            found = jax.device_get(metrics)
            require_finite(first, found)
            yield Dispatched(first, stop, found)
            first = stop

    def batches(self, first: int, stop: int) -> Batch:
        """What the steps from `first` to before `stop` are fed, `[steps, parts, rows, positions]`, on the devices."""
        process = (jax.process_index(), jax.process_count())
        made = [self.rows(self.config.seed, step, process) for step in range(first, stop)]
        form = (stop - first, self.config.accumulate, -1, self.config.length)
        stacked = Batch(*(np.stack(field).reshape(form) for field in zip(*made, strict=True)))
        for name in ("tokens", "targets"):
            check_tokens(getattr(stacked, name), self.config.decoder, f"{name} of steps {first} to {stop - 1}")
        return split_rows(stacked, self.mesh)


def require_vocabulary(config: TrainConfig, tokenizer: Tokenizer) -> None:
    """Refuse a decoder of another vocabulary than the tokenizer's."""
    if config.decoder.vocab_size != tokenizer.vocab_size:
        got = f"{tokenizer.vocab_size} ids of {tokenizer.identity.version}"
        raise InputError("tokenizer", expected=f"{config.decoder.vocab_size} ids (decoder.vocab_size)", got=got)


def require_finite(first: int, metrics: Metrics) -> None:
    """Refuse metrics, of steps from `first` on, of which one is not as it should be; the first such is named."""
    good = metrics.loss_finite & metrics.gradients_finite & metrics.tokens_in_range
    if good.all():
        return
    index = int(np.argmin(good))
    loss, norm = float(metrics.loss[index]), float(metrics.gradient_norm[index])
    problem = f"loss {loss:g}, gradient norm {norm:g}"
    if not metrics.tokens_in_range[index]:
        problem += ", token ids out of range"
    raise StepFailed(first + index, problem, "a lower learning rate or a longer warm-up may help")
