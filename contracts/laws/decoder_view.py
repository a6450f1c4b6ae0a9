"""How the laws see somebody's decoder: a function from tokens to logits, and whatever else it has.

Flax NNX, Linen, Equinox and plain functions differ in who holds the parameters; here all are `apply(params, tokens)`.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from contracts.errors import InputError

_SEGMENT_NAMES = ("segments", "segment_ids")
_LENGTH_NAMES = ("context_length", "block_size", "max_length", "max_seq_len", "max_position_embeddings")


@dataclass(frozen=True)
class DecoderView:
    """The functions of a decoder that laws are about; a law that needs one which isn't there does not apply."""

    name: str
    apply: Callable[..., Any]
    """(params, tokens) to logits, tokens int32 B x T"""
    params: Any = None
    """any pytree; what is not an array in it stays as it is"""
    segments: str = ""
    """the keyword under which `apply` takes the document of each position, B x T; empty if it takes none"""
    max_length: int | None = None
    """the longest row it takes"""
    init_cache: Callable[[int, int], Any] | None = None
    """(rows, positions) to an empty cache"""
    step: Callable[[Any, Any, Any], tuple[Any, Any]] | None = None
    """(params, next tokens B x n, cache) to their logits and the cache after them"""
    tolerance: float | None = None
    """largest error where equal sums may be taken in another order, relative to the largest logit; `None` is 1e-4,
    and 3e-2 where half-precision numbers are computed with"""
    leak: float = 0.0
    """largest absolute change of a logit that is still no influence; above 0 for mixers that use a Fourier transform"""


def from_apply(
    apply: Callable[..., Any],
    params: Any = None,
    *,
    name: str = "",
    segments: str | None = None,
    max_length: int | None = None,
    init_cache: Callable[[int, int], Any] | None = None,
    step: Callable[..., tuple[Any, Any]] | None = None,
    tolerance: float | None = None,
    leak: float = 0.0,
) -> DecoderView:
    """A decoder made of functions: `apply(params, tokens)`, or `apply(tokens)` where no `params` are given.

    `step(params, tokens, cache)`, without `params` likewise, returns logits and the next cache. `segments` is the
    keyword of the documents, found by itself if it is called `segments` or `segment_ids`. A callable that is a pytree,
    as modules of Flax NNX and Equinox are, is its own parameters.
    """
    name = name or getattr(apply, "__qualname__", type(apply).__name__)
    if (init_cache is None) != (step is None):
        raise InputError(name, expected="init_cache and step, or neither", got="one of them")
    longest = _max_length(apply) if max_length is None else max_length
    if longest is not None and longest < 2:
        raise InputError(name, expected="a max_length of at least 2", got=longest)
    keyword = _segments_keyword(apply) if segments is None else segments
    if params is None and step is None and _is_pytree(apply):
        apply, params = _call, apply
    elif params is None:
        apply, step = _without_params(apply), None if step is None else _without_params(step)
    return DecoderView(name, apply, params, keyword, longest, init_cache, step, tolerance, leak)


def view_decoder(decoder: Any, name: str = "") -> DecoderView:
    """The view of a callable `tokens -> logits` or of a pair `(apply, params)`; `InputError` for anything else."""
    if isinstance(decoder, DecoderView):
        return decoder
    if isinstance(decoder, tuple) and len(decoder) == 2 and callable(decoder[0]):
        return from_apply(*decoder, name=name)
    if callable(decoder):
        return from_apply(decoder, name=name)
    raise InputError(
        name or type(decoder).__name__,
        expected="a function from tokens to logits, a pair (apply, params), or a tokenizer with encode and decode",
        got=type(decoder).__name__,
    )


def _without_params(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _, *arguments, **documents: function(*arguments, **documents)


def _call(module: Callable[..., Any], tokens: Any, **documents: Any) -> Any:
    return module(tokens, **documents)


def _is_pytree(decoder: Any) -> bool:
    import jax

    leaves = jax.tree_util.tree_leaves(decoder)
    return any(leaf is not decoder and hasattr(leaf, "dtype") for leaf in leaves)


def _segments_keyword(function: Callable[..., Any]) -> str:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a callable that tells nothing about itself
        return ""
    return next((name for name in _SEGMENT_NAMES if name in parameters), "")


def _max_length(decoder: Any) -> int | None:
    config = getattr(decoder, "config", None)
    lengths = (getattr(config, name, None) for name in _LENGTH_NAMES)
    return next((length for length in lengths if isinstance(length, int)), None)
