"""Documents to one token stream in memory; `research.stream.write` makes the same streams on disk."""

from array import array
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from contracts.core import contract
from contracts.errors import InputError
from contracts.stream import CorpusLimits, OnEmpty, StreamCounts, TokenStream
from contracts.tokenizer import Tokenizer
from research.progress import progress
from research.stream.encode import NO_LIMITS, DocumentEncoder
from research.text.documents import Document


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
    encoder = DocumentEncoder(tokenizer, limits, on_empty)
    before, after, last = encoder.layout
    # `array` grows in place by a sixteenth, without an object per token.
    tokens, starts, skipped = array("i"), array("q"), 0
    with progress("corpus", unit="documents") as bar:
        for index, document in enumerate(documents):
            where = _where(index, document)
            text = encoder.text(document, where)
            if text:
                ids, _ = encoder.encode(text, where, is_first=not starts)
                if before is not None:
                    tokens.append(before)
                starts.append(len(tokens))
                tokens.frombytes(ids.data.cast("B"))
                if after is not None:
                    tokens.append(after)
            else:
                skipped += 1
            bar.advance()
    if not starts:
        got = f"{skipped} documents, all empty" if skipped else "none"
        raise InputError("corpus", expected="at least one document that is not empty", got=got)
    if last is not None:
        tokens.append(last)
    return _stream(tokens, starts, replace(encoder.counts, skipped=skipped))


@contract
def _stream(tokens: array, starts: array, counts: StreamCounts) -> TokenStream:
    return TokenStream(_array(tokens, np.int32), _array(starts, np.int64), counts)


def _where(index: int, document: str | Document) -> str:
    if isinstance(document, Document):
        return f"document {index} ({document.source}, number {document.index})"
    return f"document {index}"


def _array(numbers: array, dtype: type[np.generic]) -> np.ndarray:
    view = np.frombuffer(numbers, dtype)
    view.setflags(write=False)
    return view
