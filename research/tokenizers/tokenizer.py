"""The face of every tokenizer here: a vocabulary and a boundary policy.

The byte tokenizer is the BPE with no merges, so that encoding, decoding and identity are written once.
"""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self, get_args

import numpy as np
from jaxtyping import Int64

from contracts.core import contract
from contracts.errors import InputError
from contracts.tokenizer import (
    Boundary,
    ByteLengths,
    ExternalIds,
    IdsLike,
    Merges,
    StopReason,
    TokenIds,
    TokenizerIdentity,
)
from research.tokenizers import boundaries, engine, store
from research.tokenizers.identity import identity
from research.tokenizers.ids import checked_id, checked_ids, checked_threads, is_integer
from research.tokenizers.interop import export
from research.tokenizers.pretokenize import PATTERNS
from research.tokenizers.text import BytesLike, raw_bytes, strict_text, utf8
from research.tokenizers.vocabulary import UNTRAINED, Training, Vocabulary, frozen

if TYPE_CHECKING:
    import tiktoken


class TokenBatch(NamedTuple):
    """Several texts: the ids of text i are `tokens[offsets[i] : offsets[i + 1]]`."""

    tokens: TokenIds
    offsets: Int64[np.ndarray, "texts+1"]
    """where each text begins in `tokens`, and the last one ends"""


class ByteLevelTokenizer:
    """Lossless for every text: whatever the merges, the 256 bytes are ids."""

    def __init__(self, vocabulary: Vocabulary, boundary: Boundary = "shared", training: Training = UNTRAINED) -> None:
        self.vocabulary = vocabulary
        self.boundary: Boundary = boundaries.checked_boundary(boundary)
        self.training = training

    @classmethod
    def of(cls, vocabulary: Vocabulary, boundary: Boundary, training: Training = UNTRAINED) -> Self:
        """A tokenizer of this class from parts that are already verified."""
        made = cls.__new__(cls)
        ByteLevelTokenizer.__init__(made, vocabulary, boundary, training)
        return made

    def __repr__(self) -> str:
        pattern = "" if self.pattern is None else f", pattern={self.pattern!r}"
        name = type(self).__name__
        return f"{name}(text_vocab_size={self.text_vocab_size}, boundary={self.boundary!r}{pattern})"

    @property
    def text_vocab_size(self) -> int:
        """Ids below this one are text; protocol tokens start here."""
        return self.vocabulary.size

    @property
    def vocab_size(self) -> int:
        """Text and protocol tokens together."""
        return self.text_vocab_size + len(self.protocol)

    @property
    def protocol(self) -> dict[str, int]:
        """Name to id of the protocol tokens, such as `{"doc": 256}`."""
        return boundaries.protocol_ids(self.boundary, self.text_vocab_size)

    @property
    def start_id(self) -> int | None:
        """Opens a document (`doc` or `bos`); `None` where the policy has none."""
        return boundaries.start_id(self.protocol)

    @property
    def stop_id(self) -> int | None:
        """Closes a document (`doc` or `eos`); `None` where the policy has none."""
        return boundaries.stop_id(self.protocol)

    @property
    def pattern(self) -> str | None:
        """The name or regex of the pre-tokenizer; `None` for the byte tokenizer, which needs none."""
        pretokenizer = self.vocabulary.pretokenizer
        return None if pretokenizer is None else pretokenizer.spelling

    @property
    @contract
    def merges(self) -> Merges:
        """Left and right id of each merge in learned order; the first one makes id 256."""
        return self.vocabulary.merges

    @property
    def external_ids(self) -> ExternalIds | None:
        """For an imported vocabulary the file's id of each text id, -1 for a byte that the file lacks.

        `None` for a vocabulary that was learned here, or whose file numbers as we do.
        """
        external = self.vocabulary.external
        return None if external is None else external.ids

    @property
    def special_tokens(self) -> dict[str, int]:
        """For an imported vocabulary the file's special tokens and their ids in it; no text ever becomes one."""
        external = self.vocabulary.external
        return {} if external is None else dict(external.special_tokens)

    @property
    def requested_vocab_size(self) -> int | None:
        """The text tokens that training was asked for, an upper bound; `None` if not trained here."""
        return self.training.requested_vocab_size

    @property
    def stop_reason(self) -> StopReason | None:
        """Why training ended; `None` if not trained here."""
        return self.training.stop_reason

    @cached_property
    def identity(self) -> TokenizerIdentity:
        """Version, size, protocol and the digest of the canonical listing."""
        return identity(self.vocabulary, self.protocol)

    @contract
    def encode(self, text: str, threads: int = 1) -> TokenIds:
        """The ids of `text`, never a protocol id; nothing is normalised. Several `threads` give the same ids.

        Raises `InputError` for a lone surrogate, with its position.
        """
        return self.vocabulary.encode_batch([utf8(text)], checked_threads(threads))[0]

    @contract
    def encode_bytes(self, data: BytesLike, threads: int = 1) -> TokenIds:
        """The ids of UTF-8 given as bytes, bytearray, memoryview, a memory map or a uint8 array.

        Invalid UTF-8 is refused by `InputError` with the byte offset, by the byte tokenizer too: pre-tokens are made
        of characters, and what one tokenizer takes for text the other must take as well.
        """
        return self.vocabulary.encode_batch([engine.valid_utf8(raw_bytes(data), "data")], checked_threads(threads))[0]

    def encode_batch(self, texts: Iterable[str | BytesLike], threads: int = 1) -> TokenBatch:
        """The ids of all texts in one array, with offsets. A text is a str, or what `encode_bytes` takes.

        Raises `InputError` as `encode` and `encode_bytes` do, with the number of the text.
        """
        if isinstance(texts, (str, *get_args(BytesLike))):
            hint = "put a single text in a list"
            raise InputError("texts", expected="an iterable of texts", got=type(texts).__name__, hint=hint)
        data = [engine.valid_utf8(text, f"text {index}") for index, text in enumerate(texts)]
        return TokenBatch(*self.vocabulary.encode_batch(data, checked_threads(threads)))

    def decode_bytes(self, ids: IdsLike) -> bytes:
        """The bytes of any sequence of text ids. Raises `InputError` for a protocol id and for what is no id."""
        return self._join(checked_ids(ids, self.vocab_size))

    def decode_text(self, ids: IdsLike) -> str:
        """`decode_bytes`, then strict UTF-8: `InputError` with the offset of the first byte that is not."""
        return strict_text(self.decode_bytes(ids), "ids")

    def decode_document(self, ids: IdsLike) -> str:
        """The text between the start and stop tokens of the boundary policy, which must be at the two ends.

        Raises `InputError` for a missing, inner or doubled boundary.
        """
        document = boundaries.without_boundaries(checked_ids(ids, self.vocab_size), self.protocol)
        return strict_text(self._join(document), "ids")

    def debug_decode(self, ids: IdsLike) -> str:
        """For screens only, not to be encoded again: `<|doc|>` for a protocol token, U+FFFD for broken UTF-8."""
        shown = {token_id: boundaries.spelled(name).encode() for name, token_id in self.protocol.items()}
        tokens = self.vocabulary.tokens
        parts = [shown.get(token_id) or tokens[token_id] for token_id in checked_ids(ids, self.vocab_size).tolist()]
        return b"".join(parts).decode("utf-8", errors="replace")

    def _join(self, ids: np.ndarray) -> bytes:
        if ids.size and ids.max() >= self.text_vocab_size:
            position = int((ids >= self.text_vocab_size).argmax())
            raise InputError(
                "ids",
                expected=f"text ids 0..{self.text_vocab_size - 1}",
                got=f"the protocol id {ids[position]}",
                where=f"position {position}",
                hint="decode_document takes the boundary tokens away",
            )
        return self.vocabulary.decode(ids)

    def pretokens(self, text: str) -> list[str]:
        """The pieces of `text` that no token crosses; joined they are the text. For the byte tokenizer it is one.

        Raises `InputError` for a lone surrogate, with its position.
        """
        utf8(text)
        return (self.vocabulary.pretokenizer or PATTERNS["none"]).split(text)

    def pieces(self, text: str) -> list[tuple[int, bytes, int]]:
        """(id, bytes, byte offset) of each token of `text`."""
        found, offset = [], 0
        for token_id in self.encode(text).tolist():
            token = self.vocabulary.tokens[token_id]
            found.append((token_id, token, offset))
            offset += len(token)
        return found

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of one id; none for a protocol token."""
        token_id = checked_id(token_id, self.vocab_size)
        return self.vocabulary.tokens[token_id] if token_id < self.text_vocab_size else b""

    @cached_property
    def token_byte_lengths(self) -> ByteLengths:
        """Bytes of each id; 0 for protocol tokens."""
        lengths = [len(token) for token in self.vocabulary.tokens] + [0] * len(self.protocol)
        return frozen(np.array(lengths, np.int32))

    def with_boundary(self, boundary: Boundary) -> Self:
        """The same text ids under another boundary policy."""
        return self.of(self.vocabulary, boundary, self.training)

    def with_own_ids(self) -> Self:
        """The same tokens without the numbering and the special tokens of the file that they came from."""
        vocabulary = Vocabulary(self.vocabulary.merges, self.vocabulary.pretokenizer)
        return self.of(vocabulary, self.boundary, self.training)

    def truncate(self, text_vocab_size: int) -> Self:
        """The first `text_vocab_size` text ids: what a training for that size would have learned.

        Raises `InputError` below 256 and above the size that there is.
        """
        if not is_integer(text_vocab_size) or not 256 <= text_vocab_size <= self.text_vocab_size:
            raise InputError(
                "text_vocab_size", expected=f"an integer 256..{self.text_vocab_size}", got=repr(text_vocab_size)
            )
        training = Training(int(text_vocab_size), "vocab_size reached") if self.stop_reason else UNTRAINED
        return self.of(self.vocabulary.truncate(text_vocab_size), self.boundary, training)

    def save(self, path: str | Path) -> None:
        """Write JSON that a person can read; the file appears whole or not at all."""
        store.write(path, self.vocabulary, self.boundary, self.training)

    @contract
    def to_external(self, ids: IdsLike) -> TokenIds:
        """The ids that the file of an imported vocabulary uses, for a text or a stream with its boundaries.

        Raises `InputError` for an id that the file has no token for.
        """
        checked = checked_ids(ids, self.vocab_size)
        external = self.vocabulary.external
        return checked if external is None else external.of_stream(checked, self.protocol)

    def to_huggingface(self, path: str | Path) -> None:
        """Write a `tokenizer.json` for the library `tokenizers`, at `path` or in that folder; it is not needed here.

        The ids are ours, or those of the file that the vocabulary was read from. Protocol tokens become special
        tokens, which that library finds inside text too unless its `encode_special_tokens` is set. A named pattern
        is written with its classes spelled out; a regex of one's own means what that library takes it for.

        Raises `InputError` for two tokens of the same bytes, and a protocol token that the imported file lacks.
        """
        export.write_huggingface(path, self._numbered)

    def to_vocab_and_merges(self, folder: str | Path) -> None:
        """Write `vocab.json` and `merges.txt`, as GPT-2 has them; raises as `to_huggingface` does.

        They don't say the pattern: whoever reads them has to.
        """
        export.write_vocab_and_merges(folder, self._numbered)

    def to_tiktoken(self) -> "tiktoken.Encoding":
        """A `tiktoken.Encoding` with the same ids by `encode_ordinary`; patterns as in `to_huggingface`.

        Raises `InputError` without tiktoken, and for what ranks can't say: a token that its own bytes do not merge
        into, imported ids that do not ascend with the merges, a regex that leaves text out.
        """
        return export.encoding(f"bytebound-{self.identity.vocab_sha256[:12]}", self._numbered)

    def to_rank_file(self, path: str | Path) -> None:
        """Write a `.tiktoken` file; raises as `to_tiktoken` does. It says neither pattern nor special tokens."""
        export.write_ranks(path, self._numbered)

    @property
    def _numbered(self) -> export.Numbered:
        return export.Numbered.of(self.vocabulary, self.boundary)
