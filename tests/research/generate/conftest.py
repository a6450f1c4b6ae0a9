"""Small decoders of bytes with logits far from uniform, so that samples are not noise alone."""

import functools
from collections.abc import Callable
from typing import Any

import pytest
from flax import nnx

from contracts.decoder import DecoderConfig
from research.model import Attention, Decoder

SHAPE = {"d_model": 12, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "head_dim": 6, "d_ff": 20, "context_length": 40}


class Own(Attention):
    """A mixer that the cache knows nothing of, for it may look at something else."""

    def __call__(self, x, positions, segments):
        return super().__call__(x, positions, segments)


@pytest.fixture(scope="session")
def make() -> Callable[..., Decoder]:
    """`make(vocab_size=257)`: a decoder that prefers some tokens clearly. Tests leave it as it is."""

    @functools.cache
    def make(vocab_size: int = 257, mixer: Any = Attention, sharp: float = 40.0, **changes: Any) -> Decoder:
        config = DecoderConfig(vocab_size=vocab_size, **SHAPE | changes)
        decoder = Decoder(config, rngs=nnx.Rngs(3), mixer=mixer)
        decoder.head.kernel[...] = decoder.head.kernel[...] * sharp
        return decoder

    return make


@pytest.fixture(scope="session")
def own_mixer() -> type[Attention]:
    return Own
