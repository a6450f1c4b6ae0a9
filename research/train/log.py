"""Lines of JSON, one a logged step. A kill can cut them but not double or lose one: resuming cuts to the checkpoint."""

import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from contracts.errors import InputError
from research.train.storage import writing


class StepLog:
    """A `.jsonl` file whose lines have ascending steps."""

    def __init__(self, path: Path, last_step: int) -> None:
        """Open the file, made if need be, and cut off what stands behind the line of `last_step`."""
        self.path = path
        self._file = open(path, "a+b")  # noqa: SIM115 - closed by `close`
        self._file.truncate(_length_up_to(path, last_step))

    def write(self, line: Mapping[str, Any]) -> None:
        """Append a line; `step` is the number of steps made. Raises `InputError`, as all here, for a full disk."""
        with self._writing():
            self._file.write((json.dumps(line) + "\n").encode())

    def commit(self) -> None:
        """Return when all lines are on the disk: before a checkpoint counts on them."""
        with self._writing():
            self._file.flush()
            os.fsync(self._file.fileno())

    def flush(self) -> None:
        """Let others read what was written."""
        with self._writing():
            self._file.flush()

    def close(self) -> None:
        """Let go of the file."""
        with self._writing():
            self._file.close()

    def _writing(self) -> AbstractContextManager[None]:
        return writing(f"a line of {self.path.name}", self.path.parent)


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lines of a log; one that is being written is left out. Raises `InputError` for what is no log."""
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
        return [json.loads(line) for line in lines]
    except OSError as error:
        raise InputError(str(path), expected="a readable file", got=str(error.strerror)) from None
    except ValueError as error:
        raise InputError(str(path), expected="a line of JSON for each step", got=str(error)) from None


def _length_up_to(path: Path, last_step: int) -> int:
    """Bytes of the whole lines whose step is not above `last_step`."""
    length = 0
    with open(path, "rb") as file:
        for line in file:
            if not line.endswith(b"\n") or json.loads(line)["step"] > last_step:
                break
            length += len(line)
    return length
