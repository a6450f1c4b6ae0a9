"""A small decoder of bytes for every boundary policy, and streams that are no multiple of anything."""

import functools
from collections.abc import Callable

import pytest
from flax import nnx

from contracts.decoder import DecoderConfig
from research.model import Decoder
from research.stream import TokenStream, build_stream
from research.tokenizers import ByteTokenizer

TEXTS = ("the first one", "a", "안녕 세계", "xy", "the last of the documents, which is longer than a window")
SHAPE = {"d_model": 12, "n_layers": 2, "n_heads": 2, "n_kv_heads": 1, "head_dim": 6, "d_ff": 20, "context_length": 16}


@pytest.fixture(scope="session")
def bytes_decoder() -> Callable[[ByteTokenizer], Decoder]:
    """`bytes_decoder(tokenizer)`: a decoder of its vocabulary, with logits that are far from uniform."""

    @functools.cache
    def make(vocab_size: int) -> Decoder:
        decoder = Decoder(DecoderConfig(vocab_size=vocab_size, **SHAPE), rngs=nnx.Rngs(1))
        decoder.head.kernel[...] = decoder.head.kernel[...] * 50
        return decoder

    return lambda tokenizer: make(tokenizer.vocab_size)


@pytest.fixture(scope="session")
def stream_of() -> Callable[..., TokenStream]:
    return lambda tokenizer, texts=TEXTS: build_stream(texts, tokenizer)
