"""Toy decoders whose sizes are pairwise distinct, so that a swapped axis can't hide behind an equal one."""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest
from flax import nnx

from contracts.decoder import DecoderConfig
from research.model import Decoder

TOY = DecoderConfig(
    vocab_size=53, d_model=42, n_layers=2, n_heads=6, n_kv_heads=3, head_dim=10, d_ff=110, context_length=16
)


@pytest.fixture(scope="session")
def toy() -> DecoderConfig:
    return TOY


@pytest.fixture(scope="session")
def make() -> Callable[..., Decoder]:
    """`make(tied=True)`: the toy decoder of seed 0 with these fields changed. Tests leave it as it is."""

    @functools.cache
    def make(seed: int = 0, **changes: Any) -> Decoder:
        return Decoder(replace(TOY, **changes), rngs=nnx.Rngs(seed))

    return make


@pytest.fixture(scope="session")
def forward() -> Callable[..., jax.Array]:
    """`forward(decoder, tokens, segments, positions)`, compiled once for each config and shape."""
    return jax.jit(lambda decoder, *inputs: decoder(*inputs))


@pytest.fixture(scope="session")
def tokens() -> np.ndarray:
    """Five rows of seven ids, no id twice."""
    return np.random.default_rng(1).permutation(TOY.vocab_size)[:35].reshape(5, 7).astype(np.int32)
