"""Documents to ids: verified to be the ids of exactly their texts, and counted against the limits of the corpus."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from jaxtyping import Int64, Shaped

from contracts.errors import InputError
from contracts.stream import CorpusLimits, OnEmpty, StreamCounts
from contracts.tokenizer import ByteLengths, TokenIds, Tokenizer
from research.stream.layout import Layout
from research.text.documents import Document, encode_utf8

BLOCK = 1 << 20
NO_LIMITS = CorpusLimits()
NO_DOCUMENTS = StreamCounts(0, 0, 0, 0, 0)


class DocumentEncoder:
    """Encodes the documents of one corpus, whose counts so far it keeps: of all its streams together."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        limits: CorpusLimits,
        on_empty: OnEmpty,
        counts: StreamCounts = NO_DOCUMENTS,
    ) -> None:
        if on_empty not in ("error", "skip"):
            raise InputError("on_empty", expected="'error' or 'skip'", got=repr(on_empty))
        self.tokenizer, self.limits, self.on_empty, self.counts = tokenizer, limits, on_empty, counts
        self.layout = Layout.of(tokenizer)
        self.byte_lengths = tokenizer.token_byte_lengths

    def text(self, document: Any, where: str) -> str:
        """The text of a str or `Document`; empty only where empty documents are to be skipped."""
        text = document.text if isinstance(document, Document) else document
        if not isinstance(text, str):
            raise InputError("document", expected="a str or Document", got=type(text).__name__, where=where)
        if not text and self.on_empty == "error":
            hint = "on_empty='skip' leaves empty documents out and counts them"
            raise InputError("document", expected="a text", got="an empty one", where=where, hint=hint)
        return text

    def encode(self, text: str, where: str, is_first: bool) -> tuple[TokenIds, StreamCounts]:
        """The ids of a text that is not empty, without boundaries, and what it adds to its stream with them.

        `is_first` tells whether it is the first of its stream. Each limit is checked as soon as its quantity is known:
        documents and characters before the text is encoded.
        """
        self.require_room(len(text), 0, where)
        text_bytes = len(encode_utf8(text, where))
        self.require_room(len(text), text_bytes, where)
        ids = np.ascontiguousarray(self.tokenizer.encode(text))
        self.verify(ids, text_bytes, where)
        added = StreamCounts(1, len(text), text_bytes, len(ids) + self.layout.added(is_first), 0)
        self.require("tokens", self.counts.tokens + added.tokens, where)
        self.counts += added
        return ids, added

    def require_room(self, characters: int, text_bytes: int, where: str) -> None:
        """Refuse a document of this size if a limit does not allow it."""
        self.require("documents", self.counts.documents + 1, where)
        self.require("characters", self.counts.characters + characters, where)
        self.require("bytes", self.counts.bytes + text_bytes, where)

    def is_exact(self, ids: TokenIds, offsets: Int64[np.ndarray, "bounds"], data: Sequence[bytes]) -> bool:
        """Whether these are ids of text and stand for exactly these texts; of one that is not, `encode` says how."""
        if len(ids) and ids.view(np.uint32).max() >= self.tokenizer.text_vocab_size:
            return False
        ends = np.concatenate([[0], np.cumsum(self.byte_lengths[ids], dtype=np.int64)])[offsets]
        return np.array_equal(np.diff(ends), [len(text) for text in data])

    def allows(self, counts: StreamCounts) -> bool:
        """Whether no limit is exceeded by a corpus of this size."""
        limits = asdict(self.limits)
        return all(limit is None or getattr(counts, name) <= limit for name, limit in limits.items())

    def require(self, quantity: str, reached: int, where: str) -> None:
        """Refuse a corpus that has reached this much of a quantity, if its limit is lower."""
        limit = getattr(self.limits, quantity)
        if limit is not None and reached > limit:
            raise InputError(
                f"corpus limit {quantity}", expected=f"at most {limit} {quantity}", got=reached, where=where
            )

    def verify(self, ids: Shaped[np.ndarray, "..."], text_bytes: int, where: str) -> None:
        """Refuse what is no text's ids, or stands for more or fewer bytes: a tokenizer may be anybody's."""
        if ids.dtype != np.int32 or ids.ndim != 1:
            got = f"{ids.dtype}{list(ids.shape)}"
            raise InputError("tokenizer", expected="int32[N] ids", got=got, where=where)
        size = self.tokenizer.text_vocab_size
        if len(ids) and ids.view(np.uint32).max() >= size:  # a negative id, read as unsigned, is larger than any
            got = f"{ids.min()}..{ids.max()}"
            raise InputError("tokenizer", expected=f"text ids 0..{size - 1}", got=got, where=where)
        encoded = _byte_count(ids, self.byte_lengths)
        if encoded != text_bytes:
            got = f"tokens of {encoded} bytes"
            hint = "the tokenizer loses or adds text"
            raise InputError("tokenizer", expected=f"{text_bytes} bytes", got=got, where=where, hint=hint)


def _byte_count(ids: TokenIds, byte_lengths: ByteLengths) -> int:
    # In blocks: indexing widens the ids to 64 bits, three times the memory of a document that may be the whole corpus.
    blocks = (ids[begin : begin + BLOCK] for begin in range(0, len(ids), BLOCK))
    return sum(int(byte_lengths[block].sum(dtype=np.int64)) for block in blocks)
