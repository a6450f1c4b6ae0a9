"""The question, the rule by which its answer is judged, and what may be varied."""

import os
from dataclasses import dataclass

from contracts.errors import InputError
from contracts.results import Question

QUESTION = Question(
    name="contract_faults",
    question="Of the mistakes that people make in a decoder, its training step, its caches and the data that goes in, "
    "how many end in an error before a wrong number comes out: with JAX alone, with jaxtyping and beartype, with the "
    "contracts of this project, and with the checks and laws around them?",
    hypothesis="JAX alone refuses most mistakes when all sizes differ and far fewer at the equal sizes that configs "
    "have. Contracts catch more than the stock tools in every class of fault, most of all in containers; what is left "
    "has the right shape, and needs a check of data or a law.",
    decision_rule="The run fails if ours refuses a mutant that changes nothing. Ours beats the stock tools if fewer "
    "faults pass it silently, at equal sizes, at distinct sizes and in what is handed over; a class in which more pass "
    "is named. A further rung (checks of data, tracing beforehand, laws) is worth having if it catches faults that "
    "every rung below lets pass.",
)


@dataclass(frozen=True)
class ContractFaults:
    """How many mistakes are caught before a wrong number comes out, and by whom.

    Plants single faults in the source of the decoder, and of a small training step and cache that stand in for the
    project's own; runs each under JAX alone, jaxtyping with beartype, and our contracts, at sizes that are all
    different and at sizes of which several are equal. Mistakes in data and checkpoints were written by hand.
    """

    every: int = 1
    """plant each n-th fault alone, for a quick look"""
    processes: int = 0
    """worker processes; 0: one a core, at most 8"""

    def __post_init__(self) -> None:
        if self.every < 1:
            raise InputError("--every", expected="at least 1", got=self.every)
        if self.processes < 0:
            raise InputError("--processes", expected="0 or more", got=self.processes)

    @property
    def workers(self) -> int:
        """Processes to use."""
        return self.processes or min(8, os.cpu_count() or 1)


def plan(arguments: ContractFaults) -> list[str]:
    """What a run would do and about how long it takes."""
    seconds = max(10, round(240 / arguments.every / arguments.workers))
    return [
        f"every fault of some 900 in three programs, each n-th with n = {arguments.every}, under 3 checkers at 2 sizes",
        "some 45 mistakes in data, checkpoints, tokenizers and caches, written by hand",
        f"about {seconds} s with {arguments.workers} processes",
    ]
