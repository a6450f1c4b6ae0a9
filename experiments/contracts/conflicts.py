"""What conflicts inside a config, and between a config and what it is meant for: all of it at once.

A tokenizer's ids, a boundary policy and the rows of a batch are bound to the same numbers as the arrays.
"""

from collections.abc import Mapping
from typing import Any

from contracts.decoder import DecoderConfig
from contracts.errors import InputError
from contracts.tokenizer import PROTOCOL_NAMES, Tokenizer


def conflicts(
    values: Mapping[str, Any],
    tokenizer: Tokenizer | None = None,
    boundary: str | None = None,
    positions: int | None = None,
) -> list[str]:
    """Every rule that the fields of a `DecoderConfig` break, alone and together with what they are meant for."""
    found = _own(values)
    vocab_size, context_length = values["vocab_size"], values["context_length"]
    if tokenizer is not None:
        found += _with_tokenizer(vocab_size, tokenizer)
    elif boundary is not None:
        found += _with_boundary(vocab_size, boundary)
    if positions is not None and positions > context_length:
        found.append(f"rows of {positions:,} positions are longer than context_length = {context_length:,}")
    return found


def remarks(config: DecoderConfig) -> list[str]:
    """What is allowed but may be unintended."""
    width = config.n_heads * config.head_dim
    product = f"n_heads x head_dim = {config.n_heads} x {config.head_dim} = {width:,}"
    if width == config.d_model:
        return [f"{product} is d_model, which is usual but not required"]
    return [f"{product} is not d_model = {config.d_model:,}: allowed, the projections are D x (H K) and (H K) x D"]


def _own(values: Mapping[str, Any]) -> list[str]:
    try:
        DecoderConfig(**values)
    except InputError as error:
        return str(error.got).split("; ")
    return []


def _with_tokenizer(vocab_size: int, tokenizer: Tokenizer) -> list[str]:
    found = []
    if vocab_size != tokenizer.vocab_size:
        parts = f"{tokenizer.text_vocab_size:,} text tokens and {len(tokenizer.protocol)} protocol tokens"
        found.append(f"vocab_size = {vocab_size:,}, but the tokenizer has {tokenizer.vocab_size:,} ids ({parts})")
    outside = {name: token for name, token in tokenizer.protocol.items() if not 0 <= token < vocab_size}
    found += [f"the id {token:,} of {name} is not below vocab_size = {vocab_size:,}" for name, token in outside.items()]
    return found


def _with_boundary(vocab_size: int, boundary: str) -> list[str]:
    if boundary not in PROTOCOL_NAMES:
        raise InputError("--boundary", expected=f"one of {', '.join(PROTOCOL_NAMES)}", got=boundary)
    names = PROTOCOL_NAMES[boundary]
    least = 256 + len(names)
    if vocab_size >= least:
        return []
    return [f"vocab_size = {vocab_size:,} has no room for 256 bytes and {', '.join(names)}: at least {least}"]
