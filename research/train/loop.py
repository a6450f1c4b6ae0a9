"""The loop: batches to the device, metrics back, and nothing else. What is kept and shown is for its caller.

A batch is a pure function of the step, so that training goes on from any state as if it had never stopped.
"""

import os
from collections.abc import Callable, Iterator
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
    """A step whose loss or gradients are not finite, so that there is nothing to go on from.

    Steps count from 1 here, as in `metrics.jsonl` and `--debug-step`: step 5 makes the checkpoint 5.
    """

    def __init__(self, step: int, problem: str, hint: str, index: int = 0) -> None:
        super().__init__(f"step {step}", expected="a finite loss and finite gradients", got=problem, hint=hint)
        self.step, self.index = step, index
        """which of the seeds that are trained together it was"""

    def of_run(self, folder: str | os.PathLike[str], kept: int) -> "StepFailed":
        """The same, saying how the step is replayed; `kept` is the step of the newest checkpoint, 0 for none."""
        replay = f"bytebound train --resume {os.fspath(folder)} --debug-step {self.step}"
        saved = f"the checkpoint of step {kept} is kept" if kept else "it came before the first checkpoint"
        hint = f"{saved}; look into it with: {replay}"
        return StepFailed(self.step, str(self.got), hint, self.index)

    def __reduce__(self) -> tuple[Any, ...]:
        return StepFailed, (self.step, self.got, self.hint, self.index)


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

    @property
    def steps_made(self) -> int:
        """How far the state is."""
        return int(self.state.step)

    def dispatches(self) -> Iterator[Dispatched]:
        """Train from where the state stands to the last step; each item is a dispatch that is done.

        Raises:
            StepFailed: for a loss or gradients that are not finite; the state is then of no use.
        """
        first = self.steps_made
        upcoming = self.batches(first, self.config.next_stop(first)) if first < self.config.steps else None
        while upcoming is not None:
            stop = self.config.next_stop(first)
            self.state, metrics = self._dispatch(self.state, upcoming)
            # while the device computes, the host makes what comes next
            upcoming = self.batches(stop, self.config.next_stop(stop)) if stop < self.config.steps else None
            found = jax.device_get(metrics)
            self._require_finite(first, found)
            yield Dispatched(first, stop, found)
            first = stop

    def batches(self, first: int, stop: int) -> Batch:
        """What the steps from `first` to before `stop` are fed, `[steps, parts, rows, positions]`, on the devices."""
        return split_rows(self.host_batches(self.config.seed, first, stop), self.mesh)

    def host_batches(self, seed: int, first: int, stop: int) -> Batch:
        """The same on the host, the rows of this process alone."""
        process = (jax.process_index(), jax.process_count())
        made = [self.rows(seed, step, process) for step in range(first, stop)]
        form = (stop - first, self.config.accumulate, -1, self.config.length)
        stacked = Batch(*(np.stack(field).reshape(form) for field in zip(*made, strict=True)))
        for name in ("tokens", "targets"):
            check_tokens(getattr(stacked, name), self.config.decoder, f"{name} of steps {first + 1} to {stop}")
        return stacked

    def states(self) -> list[TrainState]:
        """The state of each seed that is trained: of one here."""
        return [self.state]

    def decoders(self) -> list[Callable[[], LanguageModel]]:
        """For each seed what makes its decoder as it is now."""
        return [lambda: self.decoder]

    def each(self, done: Dispatched) -> list[Dispatched]:
        """What a dispatch did, for each seed."""
        return [done]

    def _dispatch(self, state: TrainState, batches: Batch) -> tuple[TrainState, Metrics]:
        return self.program.dispatch(state, batches)

    def _require_finite(self, first: int, metrics: Metrics) -> None:
        require_finite(first, metrics)


def require_vocabulary(config: TrainConfig, tokenizer: Tokenizer) -> None:
    """Refuse a decoder of another vocabulary than the tokenizer's."""
    if config.decoder.vocab_size != tokenizer.vocab_size:
        got = f"{tokenizer.vocab_size} ids of {tokenizer.identity.version}"
        raise InputError("tokenizer", expected=f"{config.decoder.vocab_size} ids (decoder.vocab_size)", got=got)


def require_finite(first: int, metrics: Metrics, index: int = 0) -> None:
    """Refuse metrics, made after `first` steps, of which one is not as it should be; the first such is named.

    `index` says which seed's they are, of several.
    """
    good = metrics.loss_finite & metrics.gradients_finite & metrics.tokens_in_range
    if good.all():
        return
    bad = int(np.argmin(good))
    loss, norm = float(metrics.loss[bad]), float(metrics.gradient_norm[bad])
    problem = f"loss {loss:g}, gradient norm {norm:g}"
    if not metrics.tokens_in_range[bad]:
        problem += ", token ids out of range"
    raise StepFailed(first + bad + 1, problem, "a lower learning rate or a longer warm-up may help", index)
