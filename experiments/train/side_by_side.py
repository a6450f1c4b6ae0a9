"""Runs side by side, each in a process of one core, and the same bits as alone on one core.

Small decoders don't fill two cores; two of them do. One display shows the progress of all, and one Ctrl-C stops all
after what they are at, which is saved.
"""

import contextlib
import io
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from contracts.errors import InputError
from experiments.ablation.pool import become_one_core, cores, interrupts_held_back
from research.progress import Progress, progress

_SPAWN = multiprocessing.get_context("spawn")


@dataclass(eq=False)
class _Child:
    """A run in training, and what it said last."""

    folder: Path
    process: Any
    pipe: Connection
    core: int
    step: int
    refusal: InputError | None = None


def train_side_by_side(folders: Sequence[Path], corpus: Path, go_on: str) -> None:
    """Train the runs that were begun in `folders`, as many at a time as there are cores.

    A signal stops them after their dispatch; what they did is saved, and `go_on` is told as the command to go on by.

    Raises:
        InputError: for runs that did not come to their end, when the others have.
    """
    from research.train.run import last_step, read_run_manifest

    steps = {folder: read_run_manifest(folder).config.steps for folder in folders}
    done = {folder: last_step(folder) for folder in folders}
    waiting = [folder for folder in folders if done[folder] < steps[folder]]
    free = cores()
    running: list[_Child] = []
    refusals: dict[Path, InputError] = {}
    with (
        tempfile.TemporaryDirectory() as compiled,
        progress(f"training {len(folders)} seeds", total=sum(steps.values())) as bar,
    ):
        bar.skip(sum(done.values()))
        try:
            while waiting or running:
                while waiting and free:
                    folder = waiting.pop(0)
                    running.append(_start(folder, corpus, free.pop(), done[folder], compiled))
                for child in _heard(running, bar):
                    running.remove(child)
                    free.append(child.core)
                    if child.refusal is not None:
                        refusals[child.folder] = child.refusal
        except BaseException:
            _stop(running)
            stopped = ", ".join(f"{folder.name} after step {last_step(folder):,}" for folder in folders)
            print(f"stopped, and saved: {stopped}; go on with: {go_on}", file=sys.stderr, flush=True)
            raise
    if refusals:
        raise refused(folders, refusals)


def refused(folders: Sequence[Path], refusals: Mapping[Path, InputError]) -> InputError:
    """What is told when some of the runs did not come to their end, and the others did."""
    told = "; and ".join(f"{folder.name}: {refusal}" for folder, refusal in refusals.items())
    rest = [folder.name for folder in folders if folder not in refusals]
    hint = f"trained to the end: {', '.join(rest)}" if rest else "none is trained to its end"
    return InputError(str(folders[0].parent), expected="every seed trained to its end", got=told, hint=hint)


def _start(folder: Path, corpus: Path, core: int, step: int, compiled: str) -> _Child:
    ours, theirs = _SPAWN.Pipe(duplex=False)
    process = _SPAWN.Process(target=_train, args=(os.fspath(folder), os.fspath(corpus), core, compiled, theirs))
    with interrupts_held_back():
        process.start()
    theirs.close()
    return _Child(folder, process, ours, core, step)


def _heard(running: Sequence[_Child], bar: Progress) -> list[_Child]:
    """Wait until one of them says something; those that have ended."""
    by_pipe: dict[Any, _Child] = {child.pipe: child for child in running}
    ended = []
    for pipe in wait(list(by_pipe)):
        child = by_pipe[pipe]
        try:
            said = child.pipe.recv()
        except EOFError:
            child.process.join()
            if child.process.exitcode and child.refusal is None:
                got = f"an end with exit code {child.process.exitcode}"
                child.refusal = InputError("process", expected="training to the end", got=got)
            ended.append(child)
            continue
        if isinstance(said, InputError):
            child.refusal = said
        elif "loss" in said:
            bar.note = f"{child.folder.name}: loss {said['loss']:.3f}, {said['bits_per_byte']:.3f} bits per byte"
            bar.advance(said["step"] - child.step)
            child.step = said["step"]
    return ended


def _stop(running: Sequence[_Child]) -> None:
    """Ask all to save and end, and wait for it; at another signal end them at once."""
    try:
        for child in running:
            child.process.terminate()
        for child in running:
            child.process.join()
    except BaseException:
        for child in running:
            child.process.kill()
        raise


def _train(folder: str, corpus: str, core: int, compiled: str, pipe: Connection) -> None:
    """The child: SIGTERM makes it save, and Ctrl-C is the parent's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    become_one_core(core, compiled)
    from research.train import resume

    try:
        with contextlib.redirect_stderr(io.StringIO()):  # the parent says where all of them stand
            resume(folder, corpus, watch=[pipe.send])
    except InputError as refusal:
        pipe.send(refusal)
    except Exception as error:
        traceback.print_exc()
        pipe.send(InputError("process", expected="training to the end", got=repr(error)))


def _end_with_parent() -> None:
    """A parent that was killed leaves nobody behind; what was trained so far is saved."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
