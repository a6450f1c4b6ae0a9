"""The text ids: 256 bytes, then merges in learned order. Everything of a tokenizer but its boundary policy."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from jaxtyping import Int64

from contracts.errors import InputError
from contracts.tokenizer import Merges, StopReason, TokenIds
from research.tokenizers import engine
from research.tokenizers.ids import is_integer
from research.tokenizers.interop.external import External
from research.tokenizers.limits import require_token_bytes
from research.tokenizers.plain.encode import Pair, PieceEncoder
from research.tokenizers.pretokenize import Pretokenizer

if TYPE_CHECKING:
    from research.tokenizers.kernels.decode import Spelling
    from research.tokenizers.kernels.encoder import Encoder

BYTE_VERSION = "utf8-byte-v1"
BPE_VERSION = "byte-bpe-v1"


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What encodes and decodes text. Without a pre-tokenizer it is the bytes alone."""

    merges: Merges
    pretokenizer: Pretokenizer | None = None
    external: External | None = None
    """the numbering of the file that an imported vocabulary came from, where it is not ours"""

    @property
    def version(self) -> str:
        """First line of the identity."""
        return BYTE_VERSION if self.pretokenizer is None else BPE_VERSION

    @property
    def size(self) -> int:
        """How many text ids there are."""
        return 256 + len(self.merges)

    @cached_property
    def tokens(self) -> tuple[bytes, ...]:
        """The bytes of every text id."""
        tokens = [bytes([value]) for value in range(256)]
        for left, right in self.merges.tolist():
            tokens.append(tokens[left] + tokens[right])
        return tuple(tokens)

    @cached_property
    def encode_piece(self) -> PieceEncoder:
        """Pre-token to ids."""
        return PieceEncoder(
            {(left, right): token_id for token_id, (left, right) in enumerate(self.merges.tolist(), 256)}
        )

    def encode_batch(self, texts: Sequence[bytes], threads: int = 1) -> tuple[TokenIds, Int64[np.ndarray, "texts+1"]]:
        """The ids of all `texts`, each valid UTF-8, and where each begins among them, and the last one ends."""
        if self.pretokenizer is None:
            encoded = [np.frombuffer(data, np.uint8).astype(np.int32) for data in texts]
        elif engine.engine_for(sum(map(len, texts))):
            return self._encode_by_engine(texts, self.pretokenizer, threads)
        else:
            encoded = [self._encode_plainly(data.decode(), self.pretokenizer) for data in texts]
        offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return encoded[0] if len(encoded) == 1 else np.concatenate([np.zeros(0, np.int32), *encoded]), offsets

    def _encode_plainly(self, text: str, pretokenizer: Pretokenizer) -> TokenIds:
        ids: list[int] = []
        for piece in pretokenizer.split(text):
            ids += self.encode_piece(piece)
        return np.array(ids, np.int32)

    def _encode_by_engine(
        self, texts: Sequence[bytes], pretokenizer: Pretokenizer, threads: int
    ) -> tuple[TokenIds, Int64[np.ndarray, "texts+1"]]:
        arrays = [np.frombuffer(data, np.uint8) for data in texts]
        if threads == 1:
            with self._encoder(pretokenizer) as encoder:
                return encoder.encode_batch(arrays)
        return engine.encode_on_threads(arrays, pretokenizer, threads, lambda: self._encoder(pretokenizer))

    @contextmanager
    def _encoder(self, pretokenizer: Pretokenizer) -> Iterator["Encoder"]:
        """One that nobody else uses meanwhile."""
        try:
            encoder = self._idle_encoders.pop()
        except IndexError:
            encoder = engine.encoder(self.merges, pretokenizer)
        yield encoder
        self._idle_encoders.append(encoder)  # but not after an exception, which may leave it with half a page

    @cached_property
    def _idle_encoders(self) -> list["Encoder"]:
        """One for every thread that encoded at the same time; each remembers words."""
        return []

    def decode(self, ids: TokenIds) -> bytes:
        """The bytes of text ids, which are known to be in range."""
        if self.pretokenizer is None:
            return ids.astype(np.uint8).tobytes()
        if engine.engine_for(len(ids)):
            return self._spelling.decode(ids)
        return b"".join(map(self.tokens.__getitem__, ids.tolist()))

    @cached_property
    def _spelling(self) -> "Spelling":
        return engine.spelling(self.merges)

    def truncate(self, size: int) -> "Vocabulary":
        """The first `size` text ids."""
        external = None if self.external is None else self.external.truncate(size)
        return Vocabulary(self.merges[: size - 256], self.pretokenizer, external)

    def __reduce__(self) -> tuple[Any, ...]:
        return Vocabulary, (self.merges, self.pretokenizer, self.external)


@dataclass(frozen=True)
class Training:
    """What was asked of a training and why it ended; both `None` for a vocabulary that was not trained here."""

    requested_vocab_size: int | None = None
    stop_reason: StopReason | None = None

    def __post_init__(self) -> None:
        size = self.requested_vocab_size
        if size is not None and not (is_integer(size) and size >= 256):
            raise InputError("requested_vocab_size", expected="None or an integer of at least 256", got=repr(size))
        if self.stop_reason not in (None, *get_args(StopReason)):
            expected = f"None or one of {get_args(StopReason)}"
            raise InputError("stop_reason", expected=expected, got=repr(self.stop_reason))


UNTRAINED = Training()


def checked_merges(merges: Sequence[Sequence[int]] | np.ndarray) -> Merges:
    """`merges` as a read-only array.

    Raises `InputError` for a merge of ids that do not exist yet, a repeated one, anything but pairs of integers, a
    token of more than 1 MiB, and more than 256 MiB of tokens together.
    """
    seen: set[Pair] = set()
    lengths = [1] * 256
    total = 256
    for own_id, merge in enumerate(merges.tolist() if isinstance(merges, np.ndarray) else merges, 256):
        if not _is_pair(merge, below=own_id):
            raise _refused_merge(f"two ids 0..{own_id - 1}", merge, own_id)
        pair = merge[0], merge[1]
        if pair in seen:
            raise _refused_merge("a new pair", merge, own_id)
        seen.add(pair)
        lengths.append(lengths[pair[0]] + lengths[pair[1]])
        total += lengths[-1]
        require_token_bytes(lengths[-1], total, "merges", f"the merge of id {own_id}")
    return frozen(np.array(merges, np.int32).reshape(-1, 2))


def _is_pair(merge: Any, below: int) -> bool:
    return (
        isinstance(merge, (list, tuple))
        and len(merge) == 2
        and all(is_integer(token_id) and 0 <= token_id < below for token_id in merge)
    )


def _refused_merge(expected: str, merge: Any, own_id: int) -> InputError:
    return InputError("merges", expected=expected, got=repr(merge), where=f"the merge of id {own_id}")


def frozen(array: np.ndarray) -> np.ndarray:
    """`array`, now read-only: every tokenizer made from this one shares it."""
    array.flags.writeable = False
    return array
