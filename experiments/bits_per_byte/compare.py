"""The comparisons, all from the same stored curves: at equal bytes, at equal FLOPs, at equal parameters."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from experiments.ablation import Arm
from experiments.ablation.outcome import Axis, Outcome
from experiments.ablation.statistics import Difference, Verdict, paired_difference, verdict
from experiments.bits_per_byte.arms import BASE, BYTES, EQUAL_BYTES, WIDE, Prepared
from experiments.bits_per_byte.question import MARGIN
from experiments.tables import si
from research.measures import ByteNGram, xz_bits

ALL = "all"
Held = Literal["text bytes", "training FLOPs", "parameters"]
#: What an arm had spent when it was scored first and last.
Span = tuple[float, float]
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


@dataclass(frozen=True)
class Incomparable:
    """An arm and bytes whose curves over FLOPs have no point in common."""

    arm: str
    against: str
    held: Held
    at: float
    """FLOPs that both have reached; the dearer one was not yet scored there"""
    reason: str

    def __str__(self) -> str:
        return f"not comparable: {self.reason}"


def out_of_reach(spans: Mapping[str, Span]) -> list[Incomparable]:
    """Of arms by name, bytes among them, those whose curve ends before that of bytes begins, or the other way round."""
    found = []
    for name, span in spans.items():
        (low, cheap), (high, dear) = sorted([(span, name), (spans[BYTES], BYTES)], key=lambda each: each[0][1])
        if low[1] < high[0]:
            reason = f"all of {cheap} takes {si(low[1], 'FLOPs')}, and {dear} is scored from {si(high[0], 'FLOPs')} on"
            found.append(Incomparable(name, BYTES, "training FLOPs", low[1], reason))
    return found


def planned_spans(prepared: Prepared) -> dict[str, Span]:
    """The same spans before anything is trained: FLOPs are known from steps."""
    cells = {name: prepared.by_arm[name, "shared", BASE][0] for name in prepared.tokenizers}
    return {name: (cell.evaluations[0] * cell.step_flops, cell.flops) for name, cell in cells.items()}


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

    @cached_property
    def text_bytes(self) -> int:
        """What every training has read at least: where all are compared at equal bytes."""
        return min(one.reached("text_bytes") for outcomes in self.outcomes.values() for one in outcomes)

    def values(self, arm: Arm, text: str, context: str = EQUAL_BYTES, protocol: bool = True) -> list[float]:
        """Bits a byte when `text_bytes` were read, seed by seed."""
        return self._at("text_bytes", self.text_bytes, arm, text, context, protocol)

    def _at(
        self, axis: Axis, spent: float, arm: Arm, text: str, context: str = EQUAL_BYTES, protocol: bool = True
    ) -> list[float]:
        return [one.at(axis, spent, context, self.texts(text), protocol) for one in self.outcomes[arm]]

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """Every BPE against bytes in three ways, and separate against shared for every tokenizer.

        Those that curves can't tell are not among them but in `incomparable`.
        """
        found = []
        for name in self.names[1:]:
            arm, against = (name, "shared", BASE), (BYTES, "shared", BASE)
            found += self._at_bytes(arm, against, (name, BYTES), "tokenizer")
            found += self._at_flops(arm, against)
            found += self._at_parameters(name)
        for name in self.names:
            arm, against = (name, "separate", BASE), (name, "shared", BASE)
            found += self._at_bytes(arm, against, (", ".join(arm[:2]), ", ".join(against[:2])), "boundary")
        return found

    @cached_property
    def incomparable(self) -> list[Incomparable]:
        """The BPE that has no point of equal FLOPs with bytes."""
        spans = {name: self._span(name) for name in self.names}
        return out_of_reach(spans)

    def _span(self, name: str) -> Span:
        """FLOPs from which and up to which all seeds of an arm were scored."""
        outcomes = self.outcomes[name, "shared", BASE]
        return max(one.first("flops") for one in outcomes), min(one.reached("flops") for one in outcomes)

    def _at_bytes(
        self, arm: Arm, against: Arm, names: tuple[str, str], factor: Literal["tokenizer", "boundary"]
    ) -> list[Comparison]:
        def values(text: str) -> tuple[list[float], list[float]]:
            return self.values(arm, text), self.values(against, text)

        return self._judged(names, factor, "text bytes", self.text_bytes, values)

    def _at_flops(self, arm: Arm, against: Arm) -> list[Comparison]:
        names = arm[0], against[0]
        if names[0] in {one.arm for one in self.incomparable}:
            return []
        at = min(self._span(name)[1] for name in names)

        def values(text: str) -> tuple[list[float], list[float]]:
            return self._at("flops", at, arm, text), self._at("flops", at, against, text)

        return self._judged(names, "tokenizer", "training FLOPs", at, values)

    def _at_parameters(self, name: str) -> list[Comparison]:
        """A BPE decoder against a byte decoder of as many parameters, read between two widths at equal bytes."""
        arm, narrow, wide = (name, "shared", BASE), (BYTES, "shared", BASE), (BYTES, "shared", WIDE)
        sizes = [self.outcomes[each][0].parameters for each in (narrow, arm, wide)]
        share = math.log(sizes[1] / sizes[0]) / math.log(sizes[2] / sizes[0])

        def values(text: str) -> tuple[list[float], list[float]]:
            ours, thin, fat = (np.array(self.values(each, text)) for each in (arm, narrow, wide))
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
