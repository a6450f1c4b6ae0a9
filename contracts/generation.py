"""What is asked of generation, and what it gives: how a token is drawn, what ends a text, raw bytes."""

import math
from dataclasses import dataclass
from typing import Literal

from jaxtyping import Array, Bool, Float32, Int32, Key

from contracts.dims import Dim
from contracts.errors import InputError

B = Dim("B", "rows of a batch; bound by the call")
V = Dim("V", "vocabulary size, protocol tokens included")

Stop = Literal["stop id", "length", "context"]
Overflow = Literal["error", "slide", "reset"]

NextLogits = Float32[Array, "B V"]
NextTokens = Int32[Array, "B"]
RowKeys = Key[Array, "B"]
Pads = Int32[Array, "B"]
Finished = Bool[Array, "B"]
Allowed = Bool[Array, "V"]
Count = Int32[Array, ""]


@dataclass(frozen=True)
class Sampling:
    """How the next token is drawn: temperature first, then `top_k`, then `top_p` of what `top_k` left."""

    temperature: float = 1.0
    """logits are divided by it; 0 takes the most likely token"""
    top_k: int | None = None
    """only the k most likely tokens"""
    top_p: float | None = None
    """only the most likely tokens that together reach this probability (Holtzman et al. 2020, arXiv 1904.09751)"""

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < math.inf:
            raise InputError("temperature", expected="a number >= 0", got=self.temperature)
        if self.top_k is not None and self.top_k < 1:
            raise InputError("top_k", expected="at least 1 token", got=self.top_k)
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise InputError("top_p", expected="a probability above 0, at most 1", got=self.top_p)


DEFAULT_SAMPLING = Sampling()


@dataclass(frozen=True)
class Generated:
    """One text, as bytes: a byte-level model may write what is no UTF-8."""

    prompt: bytes
    data: bytes
    """what was generated, without the prompt"""
    tokens: tuple[int, ...]
    """the ids of `data`; the stop id is not among them"""
    stop: Stop
    """why it ended: a stop id was sampled, so many tokens were asked for, or the context is full"""

    @property
    def shown(self) -> str:
        r"""The generated text for a screen, bytes that are no UTF-8 as `\xff`."""
        return self.data.decode("utf-8", errors="backslashreplace")
