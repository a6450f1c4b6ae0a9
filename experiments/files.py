"""A file that a command writes: refused before the work if it can't be written, and whole or not there after it."""

import os
from pathlib import Path

from contracts.errors import InputError


def check_writable(path: Path, option: str = "--out") -> None:
    """Refuse, before the work, a path that could not be written after it."""
    problem = ""
    if path.is_dir():
        problem = f"the folder {path}"
    elif not path.parent.is_dir():
        problem = f"{path}, in a folder that does not exist"
    elif not os.access(path.parent, os.W_OK | os.X_OK):
        problem = f"{path}, in a folder that can't be written"
    if problem:
        raise InputError(option, expected="a file that can be written", got=problem)


def write_whole(path: Path, data: bytes) -> None:
    """Write the file beside its place and rename it there; what stood there stays if that fails."""
    partial = path.with_name(f".{path.name}-{os.getpid()}-partial")
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
