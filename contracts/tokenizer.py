"""What a tokenizer is: ids, boundary tokens that only the corpus builder inserts, and an identity that is hashed.

Ids 0..255 are the bytes, 256..(255+M) the M merges in learned order, and above them the protocol tokens of the
boundary policy. The byte tokenizer is the BPE with no merges.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from jaxtyping import Int32

from contracts.dims import Dim
from contracts.errors import InputError

N = Dim("N", "tokens of one text or stream")
M = Dim("M", "learned merges")
V = Dim("V", "vocabulary size, protocol tokens included")

TokenIds = Int32[np.ndarray, "N"]
Merges = Int32[np.ndarray, "M 2"]
ByteLengths = Int32[np.ndarray, "V"]
ExternalIds = Int32[np.ndarray, "text_vocab_size"]

#: Ids as a person may give them: Python ints or an array of any integer dtype; range and dtype are always verified.
IdsLike = Sequence[int] | np.ndarray

Boundary = Literal["shared", "separate", "bos", "eos", "none"]
TieBreak = Literal["smallest-ids", "largest-bytes"]

#: The last one: the next token would have more than 1 MiB, or all tokens together more than 256 MiB.
StopReason = Literal["vocab_size reached", "no pair occurs min_count times", "the next token would be too long"]

#: The protocol tokens of each boundary policy, in id order; they stand above the text ids.
PROTOCOL_NAMES: dict[str, tuple[str, ...]] = {
    "shared": ("doc",),
    "separate": ("bos", "eos"),
    "bos": ("bos",),
    "eos": ("eos",),
    "none": (),
}


@dataclass(frozen=True)
class TokenizerIdentity:
    """Which tokenizer made these ids. Equal size with other ids must never pass: `vocab_sha256` decides."""

    version: str
    vocab_size: int
    protocol: Mapping[str, int] = field(default_factory=dict)
    vocab_sha256: str = ""

    def require(self, other: "TokenizerIdentity", where: str) -> None:
        """Refuse `other` unless every field is equal; all differences in one `InputError`."""
        differing = [
            f"{name} {getattr(other, name)!r} (expected {getattr(self, name)!r})"
            for name in ("version", "vocab_size", "protocol", "vocab_sha256")
            if _plain(getattr(self, name)) != _plain(getattr(other, name))
        ]
        if differing:
            raise InputError(
                "tokenizer identity",
                expected="the same version, vocab_size, protocol and vocab_sha256",
                got=", ".join(differing),
                where=where,
                hint="ids of one tokenizer mean something else under another; use the tokenizer that made them",
            )


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else value


class Tokenizer(Protocol):
    """What the corpus builder, the decoder and the experiments rely on; any object of this form will do."""

    @property
    def text_vocab_size(self) -> int:
        """Ids below this one are text; protocol tokens start here."""

    @property
    def vocab_size(self) -> int:
        """Text and protocol tokens together."""

    @property
    def protocol(self) -> Mapping[str, int]:
        """Name to id of the protocol tokens, such as `{"doc": 256}`."""

    @property
    def start_id(self) -> int | None:
        """Opens a document (`doc` or `bos`); `None` where the policy has none."""

    @property
    def stop_id(self) -> int | None:
        """Closes a document (`doc` or `eos`); `None` where the policy has none."""

    @property
    def token_byte_lengths(self) -> ByteLengths:
        """Bytes of each id; 0 for protocol tokens."""

    @property
    def identity(self) -> TokenizerIdentity:
        """Version, size, protocol and digest."""

    def encode(self, text: str) -> TokenIds:
        """The ids of `text`; never a protocol id."""

    def encode_bytes(self, data: bytes) -> TokenIds:
        """The ids of raw UTF-8 bytes; never a protocol id."""

    def decode_bytes(self, ids: IdsLike) -> bytes:
        """The bytes of text ids; a protocol id is refused."""

    def decode_text(self, ids: IdsLike) -> str:
        """`decode_bytes`, then strict UTF-8."""
