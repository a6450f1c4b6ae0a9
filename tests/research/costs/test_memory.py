"""Bytes by formula, against arrays of the stated shape and published figures."""

import math

import jax
import jax.numpy as jnp
import pytest

from contracts.decoder import DecoderConfig
from contracts.errors import InputError
from research.costs import kv_cache_bytes, kv_cache_bytes_per_token, parameter_bytes
from research.costs.memory import DTYPE_BYTES

LLAMA_2_7B = DecoderConfig(
    vocab_size=32_000, d_model=4_096, n_layers=32, n_heads=32, n_kv_heads=32, head_dim=128, d_ff=11_008
)


def test_llama_2_7b_keeps_half_a_mebibyte_for_each_token() -> None:
    assert kv_cache_bytes_per_token(LLAMA_2_7B, "float16") == 2**19


def test_llama_2_7b_weighs_13_5_gigabytes_in_bfloat16() -> None:
    assert parameter_bytes(LLAMA_2_7B, "bfloat16") == 13_476_831_232


@pytest.mark.parametrize("dtype", DTYPE_BYTES)
def test_the_cache_has_the_bytes_of_its_arrays(dtype: str) -> None:
    config, length = DecoderConfig(n_layers=3, n_heads=6, n_kv_heads=2, head_dim=10), 37
    cache = jax.eval_shape(lambda: [jnp.zeros((2, length, 2, 10), dtype) for _ in range(config.n_layers)])
    held = sum(math.prod(layer.shape) * layer.dtype.itemsize for layer in cache)
    assert kv_cache_bytes(config, length, dtype) == held


def test_an_unknown_dtype_is_refused() -> None:
    with pytest.raises(InputError, match="expected float32 or bfloat16 or float16, got 'fp8'"):
        kv_cache_bytes_per_token(DecoderConfig(), "fp8")
