"""Scalars of a run for TensorBoard, beside the log: the extra `tracking`."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contracts.errors import InputError


@contextmanager
def scalars(folder: Path) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """A function that writes each line of a log, by its step, as scalars into `folder`.

    Raises:
        InputError: if the package that writes them is not installed.
    """
    try:
        from tensorboardX import SummaryWriter
    except ImportError:
        hint = "pip install 'bytebound[tracking]'"
        raise InputError("--tensorboard", expected="tensorboardX", got="no such package", hint=hint) from None
    writers: list[Any] = []

    def write(line: Mapping[str, Any]) -> None:
        if not writers:  # what an earlier run wrote beyond this step is hidden
            writers.append(SummaryWriter(str(folder), purge_step=line["step"]))
        for name, value in line.items():
            if name != "step" and value is not None:
                writers[0].add_scalar(name, value, line["step"])

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()
