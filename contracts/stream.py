"""What a corpus is once it is tokens: one array, where each document's text starts, and exact counts."""

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from jaxtyping import Int32, Int64, UInt16

from contracts.dims import Dim
from contracts.errors import InputError
from contracts.tokenizer import Boundary, TokenizerIdentity

N = Dim("N", "tokens of one text or stream")
documents = Dim("documents", "documents of a corpus")

StreamTokens = Int32[np.ndarray, "N"]
#: Ids on disk take two bytes each where the vocabulary allows.
NarrowTokens = UInt16[np.ndarray, "N"]
DocumentStarts = Int64[np.ndarray, "documents"]

OnEmpty = Literal["error", "skip"]
StoredDtype = Literal["uint16", "int32"]


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

    def __add__(self, other: "StreamCounts") -> "StreamCounts":
        return StreamCounts(
            self.documents + other.documents,
            self.characters + other.characters,
            self.bytes + other.bytes,
            self.tokens + other.tokens,
            self.skipped + other.skipped,
        )


@dataclass(frozen=True)
class TokenStream:
    """A corpus as tokens. `starts[i]` is the index of document i's first text token."""

    tokens: StreamTokens | NarrowTokens
    starts: DocumentStarts
    counts: StreamCounts


@dataclass(frozen=True)
class SourceFile:
    """A file that a corpus was read from: its name below the folder that was given, never a path of a machine."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class CorpusRecipe:
    """All that decides what is in a corpus folder: equal recipes make equal folders, byte for byte."""

    tokenizer: TokenizerIdentity
    boundary: Boundary
    sources: tuple[SourceFile, ...]
    separator: str | None
    """between the documents of a text file; `None`: each file is one document"""
    field: str
    """the field of JSON lines, or column of Parquet, that holds the text"""
    validation: float
    """share of documents held out: those whose SHA-256, read as a fraction 0.(first 8 bytes), is below it"""
    on_empty: OnEmpty
    limits: CorpusLimits


@dataclass(frozen=True)
class StoredStream:
    """What the two files of one stream hold: its tokens, and where the text of each document starts."""

    counts: StreamCounts
    tokens_sha256: str
    starts_sha256: str


@dataclass(frozen=True)
class CorpusManifest:
    """What a corpus folder says of itself. It is written last: a folder without it is unfinished."""

    format: str
    recipe: CorpusRecipe
    dtype: StoredDtype
    """of the tokens, little-endian; starts are int64"""
    train: StoredStream
    validation: StoredStream
