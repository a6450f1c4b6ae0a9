"""What is kept of a training in its folder: the logs, the scores of held-out text, the checkpoints.

Of several processes all compute, and the first one writes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
from jax.sharding import Mesh

from contracts.decoder import LanguageModel
from contracts.evaluation import ContextPolicy
from research.evaluate import evaluate
from research.evaluate.score import window_nats
from research.stream import StoredCorpus
from research.train.checkpoint import discard_after, discard_all_but, load_state, manifest_of, save_checkpoint
from research.train.log import StepLog
from research.train.loop import Dispatched
from research.train.mesh import everywhere, rows_over
from research.train.processes import all_or_none, is_first, wait
from research.train.program import Program
from research.train.run import CHECKPOINTS, EVALUATIONS, METRICS, RunManifest, checked_checkpoint
from research.train.step import TrainState

Watch = Callable[[Mapping[str, Any]], object]
"""is called with each line of a log"""

_LOGGED = ("loss", "bits_per_byte", "gradient_norm", "learning_rate")


class Keeper:
    """The files of one run."""

    def __init__(self, folder: Path, manifest: RunManifest, corpus: StoredCorpus, watch: Sequence[Watch] = ()) -> None:
        self.folder, self.manifest, self.corpus, self.watch = folder, manifest, corpus, watch
        self.config = manifest.config
        self._logs: tuple[StepLog, ...] = ()

    def forget_after(self, step: int) -> None:
        """Remove the checkpoints beyond `step`, if training goes on from there."""
        if is_first():
            discard_after(self.folder / CHECKPOINTS, step)
        wait("newer checkpoints removed")

    def restore(self, step: int, program: Program) -> TrainState:
        """The state after `step` steps, of which there is a checkpoint."""
        with all_or_none():
            path = checked_checkpoint(self.folder, step, program.abstract_state)
        return load_state(path, program.placed_state)

    @contextmanager
    def logs_from(self, step: int) -> Iterator[None]:
        """Inside, the logs are open, and nothing stands in them beyond `step`."""
        if is_first():
            self._logs = tuple(StepLog(self.folder / name, step) for name in (METRICS, EVALUATIONS))
        try:
            yield
        finally:
            for log in self._logs:
                log.close()
            self._logs = ()

    def log(self, done: Dispatched, rate: float, share: float | None) -> None:
        """The lines that are due in a dispatch, made at so many tokens a second."""
        for index, step in enumerate(range(done.first + 1, done.stop + 1)):
            if step % self.config.log_interval == 0 or step == self.config.steps:
                found = {name: float(getattr(done.metrics, name)[index]) for name in _LOGGED}
                self._write(0, {"step": step, **found, "tokens_per_second": rate, "peak_share": share})

    def evaluate_if_due(self, step: int, decoder: Callable[[], LanguageModel], mesh: Mesh) -> None:
        """After so many steps, at its interval and after the last."""
        interval = self.config.evaluation_interval
        is_due = step == self.config.steps or (interval and step % interval == 0)
        if not is_due or not len(self.corpus.validation.starts):
            return
        found = evaluate(
            decoder(),
            self.corpus.validation,
            self.corpus.tokenizer,
            ContextPolicy.like(self.config.policy, self.config.length),
            batch_size=max(1, self.config.batch_size // self.config.accumulate),
            score=scorer(mesh),
        ).ledger
        self._write(1, {"step": step, "bpb_text": found.bpb_text, "bpb_total": found.bpb_total})

    def is_save_due(self, step: int) -> bool:
        """At its interval and after the last step."""
        return step == self.config.steps or step % self.config.checkpoint_interval == 0

    def save(self, step: int, state: TrainState, keep: int | None = None) -> None:
        """A checkpoint, and before it the lines that it counts on; all but the newest `keep` are removed."""
        for log in self._logs:
            log.commit()
        manifest = manifest_of(self.config, self.manifest.tokenizer, state, step)
        save_checkpoint(self.folder / CHECKPOINTS, manifest, state, keep or self.config.keep_checkpoints)

    def discard_oldest(self) -> None:
        """Remove what a `save` that kept more than the config says has spared."""
        if is_first():
            discard_all_but(self.folder / CHECKPOINTS, self.config.keep_checkpoints)

    def _write(self, which: int, line: Mapping[str, Any]) -> None:
        if not self._logs:
            return
        self._logs[which].write(line)
        self._logs[which].flush()
        for watch in self.watch:
            watch(line)


@lru_cache(maxsize=8)
def scorer(mesh: Mesh) -> Callable[..., Any]:
    """`window_nats` with the windows of a batch spread over the devices, and its result known to every process."""
    if mesh.size == 1:
        return window_nats
    compiled = jax.jit(window_nats, out_shardings=everywhere(mesh))

    def score(decoder: Any, *fields: Any) -> jax.Array:
        def place(field: Any) -> jax.Array:
            return jax.make_array_from_callback(field.shape, rows_over(mesh, field.ndim), lambda index: field[index])

        return compiled(decoder, *jax.tree.map(place, fields))

    return score
