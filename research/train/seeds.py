"""Seeds of one shape trained in one program, `vmap` over them: for an accelerator that one small decoder leaves idle.

Each seed has a run folder of its own, which is the run of that seed alone but for rounding: a batched product may add
in another order. In float32 the losses of the first 20 steps are equal within 1e-5, relatively.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import jax
import numpy as np
from flax import nnx
from jax.sharding import Mesh

from contracts.batch import Batch
from contracts.decoder import LanguageModel
from contracts.stream import TokenStream
from contracts.tokenizer import Tokenizer
from research.model import Decoder
from research.stream import StoredCorpus, verify_corpus
from research.train.checkpoint import finished_steps
from research.train.config import TrainConfig
from research.train.in_folder import held, keep_training
from research.train.keep import Keeper, Watch
from research.train.loop import Dispatched, Training, require_finite
from research.train.mesh import split_rows
from research.train.processes import all_or_none
from research.train.run import CHECKPOINTS, Run, new_manifest
from research.train.step import MakeDecoder, Metrics, TrainState


class SeedsTraining(Training):
    """Decoders of several seeds under training: their states are one, with an axis of seeds in front."""

    def __init__(
        self,
        config: TrainConfig,
        seeds: Sequence[int],
        stream: TokenStream,
        tokenizer: Tokenizer,
        *,
        make: MakeDecoder = Decoder,
        mesh: Mesh | None = None,
    ) -> None:
        super().__init__(config, stream, tokenizer, make=make, mesh=mesh)
        self.seeds = tuple(seeds)

    @property
    def state(self) -> TrainState:
        """Of all seeds, stacked."""
        if self._state is None:
            self._state = self.program.stack(*(self.program.first_state(seed) for seed in self.seeds))
        return self._state

    @state.setter
    def state(self, state: TrainState) -> None:
        self._state = state

    @property
    def steps_made(self) -> int:
        """How far the states are, which is equally far."""
        return int(np.asarray(self.state.step)[0])

    def batches(self, first: int, stop: int) -> Batch:
        """`[steps, seeds, parts, rows, positions]`: each seed has rows of its own."""
        made = [self.host_batches(seed, first, stop) for seed in self.seeds]
        return split_rows(Batch(*(np.stack(field, axis=1) for field in zip(*made, strict=True))), self.mesh)

    def states(self) -> list[TrainState]:
        """The state of each seed."""
        return [self._of(index) for index in range(len(self.seeds))]

    def decoders(self) -> list[Callable[[], LanguageModel]]:
        """For each seed what makes its decoder as it is now."""
        return [
            lambda index=index: nnx.merge(self.program.graph, self._of(index).params)  # type: ignore[misc]
            for index in range(len(self.seeds))
        ]

    def each(self, done: Dispatched) -> list[Dispatched]:
        """What a dispatch did, for each seed."""
        return [
            done._replace(metrics=jax.tree.map(lambda field, index=index: field[:, index], done.metrics))
            for index in range(len(self.seeds))
        ]

    def _of(self, index: int) -> TrainState:
        return jax.tree.map(lambda array: array[index], self.state)

    def _dispatch(self, state: TrainState, batches: Batch) -> tuple[TrainState, Metrics]:
        return self.program.dispatch_seeds(state, batches)

    def _require_finite(self, first: int, metrics: Metrics) -> None:
        for index in range(len(self.seeds)):
            require_finite(first, jax.tree.map(lambda field, index=index: field[:, index], metrics), index)


def train_seeds(
    config: TrainConfig,
    corpus: StoredCorpus,
    folders: Sequence[str | os.PathLike[str]],
    *,
    mesh: Mesh | None = None,
    peak_flops: float | None = None,
    watch: Sequence[Watch] = (),
    go_on: str = "",
) -> list[Run]:
    """Train the config under its seed and those that follow it, one a folder, all in one program.

    They go on, where there are checkpoints, from the newest step that all of them have. `go_on` is the command that is
    told to whoever stops them.

    Raises:
        InputError: as `research.train.train` does, for any of the folders.
        StepFailed: for a loss that is not finite under one of the seeds, which ends all; the folder it names is its.
    """
    places = [Path(folder) for folder in folders]
    configs = [replace(config, seed=config.seed + index) for index in range(len(places))]
    with all_or_none():
        verify_corpus(corpus)
    training = SeedsTraining(config, [each.seed for each in configs], corpus.train, corpus.tokenizer, mesh=mesh)
    manifests = [new_manifest(each, corpus, place) for each, place in zip(configs, places, strict=True)]
    with held(places, manifests, corpus):
        keepers = [Keeper(place, manifest, corpus, watch) for place, manifest in zip(places, manifests, strict=True)]
        step = common_step(places)
        for keeper in keepers:
            keeper.forget_after(step)
        if step:
            training.state = training.program.stack(*(keeper.restore(step, training.program) for keeper in keepers))
        keep_training(training, keepers, peak_flops, go_on)
    return [
        Run(each, cast(Decoder, decoder()), corpus.tokenizer, each.steps, manifest)
        for each, decoder, manifest in zip(configs, training.decoders(), manifests, strict=True)
    ]


def common_step(folders: Sequence[Path]) -> int:
    """The newest step of which every folder has a checkpoint, 0 if there is none."""
    return max(set.intersection(*(set(finished_steps(folder / CHECKPOINTS)) for folder in folders)), default=0)
