"""The parent's side: start the candidates' processes, let them train in turns, and end them whatever happens."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from contracts.errors import InputError
from experiments.speed.training.question import Shape

#: A framework that waits for its turn must not keep a core busy while it waits.
_PATIENT = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}


class Worker:
    """A candidate in its own process."""

    def __init__(self, name: str, shape: Shape, seed: int) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, "-m", "experiments.speed.training.worker", name, json.dumps(asdict(shape)), str(seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
            env={**os.environ, **_PATIENT},
            start_new_session=True,  # Ctrl-C is the parent's to handle
        )

    def ask(self, command: str = "") -> dict[str, Any]:
        """The answer to a command; without one, what the process says once it is ready."""
        pipe = self._process
        assert pipe.stdin is not None
        assert pipe.stdout is not None
        if command:
            pipe.stdin.write(command + "\n")
            pipe.stdin.flush()
        line = pipe.stdout.readline()
        if not line:
            raise InputError(self.name, expected="a training step", got="an ended process; its error stands above")
        return dict(json.loads(line))

    def end(self) -> None:
        """Kill the process; it has nothing to save."""
        self._process.kill()
        self._process.communicate()


@contextmanager
def workers(names: tuple[str, ...], shape: Shape, seed: int) -> Iterator[list[tuple[Worker, dict[str, Any]]]]:
    """The candidates one after another, each with what it said after its first steps, which also compile."""
    started: list[Worker] = []
    try:
        ready = []
        for name in names:
            worker = Worker(name, shape, seed)
            started.append(worker)
            ready.append((worker, worker.ask()))
        yield ready
    finally:
        for worker in started:
            worker.end()
