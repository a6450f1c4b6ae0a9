"""Text from a decoder: cached decoding, sampling, stopping, and the laws of the cache."""

from contracts.generation import Generated, Sampling
from research.generate.laws import cached_decoder, cached_view
from research.generate.write import NoCacheWarning, Piece, generate, stream

__all__ = ["Generated", "NoCacheWarning", "Piece", "Sampling", "cached_decoder", "cached_view", "generate", "stream"]
