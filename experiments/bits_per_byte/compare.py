"""The comparisons, all from the same stored curves: at equal bytes, at equal FLOPs, at equal parameters."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from experiments.ablation import Arm
from experiments.ablation.outcome import Axis, Outcome
from experiments.ablation.statistics import Difference, Verdict, paired_difference, verdict
from experiments.bits_per_byte.arms import BASE, BYTES, EQUAL_BYTES, WIDE, Prepared
from experiments.bits_per_byte.question import MARGIN
from research.measures import ByteNGram, xz_bits

ALL = "all"
Held = Literal["text bytes", "training FLOPs", "parameters"]
AXES: dict[Held, Axis] = {"text bytes": "text_bytes", "training FLOPs": "flops"}
BASELINES = ("xz alone", "xz after the training text", "byte 5-gram")


@dataclass(frozen=True)
class Comparison:
    """One arm against another on one text, with what was held equal."""

    arm: str
    against: str
    factor: Literal["tokenizer", "boundary"]
    held: Held
    at: float
    """bytes, FLOPs or parameters at which both are read"""
    text: str
    difference: Difference
    """in bits a byte; below 0 the arm is better"""
    verdict: Verdict


@dataclass(frozen=True, eq=False)
class Results:
    """Every outcome, and what was made of them."""

    prepared: Prepared
    outcomes: dict[Arm, tuple[Outcome, ...]]
    baselines: dict[tuple[str, str], float]
    """bits a byte by baseline and text"""

    @property
    def names(self) -> list[str]:
        """The tokenizers."""
        return list(self.prepared.tokenizers)

    def texts(self, text: str) -> list[str]:
        """The texts that a name stands for."""
        return list(self.prepared.texts.names) if text == ALL else [text]

    @property
    def judged(self) -> list[str]:
        """All texts together, and each of them."""
        return [ALL, *self.prepared.texts.names]

    def final(self, arm: Arm, text: str, context: str = EQUAL_BYTES, protocol: bool = True) -> list[float]:
        """Bits a byte of the finished decoders, seed by seed."""
        return [
            one.at("text_bytes", one.reached("text_bytes"), context, self.texts(text), protocol)
            if context == EQUAL_BYTES
            else _ratio([one.last(context, name) for name in self.texts(text)], protocol)
            for one in self.outcomes[arm]
        ]

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """Every BPE against bytes in three ways, and separate against shared for every tokenizer."""
        found = []
        for name in self.names[1:]:
            for held in AXES:
                found += self._on_axis((name, "shared", BASE), (BYTES, "shared", BASE), "tokenizer", held)
            found += self._at_parameters(name)
        for name in self.names:
            found += self._on_axis((name, "separate", BASE), (name, "shared", BASE), "boundary", "text bytes")
        return found

    def _on_axis(
        self, arm: Arm, against: Arm, factor: Literal["tokenizer", "boundary"], held: Held
    ) -> list[Comparison]:
        axis = AXES[held]
        at = min(one.reached(axis) for each in (arm, against) for one in self.outcomes[each])
        names = (arm[0], against[0]) if factor == "tokenizer" else (", ".join(arm[:2]), ", ".join(against[:2]))

        def values(of: Arm, text: str) -> list[float]:
            return [one.at(axis, at, EQUAL_BYTES, self.texts(text)) for one in self.outcomes[of]]

        return self._judged(names, factor, held, at, lambda text: (values(arm, text), values(against, text)))

    def _at_parameters(self, name: str) -> list[Comparison]:
        """A BPE decoder against a byte decoder of as many parameters, read between two widths at equal bytes."""
        arm, narrow, wide = (name, "shared", BASE), (BYTES, "shared", BASE), (BYTES, "shared", WIDE)
        at = min(one.reached("text_bytes") for each in (arm, narrow, wide) for one in self.outcomes[each])
        sizes = [self.outcomes[each][0].parameters for each in (narrow, arm, wide)]
        share = math.log(sizes[1] / sizes[0]) / math.log(sizes[2] / sizes[0])

        def values(text: str) -> tuple[list[float], list[float]]:
            ours, thin, fat = (
                np.array([one.at("text_bytes", at, EQUAL_BYTES, self.texts(text)) for one in self.outcomes[each]])
                for each in (arm, narrow, wide)
            )
            return ours.tolist(), ((1 - share) * thin + share * fat).tolist()

        return self._judged((name, BYTES), "tokenizer", "parameters", sizes[1], values)

    def _judged(
        self,
        names: tuple[str, str],
        factor: Literal["tokenizer", "boundary"],
        held: Held,
        at: float,
        values: Callable[[str], tuple[Sequence[float], Sequence[float]]],
    ) -> list[Comparison]:
        found = []
        for text in self.judged:
            difference = paired_difference(*values(text))
            found.append(Comparison(*names, factor, held, at, text, difference, verdict(difference, MARGIN)))
        return found


def baselines(prepared: Prepared) -> dict[tuple[str, str], float]:
    """What xz and a byte 5-gram that has counted the whole training text make of the held-out texts."""
    mixed, held_out = prepared.texts.mixed, prepared.texts.held_out
    model = ByteNGram.learn(mixed)
    found: dict[tuple[str, str], float] = {}
    for name, documents in {**held_out, ALL: tuple(d for texts in held_out.values() for d in texts)}.items():
        size = sum(len(document.encode()) for document in documents)
        values = xz_bits(documents) / size, xz_bits(documents, mixed) / size, model.bits_per_byte(documents)
        found |= {(baseline, name): value for baseline, value in zip(BASELINES, values, strict=True)}
    return found


def _ratio(scores: Sequence, protocol: bool) -> float:
    nats = sum(sum(score.nats_text) + protocol * sum(score.nats_protocol) for score in scores)
    return nats / sum(score.bytes for score in scores) / math.log(2)
