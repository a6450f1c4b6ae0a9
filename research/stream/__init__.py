"""A corpus as streams of tokens, in memory or on disk, and as batches: rows that are a pure function of the step."""

from contracts.batch import Batch, RowPolicy, Waste
from contracts.stream import CorpusLimits, TokenStream
from research.stream.build import build_stream
from research.stream.corpus import build_corpus
from research.stream.rows import Rows
from research.stream.store import StoredCorpus, open_corpus, verify_corpus

__all__ = [
    "Batch",
    "CorpusLimits",
    "RowPolicy",
    "Rows",
    "StoredCorpus",
    "TokenStream",
    "Waste",
    "build_corpus",
    "build_stream",
    "open_corpus",
    "verify_corpus",
]
