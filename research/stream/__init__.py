"""A corpus as one stream of tokens."""

from contracts.stream import CorpusLimits, TokenStream
from research.stream.build import build_stream

__all__ = ["CorpusLimits", "TokenStream", "build_stream"]
