"""Training into a folder: the loop, and at its dispatches the log, held-out text, checkpoints, and the wish to stop."""

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import cast

from jax.sharding import Mesh

from contracts.errors import InputError
from research.model import Decoder
from research.progress import Progress, progress
from research.stream import StoredCorpus, verify_corpus
from research.stream.journal import only_builder
from research.train.checkpoint import remove_unfinished
from research.train.config import TrainConfig
from research.train.keep import Keeper, Watch
from research.train.loop import Dispatched, StepFailed, Training
from research.train.peak import flops_per_token, matmul_peak
from research.train.processes import all_or_none, is_first, largest, require_equal, wait
from research.train.run import (
    CHECKPOINTS,
    MANIFEST,
    TOKENIZER,
    Run,
    RunManifest,
    changed_versions,
    corpus_of,
    last_step,
    new_manifest,
    read_run_manifest,
    require_same_run,
    write_run_manifest,
)
from research.train.signals import stop_on_request


def train(
    config: TrainConfig,
    corpus: StoredCorpus,
    out: str | os.PathLike[str],
    *,
    mesh: Mesh | None = None,
    peak_flops: float | None = None,
    watch: Sequence[Watch] = (),
) -> Run:
    """Train on the corpus into the folder `out`; if the same run stands there already, go on with it.

    Without a `mesh` all devices of all processes share the work; a checkpoint does not depend on them.
    `peak_flops` is the rate that speed is told against, of all devices together; measured if not given. `watch` are
    called with each line of the logs. A run that is stopped (Ctrl-C, SIGTERM) ends its dispatch and saves before the
    signal takes its course. One that was killed goes on from its newest checkpoint, and ends with the bits of one that
    was not.

    Raises:
        InputError: for a folder with another run or something else in it, or in use by another process; for a corpus
            whose tokenizer is not the decoder's, or whose bytes were changed since it was built; for a checkpoint that
            is damaged or of something else; for rows that the devices can't share; for processes that were started with
            different runs.
        StepFailed: for a loss that is not finite; the newest checkpoint stays.
    """
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(str(folder), expected="a folder", got="a file")
    with all_or_none():
        verify_corpus(corpus)
    training = Training(config, corpus.train, corpus.tokenizer, mesh=mesh)
    manifest = new_manifest(config, corpus, folder)
    with held([folder], [manifest], corpus):
        keeper = Keeper(folder, manifest, corpus, watch)
        first = last_step(folder)
        if first:
            training.state = keeper.restore(first, training.program)
        keep_training(training, [keeper], peak_flops, go_on=f"bytebound train --resume {folder}")
    return Run(config, cast(Decoder, training.decoder), corpus.tokenizer, config.steps, manifest)


def resume(
    folder: str | os.PathLike[str],
    corpus: str | os.PathLike[str] | None = None,
    *,
    mesh: Mesh | None = None,
    peak_flops: float | None = None,
    watch: Sequence[Watch] = (),
) -> Run:
    """Go on with the run in `folder`; `corpus` says where its corpus lies if it was moved."""
    folder = Path(folder)
    with all_or_none():
        manifest = read_run_manifest(folder)
        found = corpus_of(folder, manifest, corpus)
    return train(manifest.config, found, folder, mesh=mesh, peak_flops=peak_flops, watch=watch)


@contextmanager
def held(folders: Sequence[Path], manifests: Sequence[RunManifest], corpus: StoredCorpus) -> Iterator[None]:
    """Inside, the folders are these runs, begun if need be, and nobody else's. Processes agree on what they run."""
    described = [{**asdict(manifest), "corpus": "", "versions": dict(manifest.versions)} for manifest in manifests]
    require_equal("run", described)
    with ExitStack() as locks:
        with all_or_none():
            if is_first():
                for folder, manifest in zip(folders, manifests, strict=True):
                    locks.enter_context(only_builder(folder))
                    begin_or_continue(folder, manifest, corpus)
                    remove_unfinished(folder / CHECKPOINTS)
        wait("folders held")
        yield


def begin_or_continue(folder: Path, manifest: RunManifest, corpus: StoredCorpus) -> None:
    """Make `folder` the run, or see that it is; say how far it is."""
    if (folder / MANIFEST).exists():
        found = read_run_manifest(folder)
        require_same_run(folder, found, manifest)
        say(f"{folder}: goes on after step {last_step(folder):,} of {manifest.config.steps:,}")
        for change in changed_versions(found):
            say(f"{change}: what follows may differ in the last bits")
        return
    strangers = sorted(
        file.name for file in folder.iterdir() if not file.name.startswith(".") and file.name != TOKENIZER
    )
    if strangers:
        raise InputError(str(folder), expected="a new or empty folder, or a run", got=f"{strangers[0]} in it")
    corpus.tokenizer.save(folder / TOKENIZER)
    write_run_manifest(folder, manifest)


def say(message: str) -> None:
    """On standard error, by one process for all."""
    if is_first():
        print(message, file=sys.stderr, flush=True)


def keep_training(training: Training, keepers: Sequence[Keeper], peak_flops: float | None, go_on: str) -> None:
    """From where the state stands to the last step; `keepers` are those of the training's seeds, in order.

    A signal to one process stops all of them after the same step. It takes its course when `stop_on_request` ends.
    """
    config, first = training.config, training.steps_made
    if first == config.steps:
        return
    peak = matmul_peak(config.decoder.compute_dtype) if peak_flops is None else peak_flops
    with stop_on_request() as request, ExitStack() as logs, progress("training", total=config.steps) as bar:
        bar.skip(first)
        for keeper in keepers:
            logs.enter_context(keeper.logs_from(first))
        before = time.perf_counter()
        for done in _dispatches(training, keepers):
            _log(training, keepers, done, time.perf_counter() - before, peak, bar)
            for keeper, decoder in zip(keepers, training.decoders(), strict=True):
                keeper.evaluate_if_due(done.stop, decoder, training.mesh)
            number = largest(request.signal or 0)
            if number or keepers[0].is_save_due(done.stop):
                _save(training, keepers, done.stop)
            if number:
                request.signal = signal.Signals(number)
                if done.stop != config.steps:
                    say(f"stopped after step {done.stop:,} of {config.steps:,}, which is saved; go on with: {go_on}")
                break
            before = time.perf_counter()


def _dispatches(training: Training, keepers: Sequence[Keeper]) -> Iterator[Dispatched]:
    try:
        yield from training.dispatches()
    except StepFailed as failure:
        folder = keepers[failure.index].folder
        raise failure.of_run(folder, last_step(folder)) from None


def _log(
    training: Training, keepers: Sequence[Keeper], done: Dispatched, seconds: float, peak: float, bar: Progress
) -> None:
    config, count = training.config, done.stop - done.first
    rate = count * config.batch_size * config.length / seconds
    share = len(keepers) * rate * flops_per_token(config) / peak if peak else None
    found = training.each(done)
    for keeper, one in zip(keepers, found, strict=True):
        keeper.log(one, rate, share)
    loss, bits = (
        sum(float(getattr(one.metrics, name)[-1]) for one in found) / len(found) for name in ("loss", "bits_per_byte")
    )
    bar.note = f"loss {loss:.3f}, {bits:.3f} bits per byte, {len(keepers) * rate:,.0f} tokens/s"
    bar.note += "" if share is None else f", {100 * share:.0f} % of the matmul peak"
    bar.advance(count)


def _save(training: Training, keepers: Sequence[Keeper], step: int) -> None:
    """Of several seeds each has this step before one loses an older one: there is always a step that all have."""
    spare = len(keepers) > 1
    for keeper, state in zip(keepers, training.states(), strict=True):
        keeper.save(step, state, keeper.config.keep_checkpoints + spare)
    if spare:
        for keeper in keepers:
            keeper.discard_oldest()
