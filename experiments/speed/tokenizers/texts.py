"""The texts of a run: plain files, which every library can read, and their bytes and characters in memory."""

import gzip
import hashlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from contracts.errors import InputError
from contracts.results import Corpus


@dataclass(frozen=True)
class Text:
    """One corpus as a plain file."""

    name: str
    path: Path

    @cached_property
    def data(self) -> bytes:
        """All of it."""
        return self.path.read_bytes()

    @cached_property
    def size(self) -> int:
        """Bytes."""
        return self.path.stat().st_size

    def corpus(self) -> Corpus:
        """Name and digest of the file."""
        with open(self.path, "rb") as file:
            return Corpus(self.name, hashlib.file_digest(file, "sha256").hexdigest(), 1, self.size)


@contextmanager
def plain_texts(paths: Sequence[str], megabytes: float | None) -> Iterator[list[Text]]:
    """The files at `paths`, unpacked, and cut to so many megabytes. Raises `InputError` for what is not UTF-8 text."""
    with TemporaryDirectory() as folder:
        yield [_plain(Path(path), Path(folder) / str(index), megabytes) for index, path in enumerate(paths)]


def repeated(text: Text, times: int, folder: Path) -> Text:
    """The same text so many times over."""
    path = folder / f"{text.name}-{times}"
    with open(path, "wb") as out:
        for _ in range(times):
            out.write(text.data)
    return Text(f"{times} x {text.name}", path)


def _plain(path: Path, plain: Path, megabytes: float | None) -> Text:
    if not path.is_file():
        raise InputError("--corpus", expected="a text file", got=str(path))
    name = path.name.removesuffix(".gz")
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file, open(plain, "wb") as out:
            if megabytes is None:
                shutil.copyfileobj(file, out)
            else:
                data = file.read(int(megabytes * 1e6))
                out.write(data[: data.rfind(b"\n") + 1])
    except (OSError, EOFError) as error:
        raise InputError("--corpus", expected="a readable file", got=f"{path} ({error})") from None
    text = Text(name, plain)
    try:
        text.data.decode()
    except UnicodeDecodeError as error:
        raise InputError("--corpus", expected="UTF-8", got=f"{path}, {error}") from None
    if not text.data:
        raise InputError("--corpus", expected="a text of some lines", got=f"{path}, which is empty")
    return text
