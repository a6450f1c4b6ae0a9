"""The benches on which mutants are tried: loading a program under every regime takes seconds, so it is done once."""

from collections.abc import Callable, Iterator

import pytest

from experiments.contract_faults.programs import PROGRAMS, laboratory
from experiments.contract_faults.trial import Bench

_benches: dict[str, Bench] = {}


@pytest.fixture
def again() -> Iterator[Callable[[], None]]:
    """The laboratory is open for one test; calling this begins its random numbers again."""
    with laboratory() as again:
        yield again


@pytest.fixture
def bench(again: Callable[[], None]) -> Callable[[str], Bench]:
    """`bench("decoder")`."""

    def find(name: str) -> Bench:
        if name not in _benches:
            _benches[name] = Bench(next(program for program in PROGRAMS if program.name == name), again)
        _benches[name].again = again
        return _benches[name]

    return find
