"""Text as it enters from outside: Unicode without lone surrogates, or valid UTF-8, refused with the position if not."""

from mmap import mmap
from typing import Any

import numpy as np

from contracts.errors import InputError

BytesLike = bytes | bytearray | memoryview | mmap | np.ndarray


def utf8(text: Any, what: str = "text") -> bytes:
    """`text` as UTF-8. Raises `InputError` for what is not a str, and for a lone surrogate with its position."""
    if not isinstance(text, str):
        hint = "encode_bytes takes UTF-8" if isinstance(text, (bytes, bytearray, memoryview)) else ""
        raise InputError(what, expected="a str", got=type(text).__name__, hint=hint)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            what,
            expected="Unicode text without lone surrogates",
            got=f"U+{ord(text[error.start]):04X}",
            where=f"character {error.start}",
        ) from None


def raw_bytes(data: Any, what: str = "data") -> bytes:
    """The bytes of anything that holds unsigned bytes in a row: a copy of what could change under our hands.

    Raises `InputError` for anything else.
    """
    if type(data) is bytes:
        return data
    try:
        view = memoryview(data)
    except TypeError:
        hint = "encode takes a str" if isinstance(data, str) else ""
        raise InputError(what, expected="bytes", got=type(data).__name__, hint=hint) from None
    if view.format != "B" or view.ndim != 1:
        got = f"items of format {view.format!r} in {view.ndim} dimensions"
        raise InputError(what, expected="one dimension of unsigned bytes", got=got)
    return view.tobytes()


def require_utf8(data: bytes, what: str) -> None:
    """Raise `InputError` with the offset of the first byte that is not UTF-8."""
    if not data.isascii():
        strict_text(data, what)


def strict_text(data: bytes, what: str) -> str:
    """`data` read as UTF-8. Raises `InputError` with the offset of the first byte that is not."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refused(data, error.start, error.reason, what) from None


def _refused(data: bytes, at: int, reason: str, what: str) -> InputError:
    hint = "decode_bytes returns bytes as they are" if what == "ids" else ""
    return InputError(what, expected="valid UTF-8", got=f"0x{data[at]:02X} ({reason})", where=f"byte {at}", hint=hint)
