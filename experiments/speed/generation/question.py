"""The question, the rule by which its answer is judged, and what may be varied."""

from dataclasses import dataclass

from contracts.errors import InputError
from contracts.results import Question

#: What is aimed at: so many times the speed without a cache.
AIM = 5.0

QUESTION = Question(
    name="generation_speed",
    question="How many times as fast does a decoder write with a key-value cache as without one?",
    hypothesis=f"At 512 tokens at least {AIM:g} times: without a cache every token costs a pass over the row.",
    decision_rule="Both write the same texts in turns, in a program that is compiled already; the run fails unless "
    f"the texts are equal. The aim, {AIM:g} times, is met if the whole range of ratios over the rounds is at or above "
    "it, missed if wholly below, otherwise undecided.",
)


@dataclass(frozen=True)
class GenerationSpeed:
    """Writing with a key-value cache against passes over the whole row, on equal weights and draws, in turns."""

    tokens: int = 512
    """that every row writes"""
    rows: tuple[int, ...] = (1, 4)
    """texts written side by side"""
    rounds: int = 3
    """how often both have their turn"""
    d_model: int = 128
    """model width; heads are 32 wide"""
    n_layers: int = 4
    """layers"""
    seed: int = 0
    """of the weights and the draws"""

    def __post_init__(self) -> None:
        for name, least in (("tokens", 2), ("rounds", 2), ("d_model", 32), ("n_layers", 1), ("seed", 0)):
            if getattr(self, name) < least:
                option = "--" + name.replace("_", "-")
                raise InputError(option, expected=f"at least {least}", got=getattr(self, name))
        if self.d_model % 32:
            raise InputError("--d-model", expected="a multiple of 32", got=self.d_model)
        if not self.rows or min(self.rows) < 1:
            raise InputError("--rows", expected="at least one number, each at least 1", got=self.rows)
