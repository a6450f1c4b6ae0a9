"""The bytes of each token, from a tokenizer of this project's form or from a plain table, and whether they are right.

A table of lengths made by decoding each id on its own counts U+FFFD for half a character; one that adds a byte for a
leading space may add it twice. Both have been published as results, so here every length is held against the bytes.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from contracts.errors import InputError
from contracts.tokenizer import Tokenizer

Table = Mapping[int, bytes]
REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()


def token_pieces(ids: np.ndarray, tokenizer: Tokenizer | Table) -> dict[int, bytes]:
    """The bytes of each id, of which none comes twice; no bytes for a protocol token.

    Raises:
        InputError: for an id that the tokenizer does not have, and for a tokenizer whose `token_byte_lengths` are not
            the lengths of its tokens.
    """
    used = ids.tolist()
    if isinstance(tokenizer, Mapping):
        return {token: _from_table(tokenizer, token) for token in used}
    for token in used:
        if not 0 <= token < tokenizer.vocab_size:
            raise InputError("scored tokens", expected=f"ids 0 to {tokenizer.vocab_size - 1}", got=token)
    protocol = set(tokenizer.protocol.values())
    pieces = {token: b"" if token in protocol else bytes(tokenizer.decode_bytes([token])) for token in used}
    lengths = tokenizer.token_byte_lengths
    for token, piece in pieces.items():
        if int(lengths[token]) != len(piece):
            said = length_fault(piece, int(lengths[token]), is_protocol=token in protocol)
            expected = f"{len(piece)} bytes for id {token} ({piece!r})"
            raise InputError("token_byte_lengths", expected=expected, got=int(lengths[token]), hint=said)
    return pieces


def length_fault(piece: bytes, length: int, is_protocol: bool = False) -> str:
    """The name of the mistake that gives these bytes this length; empty if it is none of the known ones."""
    if is_protocol:
        return "a special token with bytes: it stands for no text"
    if length == len(replaced(piece)):
        return "U+FFFD counted as three bytes: a token that is no UTF-8 on its own was decoded and encoded again"
    if piece.startswith(b" ") and length == len(piece) + 1:
        return "a leading space counted twice"
    return ""


def replaced(piece: bytes) -> bytes:
    """What decoding and encoding makes of the bytes: U+FFFD where they are no UTF-8."""
    return piece.decode("utf-8", errors="replace").encode()


def protocol_spellings(tokenizer: Any) -> dict[int, bytes]:
    """The protocol ids and what they are commonly written as, such as `<|doc|>`."""
    if isinstance(tokenizer, Mapping):
        return {}
    return {token: f"<|{name.strip('<|>')}|>".encode() for name, token in tokenizer.protocol.items()}


def _from_table(table: Table, token: int) -> bytes:
    piece = table.get(token)
    if not isinstance(piece, bytes):
        got = "no such id" if piece is None else type(piece).__name__
        hint = "text loses what is no UTF-8 on its own: give bytes" if isinstance(piece, str) else ""
        raise InputError("tokenizer", expected=f"the bytes of id {token}", got=got, hint=hint)
    return piece
