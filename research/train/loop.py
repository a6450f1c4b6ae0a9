"""The loop: batches to the device, metrics back, and nothing else. What is kept and shown is for its caller.

A batch is a pure function of the step, so that training goes on from any state as if it had never stopped.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
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
from research.train.mesh import data_mesh, everywhere, require_divisible, shardings, split_rows
from research.train.optimizer import adamw
from research.train.step import Metrics, TrainState, make_dispatch, make_train_step

MakeDecoder = Callable[..., Any]
"""`make(config, rngs=rngs)`: a `LanguageModel` that is an `nnx.Module`, such as `Decoder`"""


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
        self.config, self.tokenizer, self.make = config, tokenizer, make
        self.mesh = data_mesh() if mesh is None else mesh
        require_divisible(config.batch_size // config.accumulate, self.mesh)
        self.rows = Rows(stream, tokenizer, config.policy, config.batch_size, config.length)
        self.graph = nnx.split(nnx.eval_shape(lambda: make(config.decoder, rngs=nnx.Rngs(0))))[0]
        self.abstract_state = jax.eval_shape(self._first_state)
        self.shardings = shardings(self.abstract_state, self.mesh)
        step = make_train_step(config, self.graph, tokenizer.token_byte_lengths)
        self._dispatch = make_dispatch(step, out_shardings=(self.shardings, everywhere(self.mesh)))
        self._state: TrainState | None = None

    @property
    def state(self) -> TrainState:
        """The state as it is; the first one, if nothing was restored."""
        if self._state is None:
            self._state = jax.jit(self._first_state, out_shardings=self.shardings)()
        return self._state

    @state.setter
    def state(self, state: TrainState) -> None:
        self._state = state

    @property
    def decoder(self) -> LanguageModel:
        """The decoder of the state as it is now."""
        return nnx.merge(self.graph, self.state.params)

    def dispatches(self) -> Iterator[Dispatched]:
        """Train from where the state stands to the last step; each item is a dispatch that is done.

        Raises:
            StepFailed: for a loss or gradients that are not finite; the state is then of no use.
        """
        first = int(self.state.step)
        upcoming = self.batches(first, self.config.next_stop(first)) if first < self.config.steps else None
        while upcoming is not None:
            stop = self.config.next_stop(first)
            self.state, metrics = self._dispatch(self.state, upcoming)
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

    def _first_state(self) -> TrainState:
        params = nnx.split(self.make(self.config.decoder, rngs=nnx.Rngs(self.config.seed)))[1]
        return TrainState(params, adamw(self.config).init(params), jnp.int32(0))


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
