"""Documents of any length: a long one is found and measured in one pass over its file, and read in parts in a second.

What has to be known of a document before its first token is written (that it is UTF-8, how large it is, which SHA-256
it has) takes a pass over all of it. To read it again costs less than to keep it.
"""

import codecs
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import BufferedIOBase
from pathlib import Path

from contracts.errors import InputError
from research.text.documents import (
    CHUNK_BYTES,
    Document,
    decode_utf8,
    fragments,
    is_packed,
    is_plain,
    not_utf8,
    open_unpacked,
    read_documents,
    readable,
    separator_bytes,
)

MOST_BYTES = 1 << 20
"""of a document that is held as a whole: 1 MB"""

PART_BYTES = 1 << 18
"""of a long document that are given at once: 256 KB"""

_DECODED = 1 << 14
"""Bytes that are decoded at once: in the cache, a third of the time of a megabyte. And texts of a megabyte, of ever
other sizes in memory, leave holes that the next one does not fit into: 180 MB after 1 GB, against 10."""


class SecondReader:
    """Reads a file behind the one who reads it first. One handle, that goes forward: packed, it has no other way."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.path, self._stack = path, stack
        self._file: BufferedIOBase | None = None

    def chunks(self, begin: int, end: int, size: int) -> Iterator[bytes]:
        """The bytes from `begin` to `end` of the unpacked file, `size` at a time."""
        with readable(self.path):
            if self._file is None:
                self._file = self._stack.enter_context(open_unpacked(self.path))
            self._file.seek(begin)
            while begin < end:
                chunk = self._file.read(min(size, end - begin))
                if not chunk:
                    got = f"one that ends at byte {begin}"
                    raise InputError(str(self.path), expected=f"a file of at least {end} bytes, as before", got=got)
                yield chunk
                begin += len(chunk)


@dataclass(frozen=True)
class LongDocument:
    """A document that is not held in memory; read it before the next one is asked for."""

    source: str
    index: int
    offset: int
    """of its first byte in the unpacked file"""
    size: int
    """bytes"""
    characters: int
    sha256: str
    """of its UTF-8, in hexadecimal"""
    reader: SecondReader = field(repr=False, compare=False)

    def chunks(self, begin: int = 0) -> Iterator[bytes]:
        """Its UTF-8 from byte `begin` on, `PART_BYTES` at a time, which may cut a character.

        Raises `InputError` for a file that can't be read again, or that has become shorter.
        """
        return self.reader.chunks(self.offset + begin, self.offset + self.size, PART_BYTES)


def read_any_length(
    path: str | os.PathLike[str],
    separator: str | None = None,
    field: str = "text",
    most: int | None = None,
    measuring: Callable[[int], None] = lambda size: None,
) -> Iterator[Document | LongDocument]:
    """The documents of `read_documents` in one file, of which one of more than `most` bytes may be a `LongDocument`.

    So it holds `most` bytes (by default `MOST_BYTES`) and a few megabytes, whatever the length; but a record of JSON
    lines or Parquet is held as a whole. While a long document is measured, `measuring` is told now and then how many
    of its bytes have been. Raises `InputError` as `read_documents` does.
    """
    path, end = Path(path), separator_bytes(separator)
    if not is_plain(path):
        yield from read_documents(path, field=field)
        return
    most = max(2, MOST_BYTES if most is None else most)
    source, index = str(path), 0
    with ExitStack() as stack:
        again = SecondReader(path, stack)
        found = fragments(stack.enter_context(open_unpacked(path)), end, most, CHUNK_BYTES)
        for offset, data, ends in found:
            where = f"{source}, document {index}"
            if ends:
                yield Document(decode_utf8(data, offset, where), source, index)
            else:
                measured = _Measured(offset, where)
                try:
                    measured.add(data)
                    while not ends:
                        _, data, ends = next(found)
                        measured.add(data)
                        measuring(measured.size)
                    measured.finish()
                except InputError:
                    # What a damaged .gz unpacks to may be no UTF-8, but what is wrong with it stands at its end.
                    while not ends and is_packed(path):
                        *_, ends = next(found)
                    raise
                sizes = measured.size, measured.characters, measured.digest.hexdigest()
                yield LongDocument(source, index, offset, *sizes, again)
            index += 1


class _Measured:
    """Counts and hashes a text that comes in chunks, and judges its UTF-8 as if it came at once."""

    def __init__(self, offset: int, where: str) -> None:
        self.offset, self.where = offset, where
        self.size = self.characters = 0
        self.digest = hashlib.sha256()
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        self.digest.update(data)
        for begin in range(0, len(data), _DECODED):
            self._count(data[begin : begin + _DECODED])

    def finish(self) -> None:
        """Refuse a text that ends within a character."""
        self._count(b"", is_last=True)

    def _count(self, data: bytes, is_last: bool = False) -> None:
        begun, _ = self._decoder.getstate()  # of a character, in the bytes before
        try:
            self.characters += len(self._decoder.decode(data, is_last))
        except UnicodeDecodeError as error:
            raise not_utf8(error, self.offset + self.size - len(begun), self.where) from None
        self.size += len(data)
