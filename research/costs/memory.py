"""Bytes that a decoder holds while it generates: its weights once, and keys and values for every position so far."""

from collections.abc import Mapping
from types import MappingProxyType

from contracts.errors import InputError
from research.costs.parameters import decoder_parameters
from research.costs.shape import DecoderShape, require_at_least

DTYPE_BYTES: Mapping[str, int] = MappingProxyType({"float32": 4, "bfloat16": 2, "float16": 2})


def dtype_bytes(dtype: str) -> int:
    """Bytes of one element; a dtype that a decoder can't have is refused."""
    if dtype not in DTYPE_BYTES:
        raise InputError("dtype", expected=" or ".join(DTYPE_BYTES), got=repr(dtype))
    return DTYPE_BYTES[dtype]


def parameter_bytes(shape: DecoderShape, dtype: str) -> int:
    """Bytes of all weights stored in `dtype`; optimizer state is not included."""
    return decoder_parameters(shape).total * dtype_bytes(dtype)


def kv_cache_bytes_per_token(shape: DecoderShape, dtype: str) -> int:
    """Bytes that one more position adds to the cache of one sequence.

    Every layer keeps a key and a value of K elements for each of G key-value heads: 2 L G K elements. Query heads
    do not appear: that is what grouping them is for.
    """
    return 2 * shape.n_layers * shape.n_kv_heads * shape.head_dim * dtype_bytes(dtype)


def kv_cache_bytes(shape: DecoderShape, length: int, dtype: str) -> int:
    """Bytes of the cache of one sequence of `length` positions."""
    require_at_least(0, length=length)
    return length * kv_cache_bytes_per_token(shape, dtype)
