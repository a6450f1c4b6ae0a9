"""What a disk refuses, told in one line: it is full, has a quota, can't be written any more, or is gone.

What was saved before stays as it was, so the line says how to go on.
"""

import errno
import gc
import io
import logging
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path

from contracts.errors import InputError

_STATUS = re.compile(r"(RESOURCE_EXHAUSTED|PERMISSION_DENIED|FAILED_PRECONDITION|UNAVAILABLE|DATA_LOSS|NOT_FOUND): ")
_SECONDS_TO_END = 0.5


@contextmanager
def writing(what: str, run: Path) -> Iterator[None]:
    """Inside, something of the run in the folder `run` is written; `InputError` for what the disk refuses."""
    try:
        yield
    except (OSError, ValueError) as error:
        problem = storage_problem(error)
        if problem is None:
            raise
        hint = f"once it can be written, this goes on from the last checkpoint: bytebound train --resume {run}"
        raise InputError(str(run), expected=f"a disk that takes {what}", got=problem, hint=hint) from None


@contextmanager
def one_voice() -> Iterator[None]:
    """Inside, what threads print and log is held back, and shown only after an error that is not the disk's.

    Each thread of orbax that fails prints a page, and the interpreter one more for each event loop that it leaves.
    """
    said, loggers = io.StringIO(), [logging.getLogger(name) for name in ("absl", "asyncio")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with redirect_stderr(said):
            try:
                yield
            except Exception as error:
                if storage_problem(error) is not None:
                    said = io.StringIO()
                    _let_threads_end()
                raise
    finally:
        sys.stderr.write(said.getvalue())
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _let_threads_end() -> None:
    """Other files are still being written when the first one fails; what fails later complains later."""
    time.sleep(_SECONDS_TO_END)
    gc.collect()  # a future that nobody asked complains when it is forgotten


def require_room(folder: Path, size: int) -> None:
    """Raise the `OSError` of a full disk before `size` bytes are written that it has no room for."""
    if shutil.disk_usage(folder).free < size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fspath(folder))


def storage_problem(error: Exception) -> str | None:
    """What the disk refused, in a few words; none if the error is another one.

    Tensorstore, which writes for orbax, raises a `ValueError` that begins with a status and ends with the system's
    error number in brackets. XLA uses the same statuses, in a `RuntimeError`, of the memory of a device.
    """
    if isinstance(error, OSError):
        return error.strerror or str(error)
    status = _STATUS.match(str(error)) if isinstance(error, ValueError) else None
    if status is None:
        return None
    number = re.search(r"\[os_error_code='(\d+)'\]", str(error))
    return os.strerror(int(number[1])) if number else status[1]
