"""How far an unfinished corpus is good, and by whom it is held: what decides where a build goes on."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from contracts.errors import InputError
from contracts.stream import CorpusRecipe, StreamCounts
from research.stream.encode import NO_DOCUMENTS
from research.stream.manifest import RECIPE, parse_recipe, read_json, require_recipe, write_json
from research.stream.store import SPLITS, TOKENIZER, stream_files

Parsed = TypeVar("Parsed")

LOCK = ".lock"
JOURNAL = "journal.json"


@dataclass(frozen=True)
class Begun:
    """How much of the text of a long document is in the stream of its split, behind all whole documents."""

    split: str
    bytes: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class Journal:
    """What is committed: everything before this document of this source, counted by split, and perhaps a part of it."""

    source: int = 0
    document: int = 0
    train: StreamCounts = NO_DOCUMENTS
    validation: StreamCounts = NO_DOCUMENTS
    begun: Begun | None = None
    """of this document; a journal without it is one from before documents were committed in parts"""


def begin_or_continue(folder: Path, recipe: CorpusRecipe) -> Journal:
    """The journal of the unfinished corpus in `folder`, or a new one where the folder is empty.

    Raises `InputError` for an unfinished corpus of another recipe, a folder with something else in it, and a journal
    that is no journal.
    """
    if not (folder / RECIPE).exists():
        strangers = sorted(file.name for file in folder.iterdir() if not _is_passing(file))
        if strangers:
            raise InputError(str(folder), expected="a new or empty folder, or a corpus", got=f"{strangers[0]} in it")
        write_json(folder / RECIPE, asdict(recipe))
    require_recipe(recipe, _read(folder / RECIPE, parse_recipe), folder)
    return _read(folder / JOURNAL, _parse) if (folder / JOURNAL).exists() else Journal()


def write_journal(folder: Path, journal: Journal) -> None:
    """Say how far the files are good; call when they are committed that far."""
    write_json(folder / JOURNAL, asdict(journal))


def forget_journal(folder: Path) -> None:
    """Remove what only an unfinished corpus has."""
    for file in folder.iterdir():
        if file.name in (RECIPE, JOURNAL) or (_is_passing(file) and file.name != LOCK):
            file.unlink()


def discard(folder: Path) -> None:
    """Remove all that a build has written; first what says that any of it is good, or a kill would leave that alone."""
    for file in (
        folder / JOURNAL,
        folder / TOKENIZER,
        *(file for name in SPLITS for file in stream_files(folder, name)),
    ):
        file.unlink(missing_ok=True)
    forget_journal(folder)


@contextmanager
def only_builder(folder: Path) -> Iterator[None]:
    """Hold `folder`, made if need be, against other processes; the system lets go of it if this one is killed."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / LOCK, "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(str(folder), expected="a folder that no other process writes", got="one in use") from None
        try:
            yield
        finally:
            (folder / LOCK).unlink()
            if not any(folder.iterdir()):
                folder.rmdir()


def _is_passing(file: Path) -> bool:
    """Whether the file is a lock or was being written when a build was killed."""
    return file.name == LOCK or (file.name.startswith(".") and file.name.endswith(".unfinished"))


def _read(path: Path, parse: Callable[[dict[str, Any]], Parsed]) -> Parsed:
    try:
        return parse(read_json(path))
    except (KeyError, TypeError) as error:
        raise InputError(str(path), expected="a file of an unfinished corpus", got=repr(error)) from None


def _parse(data: dict[str, Any]) -> Journal:
    counts = {name: StreamCounts(**data[name]) for name in SPLITS}
    begun = data.get("begun")
    return Journal(**{**data, **counts, "begun": None if begun is None else Begun(**begun)})
