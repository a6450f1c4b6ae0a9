"""Documents to one token stream: the only place that puts boundary tokens between texts.

One idea covers all policies: a document opens with the start id, closes with the stop id, and where both are the same
shared id, one document's close is the next one's opening. So n documents get n+1 shared, 2n separate, n single or
no boundaries.
"""

from array import array
from collections.abc import Iterable

import numpy as np

from contracts.core import contract
from contracts.errors import InputError
from contracts.stream import CorpusLimits, OnEmpty, StreamCounts, TokenStream
from contracts.tokenizer import ByteLengths, TokenIds, Tokenizer
from research.progress import progress
from research.text.documents import Document, encode_utf8

NO_LIMITS = CorpusLimits()
BLOCK = 1 << 20


def build_stream(
    documents: Iterable[str | Document],
    tokenizer: Tokenizer,
    limits: CorpusLimits = NO_LIMITS,
    on_empty: OnEmpty = "error",
) -> TokenStream:
    """The corpus as one read-only array of ids; `documents` is read once, and no further than the first refusal.

    Documents `ab`, `ba` under the byte tokenizer: `[256, 97, 98, 256, 98, 97, 256]` if the boundary is shared. Empty
    documents are refused, or under `on_empty="skip"` left out and counted. Limits are inclusive and hold for the whole
    corpus; each is checked as soon as its quantity is known: documents and characters before a document is encoded.

    Raises:
        InputError: naming the document, for a limit exceeded, an empty document, a lone surrogate, something that is
            no text, or ids that are not the text's; for a corpus without a document.
    """
    if isinstance(documents, str | bytes):
        raise InputError("documents", expected="an iterable of texts", got="a single one", hint="pass [text]")
    if on_empty not in ("error", "skip"):
        raise InputError("on_empty", expected="'error' or 'skip'", got=repr(on_empty))
    stream = _Stream(tokenizer, limits)
    with progress("corpus", unit="documents") as bar:
        for index, document in enumerate(documents):
            where = _where(index, document)
            text = _text(document, where)
            if text:
                stream.append(text, where)
            elif on_empty == "skip":
                stream.skipped += 1
            else:
                hint = "on_empty='skip' leaves empty documents out and counts them"
                raise InputError("document", expected="a text", got="an empty one", where=where, hint=hint)
            bar.advance()
    return stream.closed()


class _Stream:
    """A stream under construction. `array` grows in place by a sixteenth, without an object per token."""

    def __init__(self, tokenizer: Tokenizer, limits: CorpusLimits) -> None:
        self.tokenizer, self.limits = tokenizer, limits
        start, stop = tokenizer.start_id, tokenizer.stop_id
        is_shared = start is not None and start == stop
        self.before, self.after, self.last = start, None if is_shared else stop, stop if is_shared else None
        self.boundaries = (start is not None) + (stop is not None)
        self.byte_lengths = tokenizer.token_byte_lengths
        self.tokens, self.starts = array("i"), array("q")
        self.characters = self.bytes = self.skipped = 0

    def append(self, text: str, where: str) -> None:
        self._require("documents", len(self.starts) + 1, where)
        self._require("characters", self.characters + len(text), where)
        text_bytes = len(encode_utf8(text, where))
        self._require("bytes", self.bytes + text_bytes, where)
        ids = self._encode(text, text_bytes, where)
        # The length of the stream if this were its last document.
        self._require("tokens", len(self.tokens) + len(ids) + self.boundaries, where)

        if self.before is not None:
            self.tokens.append(self.before)
        self.starts.append(len(self.tokens))
        self.tokens.frombytes(ids.data.cast("B"))
        if self.after is not None:
            self.tokens.append(self.after)
        self.characters += len(text)
        self.bytes += text_bytes

    @contract
    def closed(self) -> TokenStream:
        if not self.starts:
            got = f"{self.skipped} documents, all empty" if self.skipped else "none"
            raise InputError("corpus", expected="at least one document that is not empty", got=got)
        if self.last is not None:
            self.tokens.append(self.last)
        counts = StreamCounts(len(self.starts), self.characters, self.bytes, len(self.tokens), self.skipped)
        return TokenStream(_array(self.tokens, np.int32), _array(self.starts, np.int64), counts)

    def _require(self, quantity: str, reached: int, where: str) -> None:
        limit = getattr(self.limits, quantity)
        if limit is not None and reached > limit:
            raise InputError(
                f"corpus limit {quantity}", expected=f"at most {limit} {quantity}", got=reached, where=where
            )

    def _encode(self, text: str, text_bytes: int, where: str) -> TokenIds:
        """The text's ids, if they are ids of text and stand for exactly its bytes: a tokenizer may be anybody's."""
        ids = np.ascontiguousarray(self.tokenizer.encode(text))
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
        return ids


def _byte_count(ids: TokenIds, byte_lengths: ByteLengths) -> int:
    # In blocks: indexing widens the ids to 64 bits, three times the memory of a document that may be the whole corpus.
    blocks = (ids[begin : begin + BLOCK] for begin in range(0, len(ids), BLOCK))
    return sum(int(byte_lengths[block].sum(dtype=np.int64)) for block in blocks)


def _text(document: str | Document, where: str) -> str:
    text = document.text if isinstance(document, Document) else document
    if not isinstance(text, str):
        raise InputError("document", expected="a str or Document", got=type(text).__name__, where=where)
    return text


def _where(index: int, document: str | Document) -> str:
    if isinstance(document, Document):
        return f"document {index} ({document.source}, number {document.index})"
    return f"document {index}"


def _array(numbers: array, dtype: type[np.generic]) -> np.ndarray:
    view = np.frombuffer(numbers, dtype)
    view.setflags(write=False)
    return view
