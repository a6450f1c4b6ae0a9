"""A corpus in parts that can be counted anywhere: cut where the pattern allows it, so that the sums are equal.

file   |........|........|........|....     every 4 MB there may be a cut; each part finds its two ends itself,
parts  [.......)[........)[.......)[...)    by the same rule as its neighbours, and reads nothing else
"""

import codecs
import gzip
import io
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO

import numpy as np

from contracts.errors import InputError
from research.text.documents import read_documents, source_files
from research.tokenizers.pretokenize import Pretokenizer
from research.tokenizers.text import utf8

SIZE = 1 << 22
"""4 MB: some 15 ms of counting, against 1 ms to add up its counts. Of larger parts the memory is taken from the system
anew for each, at a quarter of the time."""

_WINDOW, _MEGABYTE = 1 << 12, 1 << 20
_UNREADABLE = (OSError, EOFError, zlib.error)


@dataclass(frozen=True)
class Texts:
    """Texts that travel with the part."""

    data: tuple[bytes, ...]
    """valid UTF-8"""

    @property
    def size(self) -> int:
        """Bytes, for the progress bar."""
        return sum(map(len, self.data))

    carried = size

    def texts(self, pretokenizer: Pretokenizer) -> list[np.ndarray]:
        """uint8 arrays, each valid UTF-8."""
        return [np.frombuffer(data, np.uint8) for data in self.data]


@dataclass(frozen=True)
class FileRange:
    """From the last cut before `begin` to the last one before `end`; whoever counts it reads the file."""

    path: str
    begin: int
    end: int
    is_last: bool

    @property
    def size(self) -> int:
        """Bytes, for the progress bar."""
        return self.end - self.begin

    carried = 0

    def texts(self, pretokenizer: Pretokenizer) -> list[np.ndarray]:
        """One uint8 array, valid UTF-8. Raises `InputError` for a file that can't be read or is not UTF-8."""
        try:
            with open(self.path, "rb") as file:
                begin = last_cut(file, self.begin, self.path, pretokenizer)
                end = self.end if self.is_last else last_cut(file, self.end, self.path, pretokenizer)
                data = _array(file, begin, end)
        except OSError as error:
            raise _unreadable(self.path, error) from None
        if len(data) < end - begin:
            raise InputError(self.path, expected=f"a file of {end} bytes", got=f"one of {begin + len(data)}")
        _require_utf8(data, begin, self.path)
        return [data]


Part = Texts | FileRange


def parts_of_documents(documents: Iterable[str], size: int | None = None) -> Iterator[Part]:
    """Documents, some megabytes at a time. Raises `InputError` for one that is not Unicode, with its number."""
    size = size or SIZE
    data: list[bytes] = []
    held = 0
    for index, document in enumerate(documents):
        data.append(utf8(document, what=f"document {index}"))
        held += len(data[-1])
        if held >= size:
            yield Texts(tuple(data))
            data, held = [], 0
    if data:
        yield Texts(tuple(data))


def parts_of_files(
    paths: Sequence[str | PathLike[str]],
    pretokenizer: Pretokenizer,
    separator: str | None = None,
    field: str = "text",
    size: int | None = None,
) -> Iterator[Part]:
    """The documents that `read_documents` finds in the same files, in the same order."""
    size = size or SIZE
    for file in [file for path in paths for file in source_files(path)]:
        name = file.name.lower()
        if separator is not None or name.endswith((".jsonl", ".jsonl.gz", ".parquet")):
            texts = (document.text for document in read_documents(file, separator=separator, field=field))
            yield from parts_of_documents(texts, size)
        elif name.endswith(".gz") or not size_on_disk(file):
            yield from _streamed(file, pretokenizer, size)
        else:
            yield from _ranges(file, pretokenizer, size)


def plain_size(paths: Sequence[str | PathLike[str]]) -> int | None:
    """The bytes of all files, if that is the bytes of their text: none is packed, has fields or is a pipe."""
    files = [file for path in paths for file in source_files(path)]
    if any(file.name.lower().endswith((".gz", ".jsonl", ".parquet")) for file in files):
        return None
    sizes = [size_on_disk(file) for file in files]
    return None if None in sizes else sum(size or 0 for size in sizes)


def size_on_disk(file: Path) -> int | None:
    """The bytes of a file; `None` for a pipe or a device, which ends where it ends.

    What the system makes up while it is read (/proc) says 0.
    """
    found = file.stat()
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def lies_in(path: str | PathLike[str], paths: Iterable[str | PathLike[str]]) -> str | None:
    """Which of `paths` `path` is, or lies in, or is read by; `None` if it is no part of them."""
    own = Path(path).resolve()
    for given in paths:
        root = Path(given).resolve()
        if own == root or root in own.parents or own in [file.resolve() for file in source_files(given)]:
            return str(given)
    return None


def _ranges(file: Path, pretokenizer: Pretokenizer, size: int) -> Iterator[Part]:
    length = file.stat().st_size
    step = size if _can_be_cut(pretokenizer) else max(length, 1)
    for begin in range(0, length, step):
        end = min(begin + step, length)
        yield FileRange(str(file), begin, end, is_last=end == length)


def _streamed(path: Path, pretokenizer: Pretokenizer, size: int) -> Iterator[Part]:
    """A packed text or a pipe can't be entered in its middle, so that its parts are read here."""
    rest, offset = b"", 0
    try:
        with gzip.open(path) if path.name.lower().endswith(".gz") else open(path, "rb") as file:
            while more := file.read(size if _can_be_cut(pretokenizer) else -1):
                rest += more
                cut = last_cut(io.BytesIO(rest), len(rest), str(path), pretokenizer, offset)
                if cut:
                    yield _checked(rest[:cut], offset, path)
                    rest, offset = rest[cut:], offset + cut
    except _UNREADABLE as error:
        raise _unreadable(str(path), error) from None
    if rest:
        yield _checked(rest, offset, path)


def _checked(data: bytes, offset: int, path: Path) -> Texts:
    _require_utf8(np.frombuffer(data, np.uint8), offset, str(path))
    return Texts((data,))


def last_cut(file: IO[bytes], end: int, path: str, pretokenizer: Pretokenizer, offset: int = 0) -> int:
    """The last place before `end` at which `file` may be cut in two; 0 if there is none.

    Looked for in ever larger windows. Raises `InputError` for what is not UTF-8; `offset` is where `file` begins in
    the whole of `path`.
    """
    from research.tokenizers.kernels import pages

    window = _WINDOW
    while end > 0:
        begin = max(0, end - window)
        data = _read(file, begin, end)
        skipped = next((index for index, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 4) if begin else 0
        whole = _whole_characters(data[skipped:], offset + begin + skipped, path)
        cut = pages.last_cut(np.frombuffer(whole, np.uint8), len(whole), pretokenizer)
        if cut:
            return begin + skipped + cut
        if begin == 0:
            break
        window *= 4
    return 0


def _whole_characters(data: bytes, offset: int, path: str) -> bytes:
    """Without a character at the end that is not all there."""
    try:
        return data[: codecs.utf_8_decode(data, "strict", False)[1]]
    except UnicodeDecodeError:
        _require_utf8(np.frombuffer(data, np.uint8), offset, path)
        raise


def _can_be_cut(pretokenizer: Pretokenizer) -> bool:
    from research.tokenizers.kernels.patterns import scanned

    pattern = scanned(pretokenizer)
    return pattern is not None and bool(pattern.cuts.any())


def _read(file: IO[bytes], begin: int, end: int) -> bytes:
    file.seek(begin)
    return file.read(end - begin)


def _array(file: IO[bytes], begin: int, end: int) -> np.ndarray:
    """The bytes there, as far as the file goes.

    Parts are a little more or less than 4 MB; in memory all are 5. Blocks of ever other sizes never fit where an
    earlier one was: a process that had counted 2 GB held 1 GB that it had freed.
    """
    megabytes = (end - begin + _MEGABYTE // 2) // _MEGABYTE + 1
    buffer = np.empty(megabytes * _MEGABYTE, np.uint8)[: end - begin]
    file.seek(begin)
    data = buffer[: file.readinto(buffer)]  # type: ignore[attr-defined]
    data.flags.writeable = False
    return data


def _require_utf8(data: np.ndarray, offset: int, path: str) -> None:
    from research.tokenizers.kernels.utf8 import is_utf8

    if is_utf8(data):
        return
    try:
        data.tobytes().decode()
    except UnicodeDecodeError as error:
        raise InputError(
            "text",
            expected="UTF-8",
            got=f"byte 0x{data[error.start]:02x} ({error.reason})",
            where=f"{path}, byte offset {offset + error.start}",
            hint="convert the file to UTF-8, or leave it out",
        ) from None


def _unreadable(path: str, error: BaseException) -> InputError:
    got = getattr(error, "strerror", None) or str(error)
    return InputError(path, expected="a readable file", got=got)
