"""What a corpus is once it is tokens: one array, where each document's text starts, and exact counts."""

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from jaxtyping import Int32, Int64

from contracts.dims import Dim
from contracts.errors import InputError

N = Dim("N", "tokens of one text or stream")
documents = Dim("documents", "documents of a corpus")

StreamTokens = Int32[np.ndarray, "N"]
DocumentStarts = Int64[np.ndarray, "documents"]

OnEmpty = Literal["error", "skip"]


@dataclass(frozen=True)
class CorpusLimits:
    """Upper bounds on a whole corpus, inclusive; `None` is no limit."""

    documents: int | None = None
    characters: int | None = None
    """code points before encoding"""
    bytes: int | None = None
    """UTF-8 bytes after encoding"""
    tokens: int | None = None
    """tokens of the stream, boundaries included"""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise InputError(f"limit {field.name}", expected="None or an integer >= 0", got=repr(value))


@dataclass(frozen=True)
class StreamCounts:
    """What went into a stream: documents and their sizes, without those skipped for being empty."""

    documents: int
    characters: int
    bytes: int
    tokens: int
    skipped: int


@dataclass(frozen=True)
class TokenStream:
    """A corpus as tokens. `starts[i]` is the index of document i's first text token."""

    tokens: StreamTokens
    starts: DocumentStarts
    counts: StreamCounts
