"""What a cell leaves: its loss at every step and what its decoder was worth at some of them, document by document.

A curve is read between its points by a line in the logarithm of what was spent, never beyond its last point.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from contracts.errors import InputError

Axis = Literal["text_bytes", "flops"]


@dataclass(frozen=True)
class Score:
    """A decoder's nats on one held-out text, in one context, after some steps."""

    step: int
    text_bytes: int
    """bytes of text whose tokens were trained on until then; a text read twice counts twice"""
    flops: int
    """of training until then"""
    context: str
    text: str
    nats_text: tuple[float, ...]
    """of each document"""
    nats_protocol: tuple[float, ...]
    bytes: int
    """of all documents"""
    position_nats: tuple[float, ...]
    """sums over the tokens that stand 0, 1, 2, ... behind the first text token of a document"""
    position_tokens: tuple[int, ...]

    @property
    def bpb_text(self) -> float:
        """Bits a byte, boundaries given."""
        return sum(self.nats_text) / self.bytes / math.log(2)

    @property
    def bpb_total(self) -> float:
        """Bits a byte with what predicting boundaries costs."""
        return (sum(self.nats_text) + sum(self.nats_protocol)) / self.bytes / math.log(2)


@dataclass(frozen=True)
class Outcome:
    """All that is kept of one training."""

    loss: tuple[float, ...]
    """mean nats of a trained target, of every step"""
    text_bytes: tuple[int, ...]
    """read until the end of every step"""
    step_flops: int
    parameters: int
    scores: tuple[Score, ...]
    leakage: Mapping[str, Mapping[str, float]]
    """by row policy: how far a document's logits and loss depend on the one before it"""
    seconds: float

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The held-out texts."""
        return tuple(dict.fromkeys(score.text for score in self.scores))

    def last(self, context: str, text: str) -> Score:
        """What the finished decoder was worth."""
        return self._curve(context, [text])[0][-1]

    def first(self, axis: Axis) -> int:
        """What was spent when held-out text was scored for the first time: where curves begin."""
        return min(getattr(score, axis) for score in self.scores)

    def reached(self, axis: Axis) -> int:
        """What was spent in all."""
        return max(getattr(score, axis) for score in self.scores)

    def at(self, axis: Axis, spent: float, context: str, texts: Sequence[str], protocol: bool = True) -> float:
        """Bits a byte of `texts` together (a sum over a sum) when `spent` was spent, read from the stored curve.

        Raises `InputError` outside of the curve: it is never drawn on.
        """
        curves = self._curve(context, texts)
        nats = _read(curves, axis, spent, lambda one: sum(one.nats_text) + protocol * sum(one.nats_protocol))
        return nats / (sum(curve[0].bytes for curve in curves) * math.log(2))

    def at_position(self, axis: Axis, spent: float, context: str, texts: Sequence[str], place: int) -> float:
        """Mean nats of the tokens of `texts` that stand at a position, read as by `at`."""
        curves = self._curve(context, texts)
        nats = _read(curves, axis, spent, lambda one: one.position_nats[place])
        return nats / sum(curve[0].position_tokens[place] for curve in curves)

    def _curve(self, context: str, texts: Sequence[str]) -> list[list[Score]]:
        curves = [[s for s in self.scores if s.context == context and s.text == text] for text in texts]
        if not curves or not all(curves):
            raise InputError("score", expected=f"texts scored in the context {context}", got=", ".join(texts))
        return curves

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Outcome":
        """What `to_json` made. Raises `KeyError`, `TypeError` or `ValueError` for anything else."""
        scores = tuple(Score(**_tuples(score)) for score in data["scores"])
        return cls(**{**_tuples(data), "scores": scores})


def _read(curves: Sequence[Sequence[Score]], axis: Axis, spent: float, value: Callable[[Score], float]) -> float:
    """The sum over `curves` of `value`, between the points by a line in the logarithm of `axis`."""
    xs = [getattr(score, axis) for score in curves[0]]
    if not xs[0] * (1 - 1e-9) <= spent <= xs[-1] * (1 + 1e-9):
        raise InputError(axis, expected=f"{xs[0]:,} to {xs[-1]:,}, where the curve was measured", got=f"{spent:,}")
    sums = [sum(map(value, each)) for each in zip(*curves, strict=True)]
    return float(np.interp(math.log(spent), np.log(xs), sums))


def _tuples(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
