"""The question, the aims by which its answer is judged, and what may be varied."""

from dataclasses import dataclass

from contracts.errors import InputError
from contracts.results import Question

#: Aims: microseconds to decorate a function, milliseconds that importing the whole package may take longer.
DECORATION_US, IMPORT_MS = 100.0, 50.0

QUESTION = Question(
    name="contract_cost",
    question="What do contracts cost: at an eager call, at decoration, at import, while a decoder is traced and "
    "lowered, and in a compiled training step; and what do checks of values cost?",
    hypothesis="Contracts run when Python runs. So they cost microseconds at an eager call, less than the stock tools "
    "do, next to nothing at import, little while tracing, and nothing in the compiled program, which is the same byte "
    "for byte.",
    decision_rule="An aim is met if the interval from the 10th to the 90th percentile lies below it, missed if it lies "
    f"above, else undecided. Aims: decorating a function under {DECORATION_US:.0f} us; importing the whole package "
    f"under {IMPORT_MS:.0f} ms longer than with contracts off; an eager call at most as long as under jaxtyping with "
    "beartype (the ratio, taken in each repeat, at most 1) for every form of which both look at the same arrays. The "
    "run fails unless the lowered program has the same text with contracts on and off, and the second of the two "
    "compiles from the cache entry of the first.",
)


@dataclass(frozen=True)
class ContractCost:
    """What contracts cost at every moment at which they could: calls, decoration, import, tracing, compiled steps.

    All candidates of a comparison are timed in turn, in a new order each time, so that a slow second of the machine
    falls on all alike; ratios are taken within one turn.
    """

    repeats: int = 25
    """timings of each candidate"""
    layers: int = 12
    """layers of the decoder that is traced and lowered"""
    imports: int = 10
    """timings of each way to import the whole package"""
    seed: int = 0
    """seed of the order of timing"""

    def __post_init__(self) -> None:
        for name, least in (("repeats", 5), ("layers", 1), ("imports", 3)):
            if getattr(self, name) < least:
                raise InputError(f"--{name}", expected=f"at least {least}", got=getattr(self, name))


def plan(arguments: ContractCost) -> list[str]:
    """What a run would do and about how long it takes on two cores."""
    seconds = max(1, arguments.repeats * arguments.layers // 5)
    return [
        f"calls and decorations: {arguments.repeats} repeats of microseconds; about 5 s",
        f"import of the whole package: {arguments.imports} times on, off and under the stock hook; about 20 s",
        f"{arguments.layers} layers traced and lowered {arguments.repeats} times under 3 checkers; about {seconds} s",
        "a compiled training step, and the compilation cache in two fresh processes: about 30 s",
    ]
