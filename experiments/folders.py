"""A result folder appears whole or not at all, and takes the place of an earlier result only: never of other files.

A run writes into a hidden folder beside its target and is renamed at the end. What a killed run left there is removed
by the next one; a result that was being replaced when the power went is put back.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from contracts.errors import InputError

_OURS = re.compile(
    r"(rows\.jsonl|manifest\.json|specification\.json|(table|report|survivors)\.md|figure[\w-]*\.(png|svg))"
)


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """A temporary folder that becomes `folder` when the block ends without an error.

    Raises `InputError`, before and after the block, where `folder` holds anything but an earlier result.
    """
    folder = Path(os.path.realpath(folder))
    check_replaceable(folder)
    created = _make_parents(folder)
    partial = folder.with_name(f".{folder.name}-{os.getpid()}-partial")
    done = False
    try:
        _clear_leftovers(folder)
        partial.mkdir()
        yield partial
        check_replaceable(folder)
        _swap(partial, folder)
        done = True
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        for parent in [] if done else created:
            if not any(parent.iterdir()):
                parent.rmdir()


def check_replaceable(folder: Path) -> None:
    """Refuse a file, the current folder, and a folder that holds anything that no run of ours wrote."""
    folder = Path(os.path.realpath(folder))
    try:
        is_folder, exists = folder.is_dir(), folder.exists()
        problem = ""
        if exists and not is_folder:
            problem = f"the file {folder}"
        elif Path.cwd().is_relative_to(folder):
            problem = f"{folder}, where this command runs"
        elif is_folder and not is_result(folder):
            problem = f"{folder}, which holds other files"
        elif not os.access(_nearest(folder.parent), os.W_OK | os.X_OK):
            problem = f"{folder}, where nothing can be written"
    except OSError as error:
        problem = f"{folder} ({error.strerror})"
    if problem:
        raise InputError(
            "output folder",
            expected="a new folder or an earlier result",
            got=problem,
            hint="choose another --out; nothing was changed",
        )


def is_result(folder: Path) -> bool:
    """Whether `folder` is empty, or an earlier result and nothing else: every name is one that a run writes."""
    entries = list(folder.iterdir())
    if not entries:
        return True
    for entry in entries:
        if entry.is_symlink() or not (entry.is_dir() or _OURS.fullmatch(entry.name)):
            return False
    below = [entry for entry in entries if entry.is_dir()]
    return (_has_our_manifest(folder) or bool(below)) and all(any(b.iterdir()) and is_result(b) for b in below)


def _has_our_manifest(folder: Path) -> bool:
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and "decision_rule" in manifest


def _nearest(folder: Path) -> Path:
    """`folder`, or the closest folder above it that exists."""
    return folder if folder.exists() else _nearest(folder.parent)


def _make_parents(folder: Path) -> list[Path]:
    """Make the missing parents of `folder`; the ones that were made, deepest first."""
    missing = [parent for parent in folder.parents if not parent.exists()]
    folder.parent.mkdir(parents=True, exist_ok=True)
    return missing


def _swap(partial: Path, folder: Path) -> None:
    if not folder.exists():
        os.replace(partial, folder)
        return
    aside = folder.with_name(f".{folder.name}-{os.getpid()}-old")
    os.replace(folder, aside)
    try:
        os.replace(partial, folder)
    except BaseException:
        os.replace(aside, folder)
        raise
    shutil.rmtree(aside)


def _clear_leftovers(folder: Path) -> None:
    """Remove what runs that no longer live left beside `folder`, and put back a result caught between two renames."""
    for leftover in folder.parent.glob(f".{folder.name}-*"):
        match = re.fullmatch(rf"\.{re.escape(folder.name)}-(\d+)-(partial|old)", leftover.name)
        if match is None or _lives(int(match[1])):
            continue
        if match[2] == "old" and not folder.exists():
            os.replace(leftover, folder)
        else:
            shutil.rmtree(leftover, ignore_errors=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
