"""Reading documents: files, folders, `.gz`, `.jsonl` and `.parquet` become a stream of texts that know their source.

Text is split as bytes, before decoding (UTF-8 allows it), so a bad byte is reported at its offset in the file and a
file of any size is read in the memory of its longest document; `long.py` reads documents of any length.
"""

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path

from contracts.errors import InputError
from research.text.parquet import parquet_values

CHUNK_BYTES = 1 << 20
_PACKED = (".tar.gz", ".tar", ".tgz", ".zip", ".7z", ".bz2", ".xz", ".zst")


@dataclass(frozen=True, slots=True)
class Document:
    """A text and where it came from: `index` counts the documents of `source`, from 0."""

    text: str
    source: str
    index: int


def read_documents(
    *paths: str | os.PathLike[str], separator: str | None = None, per_line: bool = False, field: str = "text"
) -> Iterator[Document]:
    """The documents of files and folders, in the order given; a folder's files sorted by name, subfolders included.

    - `.jsonl`, `.jsonl.gz`: a document is the string `field` of one line. Blank lines are not documents.
    - `.parquet`: a document is one row of the column `field` (needs the extra `data`).
    - Anything else is UTF-8 text, unpacked first if it ends in `.gz`: one document a file, or, with `separator`, one
      for each piece between separators; `per_line` is the separator "\\n". A last piece that is empty, or a mere
      line end, is not a document.

    Nothing is normalised: CRLF stays CRLF (under `per_line` the CR belongs to its line), a byte order mark stays
    U+FEFF. A folder's hidden files and linked folders are left out; every other file is part of the corpus, and one
    that is not text is refused rather than skipped.

    Raises:
        InputError: at the call, for a missing path, an empty folder, an archive, contradicting arguments; while
            reading, for an unreadable or truncated file, invalid UTF-8 (file, document, byte offset), bad JSON or a
            missing field (file, line).
    """
    if not paths:
        raise InputError("paths", expected="at least one file or folder", got="none")
    if per_line and separator is not None:
        raise InputError("separator", expected="none where per_line is set", got=repr(separator))
    end = separator_bytes("\n" if per_line else separator)
    files = [file for path in paths for file in source_files(path)]
    return (
        Document(text, source, index)
        for file, source in zip(files, map(str, files), strict=True)
        for index, text in enumerate(_texts(file, end, field))
    )


def separator_bytes(separator: str | None) -> bytes | None:
    """The separator as it stands in a file. Raises `InputError` for an empty one."""
    if separator == "":
        raise InputError("separator", expected="at least one character", got="an empty string")
    return None if separator is None else encode_utf8(separator, where="the separator")


def encode_utf8(text: str, where: str) -> bytes:
    """The UTF-8 bytes of `text`; a lone surrogate, which has none, is an `InputError` with its position."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            "text",
            expected="Unicode text without lone surrogates",
            got=f"U+{ord(text[error.start]):04X} as character {error.start}",
            where=where,
        ) from None


def corpus_digest(documents: Iterable[str | Document]) -> str:
    """SHA-256, in hexadecimal, of each document's UTF-8 length (8 bytes, big-endian) and bytes, in order.

    The lengths make the borders part of it: `["ab", "c"]` and `["a", "bc"]` differ. Sources are not part of it.
    """
    digest = hashlib.sha256()
    for index, document in enumerate(documents):
        data = encode_utf8(document if isinstance(document, str) else document.text, where=f"document {index}")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def source_files(path: str | os.PathLike[str]) -> list[Path]:
    """The files that `read_documents(path)` reads, in its order; `InputError` where there is none."""
    path = Path(path)
    if not os.path.isdir(path):
        if not os.path.exists(path):
            raise InputError(str(path), expected="a file or folder", got="nothing of that name")
        return [_unpacked(path)]
    files = [_unpacked(Path(folder, name)) for folder, names in _walk(path) for name in names]
    if not files:
        raise InputError(str(path), expected="a folder with files that are not hidden", got="none")
    return sorted(files, key=lambda file: file.relative_to(path).parts)


def _walk(root: Path) -> Iterator[tuple[str, list[str]]]:
    def refuse(error: OSError) -> None:
        raise InputError(str(error.filename), expected="a readable folder", got=str(error.strerror))

    for folder, subfolders, names in os.walk(root, onerror=refuse):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        yield folder, [name for name in names if not name.startswith(".")]


def _unpacked(path: Path) -> Path:
    # Some archives would pass as UTF-8: a tar of text files is text with NULs between.
    if path.name.lower().endswith(_PACKED):
        hint = "unpack it first; of compressed files only .gz is read"
        raise InputError(str(path), expected="text, .gz, .jsonl or .parquet", got="an archive", hint=hint)
    return path


def _texts(path: Path, end: bytes | None, field: str) -> Iterator[str]:
    if is_plain(path):
        return _plain_texts(path, end)
    return _parquet_texts(path, field) if path.name.lower().endswith(".parquet") else _jsonl_texts(path, field)


def is_plain(path: Path) -> bool:
    """Whether the file, unpacked if need be, is nothing but text: no records of which a field is the text."""
    return not path.name.lower().endswith((".parquet", ".jsonl", ".jsonl.gz"))


def is_packed(path: Path) -> bool:
    """Whether the file is unpacked while it is read."""
    return path.suffix.lower() == ".gz"


def _plain_texts(path: Path, end: bytes | None) -> Iterator[str]:
    with open_unpacked(path) as file:
        pieces = [(0, file.read())] if end is None else split_stream(file, end)
        source = str(path)  # a path is spelled out anew each time: a line takes longer than to be read
        for index, (offset, piece) in enumerate(pieces):
            yield decode_utf8(piece, offset, f"{source}, document {index}")


def _jsonl_texts(path: Path, field: str) -> Iterator[str]:
    with open_unpacked(path) as file:
        for number, (offset, line) in enumerate(split_stream(file, b"\n"), start=1):
            where = f"{path}, line {number}"
            if line.strip():
                yield _json_field(decode_utf8(line, offset, where), field, where)


def _parquet_texts(path: Path, field: str) -> Iterator[str]:
    for index, value in enumerate(parquet_values(path, field)):
        yield decode_utf8(value, 0, f"{path}, row {index} of column {field!r}")


def split_stream(file: BufferedIOBase, end: bytes, chunk_bytes: int = CHUNK_BYTES) -> Iterator[tuple[int, bytes]]:
    """The pieces of `file` between `end`s, each with its byte offset, as `bytes.split` gives them, but for a last
    one that is empty or a line end. Holds one piece and one chunk."""
    return ((offset, piece) for offset, piece, _ in fragments(file, end, None, chunk_bytes))


def fragments(
    file: BufferedIOBase, end: bytes | None, most: int | None, chunk_bytes: int = CHUNK_BYTES
) -> Iterator[tuple[int, bytes, bool]]:
    """(byte offset, bytes, whether a piece ends with them): the pieces of `split_stream`, or without an `end` the
    whole file as one, of which those longer than `most` bytes (at least 2) may come in several fragments.

    Holds `most` bytes and a chunk. The last fragment of several may be empty."""
    buffer, offset = bytearray(), 0
    kept = 0 if end is None else len(end) - 1  # bytes that may be the beginning of an `end`
    within = False  # a piece, fragments of which have been given
    while chunk := file.read(chunk_bytes):
        search = max(0, len(buffer) - kept)  # what was searched before is not searched again
        buffer += chunk
        begin = 0
        while end is not None and (stop := buffer.find(end, search)) >= 0:
            yield offset + begin, bytes(buffer[begin:stop]), True
            begin = search = stop + len(end)
            within = False
        if most is not None and len(buffer) - kept - begin > (0 if within else most):
            stop = len(buffer) - kept
            yield offset + begin, bytes(buffer[begin:stop]), False
            begin, within = stop, True
        del buffer[:begin]
        offset += begin
    if within or end is None or buffer not in (b"", b"\n", b"\r\n"):
        yield offset, bytes(buffer), True


def decode_utf8(data: bytes, offset: int, where: str) -> str:
    """The text of bytes that stand at `offset` in their file; `InputError` with the place of one that is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(error, offset, where) from None


def not_utf8(error: UnicodeDecodeError, offset: int, where: str) -> InputError:
    """What to raise for a fault in bytes that stand at `offset` in their file."""
    return InputError(
        "text",
        expected="UTF-8",
        got=f"byte 0x{error.object[error.start]:02x} ({error.reason})",
        where=f"{where}, byte offset {offset + error.start}",
        hint="convert the file to UTF-8, or leave it out",
    )


def _json_field(line: str, field: str, where: str) -> str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError("record", expected="one JSON object a line", got=str(error), where=where) from None
    if not isinstance(record, dict):
        raise InputError("record", expected="a JSON object", got=type(record).__name__, where=where)
    if field not in record:
        got = ", ".join(map(repr, record)) or "an empty object"
        raise InputError("record", expected=f"a field {field!r}", got=got, where=where)
    if not isinstance(record[field], str):
        got = type(record[field]).__name__
        raise InputError("record", expected=f"a string in field {field!r}", got=got, where=where)
    encode_utf8(record[field], where)  # JSON can spell a lone surrogate, which no text has
    return record[field]


@contextmanager
def open_unpacked(path: Path) -> Iterator[BufferedIOBase]:
    """The bytes of a file, unpacked if it ends in `.gz`; what goes wrong while they are read is an `InputError`."""
    with readable(path), gzip.open(path) if is_packed(path) else path.open("rb") as file:
        yield file


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Raise what goes wrong while `path` is read as an `InputError`."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        got = getattr(error, "strerror", None) or str(error)
        raise InputError(str(path), expected="a readable file", got=got) from None
