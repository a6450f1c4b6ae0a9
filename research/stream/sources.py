"""The files that a corpus is read from: found, named without the path of a machine, and hashed."""

import os
import stat
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import InputError
from contracts.stream import SourceFile
from research.progress import progress
from research.stream.manifest import file_sha256
from research.text import source_files

PACKED = (".gz", ".jsonl", ".parquet")


@dataclass
class Source:
    """A source as it was when it was hashed."""

    path: Path
    stated: SourceFile
    stamp: tuple[int, int, int]
    """size, time of the last change, and time of the last change of anything about it, which nobody can set back"""

    def require_unchanged(self) -> None:
        """Refuse a file that was written to since: its digest speaks of another text."""
        try:
            stamp = _stamp(self.path)
            # Its mode or its names may have changed alone, for which no build has to begin anew.
            if stamp != self.stamp and stamp[:2] == self.stamp[:2] and file_sha256(self.path) == self.stated.sha256:
                self.stamp = stamp
        except OSError as error:
            raise InputError(str(self.path), expected="the file as it was hashed", got=str(error.strerror)) from None
        if stamp != self.stamp:
            hint = "build the corpus again when nobody writes to its sources"
            raise InputError(str(self.path), expected="the file as it was hashed", got="a changed one", hint=hint)


def read_sources(paths: Sequence[str | os.PathLike[str]]) -> list[Source]:
    """The files at `paths` in the order in which they are read, hashed. Raises `InputError` for none or one twice."""
    found = [(file, _name(file, Path(path))) for path in paths for file in source_files(path)]
    if not found:
        raise InputError("corpus", expected="at least one file or folder", got="none")
    times = Counter(os.path.realpath(file) for file, _ in found)
    twice = next((file for file, _ in found if times[os.path.realpath(file)] > 1), None)
    if twice is not None:
        hint = "its text would count twice; name it, or the folder that it is in, once"
        raise InputError(str(twice), expected="each file once", got="the same file again", hint=hint)
    sources = []
    try:
        with progress("hashing sources", total=sum(_stamp(file)[0] for file, _ in found), unit="bytes") as bar:
            for file, name in found:
                stamp = _stamp(file)
                sources.append(Source(file, SourceFile(name, stamp[0], file_sha256(file, bar)), stamp))
    except OSError as error:
        raise InputError(str(error.filename), expected="a readable file", got=str(error.strerror)) from None
    return sources


def require_outside(folder: Path, paths: Sequence[str | os.PathLike[str]]) -> None:
    """Refuse a corpus inside of a folder that it is read from: the next build would read it as text."""
    for path in paths:
        if os.path.isdir(path) and Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(path)):
            got, hint = f"{folder}, inside of it", "choose a folder elsewhere: what is in it is read as text"
            raise InputError("corpus folder", expected=f"one outside of the source {path}", got=got, hint=hint)


def plain_bytes(sources: Sequence[Source]) -> int | None:
    """The bytes of all sources, if they are plain text, so that their size is the size of their text."""
    if any(source.path.name.lower().endswith(PACKED) for source in sources):
        return None
    return sum(source.stated.bytes for source in sources)


def _name(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix() if root.is_dir() else file.name


def _stamp(file: Path) -> tuple[int, int, int]:
    status = file.stat()
    if not stat.S_ISREG(status.st_mode):
        hint = "it is read more than once: write what comes from it to a file"
        raise InputError(str(file), expected="a file", got="a pipe or a device", hint=hint)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns
