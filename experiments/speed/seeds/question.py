"""The question, the rule by which its answer is judged, and what may be varied."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from contracts.errors import InputError
from contracts.results import Question

AFTER, BESIDE, TOGETHER = "one after another", "side by side", "one program (vmap)"

#: What is judged: so many times the speed of one after another is a gain.
GAIN = 1.1

QUESTION = Question(
    name="seeds_speed",
    question="How long do several seeds of one decoder take in processes of one core side by side, and in one program "
    "for all, against one after another with all cores?",
    hypothesis="On a CPU small decoders leave cores idle, so that side by side gains and one program gains nothing; on "
    "an accelerator one program gains as long as a seed alone does not fill it.",
    decision_rule="The time of one after another is divided by that of the other way in the same round. The way gains "
    f"if the whole range of these ratios over the rounds is at or above {GAIN:g}, does not gain if wholly below, and "
    "is undecided otherwise.",
)

_PRESETS = ("seconds", "minutes", "hours", "124m")


@dataclass(frozen=True)
class SeedsSpeed:
    """Several seeds side by side and in one program, against one after another, in turns.

    Each job is a fresh process that trains --seeds runs of a preset on the embedded corpus, compilation and last
    checkpoint included. Side by side is for CPUs: on an accelerator it is left out.
    """

    presets: tuple[Annotated[str, tyro.conf.arg(metavar="{seconds,minutes,hours,124m}")], ...] = ("seconds", "minutes")
    """shapes, as `bytebound train --preset` has them"""
    seeds: int = 4
    """runs of a job"""
    steps: int = 100
    """of each run; few enough for compilation to show, many enough for it not to decide"""
    rounds: int = 3
    """how often every way has its turn"""
    seed: int = 0
    """of the order within a round"""

    def __post_init__(self) -> None:
        unknown = [name for name in self.presets if name not in _PRESETS]
        if not self.presets or unknown:
            raise InputError("--presets", expected=f"some of {', '.join(_PRESETS)}", got=unknown or "none")
        for option, value, least in (
            ("--seeds", self.seeds, 2),
            ("--steps", self.steps, 10),
            ("--rounds", self.rounds, 2),
        ):
            if value < least:
                raise InputError(option, expected=f"at least {least}", got=value)
