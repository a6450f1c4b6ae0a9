"""Training into a folder: the loop, and at its dispatches the log, held-out text, checkpoints, and the wish to stop."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contracts.errors import InputError
from contracts.evaluation import ContextPolicy
from research.evaluate import evaluate
from research.progress import Progress, progress
from research.stream import StoredCorpus
from research.stream.journal import only_builder
from research.train.checkpoint import finished_steps, load_state, manifest_of, remove_unfinished, save_checkpoint
from research.train.config import TrainConfig
from research.train.log import StepLog
from research.train.loop import Dispatched, StepFailed, Training
from research.train.peak import flops_per_token, matmul_peak
from research.train.run import (
    CHECKPOINTS,
    EVALUATIONS,
    MANIFEST,
    METRICS,
    TOKENIZER,
    Run,
    RunManifest,
    changed_versions,
    checked_checkpoint,
    corpus_of,
    last_step,
    new_manifest,
    open_run,
    read_run_manifest,
    require_same_run,
    write_run_manifest,
)
from research.train.signals import StopRequest, stop_on_request

Watch = Callable[[Mapping[str, Any]], object]
"""is called with each line of a log"""


def train(
    config: TrainConfig,
    corpus: StoredCorpus,
    out: str | os.PathLike[str],
    *,
    peak_flops: float | None = None,
    watch: Sequence[Watch] = (),
) -> Run:
    """Train on the corpus into the folder `out`; if the same run stands there already, go on with it.

    `peak_flops` is the rate that speed is told against, of all devices together; measured if not given. `watch` are
    called with each line of the logs. A run that is
    stopped (Ctrl-C, SIGTERM) ends its dispatch and saves before the signal takes its course. One that was killed goes
    on from its newest checkpoint, and ends with the bits of one that was not.

    Raises:
        InputError: for a folder with another run or something else in it, or in use by another process; for a corpus
            whose tokenizer is not the decoder's; for a checkpoint that is damaged or of something else.
        StepFailed: for a loss that is not finite; the newest checkpoint stays.
    """
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(str(folder), expected="a folder", got="a file")
    training = Training(config, corpus.train, corpus.tokenizer)
    with only_builder(folder):
        manifest = new_manifest(config, corpus, folder)
        _begin_or_continue(folder, manifest, corpus)
        _Kept(folder, manifest, training, corpus, peak_flops, watch).run()
    return open_run(folder)


def resume(
    folder: str | os.PathLike[str],
    corpus: str | os.PathLike[str] | None = None,
    *,
    peak_flops: float | None = None,
    watch: Sequence[Watch] = (),
) -> Run:
    """Go on with the run in `folder`; `corpus` says where its corpus lies if it was moved."""
    folder = Path(folder)
    manifest = read_run_manifest(folder)
    return train(manifest.config, corpus_of(folder, manifest, corpus), folder, peak_flops=peak_flops, watch=watch)


def _begin_or_continue(folder: Path, manifest: RunManifest, corpus: StoredCorpus) -> None:
    if (folder / MANIFEST).exists():
        found = read_run_manifest(folder)
        require_same_run(folder, found, manifest)
        _say(f"{folder}: goes on after step {last_step(folder):,} of {manifest.config.steps:,}")
        for change in changed_versions(found):
            _say(f"{change}: what follows may differ in the last bits")
        return
    strangers = sorted(
        file.name for file in folder.iterdir() if not file.name.startswith(".") and file.name != TOKENIZER
    )
    if strangers:
        raise InputError(str(folder), expected="a new or empty folder, or a run", got=f"{strangers[0]} in it")
    corpus.tokenizer.save(folder / TOKENIZER)
    write_run_manifest(folder, manifest)


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


class _Kept:
    """A training whose progress is kept in a folder."""

    def __init__(
        self,
        folder: Path,
        manifest: RunManifest,
        training: Training,
        corpus: StoredCorpus,
        peak_flops: float | None,
        watch: Sequence[Watch],
    ) -> None:
        self.folder, self.manifest, self.training, self.corpus = folder, manifest, training, corpus
        self.config = manifest.config
        self.peak_flops, self.watch = peak_flops, watch

    def run(self) -> None:
        """From the newest checkpoint, or the beginning, to the last step."""
        first = self._restore()
        if first == self.config.steps:
            return
        if self.peak_flops is None:
            self.peak_flops = matmul_peak(self.config.decoder.compute_dtype)
        with (
            stop_on_request() as request,
            self._logs(first) as (metrics, evaluations),
            progress("training", total=self.config.steps - first) as bar,
        ):
            before = time.perf_counter()
            for done in self._dispatches():
                self._log(metrics, done, time.perf_counter() - before, bar)
                self._evaluate_and_save(done.stop, metrics, evaluations, request)
                if request.signal is not None:
                    break
                before = time.perf_counter()
        # a signal that was noted takes its course when `stop_on_request` ends

    def _restore(self) -> int:
        """The step to go on from."""
        checkpoints = self.folder / CHECKPOINTS
        remove_unfinished(checkpoints)
        steps = finished_steps(checkpoints)
        if not steps:
            return 0
        path = checked_checkpoint(self.folder, steps[-1], self.training.program.abstract_state)
        self.training.state = load_state(path, self.training.program.placed_state)
        return steps[-1]

    def _dispatches(self) -> Iterator[Dispatched]:
        try:
            yield from self.training.dispatches()
        except StepFailed as failure:
            raise failure.of_run(self.folder) from None

    @contextmanager
    def _logs(self, step: int) -> Iterator[tuple[StepLog, StepLog]]:
        logs = (StepLog(self.folder / METRICS, step), StepLog(self.folder / EVALUATIONS, step))
        try:
            yield logs
        finally:
            for log in logs:
                log.close()

    def _log(self, log: StepLog, done: Dispatched, seconds: float, bar: Progress) -> None:
        count = done.stop - done.first
        rate = count * self.config.batch_size * self.config.length / seconds
        share = rate * flops_per_token(self.config) / self.peak_flops if self.peak_flops else None
        for index in range(count):
            step = done.first + index + 1
            if step % self.config.log_interval == 0 or step == self.config.steps:
                found = {name: float(getattr(done.metrics, name)[index]) for name in _LOGGED}
                self._write(log, {"step": step, **found, "tokens_per_second": rate, "peak_share": share})
        log.flush()
        loss, bits = (float(getattr(done.metrics, name)[-1]) for name in ("loss", "bits_per_byte"))
        bar.note = f"loss {loss:.3f}, {bits:.3f} bits per byte, {rate:,.0f} tokens/s"
        bar.note += "" if share is None else f", {100 * share:.0f} % of the matmul peak"
        bar.advance(count)

    def _evaluate_and_save(self, step: int, metrics: StepLog, evaluations: StepLog, request: StopRequest) -> None:
        """What is due after `step` steps. A checkpoint comes last: what it counts on is on the disk by then."""
        is_last = step == self.config.steps
        if is_last or (self.config.evaluation_interval and step % self.config.evaluation_interval == 0):
            self._evaluate(step, evaluations)
        if is_last or step % self.config.checkpoint_interval == 0 or request.signal is not None:
            metrics.commit()
            evaluations.commit()
            state = self.training.state
            manifest = manifest_of(self.config, self.manifest.tokenizer, state, step)
            save_checkpoint(self.folder / CHECKPOINTS, manifest, state, self.config.keep_checkpoints)
            if request.signal is not None and not is_last:
                stopped = f"stopped after step {step:,} of {self.config.steps:,}, which is saved"
                _say(f"{stopped}; go on with: bytebound train --resume {self.folder}")

    def _evaluate(self, step: int, log: StepLog) -> None:
        if not len(self.corpus.validation.starts):
            return
        found = evaluate(
            self.training.decoder,
            self.corpus.validation,
            self.corpus.tokenizer,
            ContextPolicy.like(self.config.policy, self.config.length),
            batch_size=max(1, self.config.batch_size // self.config.accumulate),
        ).ledger
        self._write(log, {"step": step, "bpb_text": found.bpb_text, "bpb_total": found.bpb_total})
        log.flush()

    def _write(self, log: StepLog, line: Mapping[str, Any]) -> None:
        log.write(line)
        for watch in self.watch:
            watch(line)


_LOGGED = ("loss", "bits_per_byte", "gradient_norm", "learning_rate")
