"""All mutants and all cases, tried: in this process, or in several that share nothing but the source."""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, ClassVar, NamedTuple

import jax

from contracts import core
from contracts.errors import InputError
from experiments.contract_faults.handmade import Case, cases
from experiments.contract_faults.mutants import Lines, Mutant, lines_run_by, mutants
from experiments.contract_faults.programs import ALL_SIZES, PROGRAMS, Program, Sizes, laboratory
from experiments.contract_faults.regimes import copies_by_regime
from experiments.contract_faults.survivors import broken_law, reason
from experiments.contract_faults.trial import Bench, Outcome, Verdict, case_verdict
from research.progress import progress


class Trial(NamedTuple):
    """A mutant and what became of it."""

    mutant: Mutant
    outcome: Outcome
    law: str
    """the law of `verify` that sees what nothing else saw"""
    why: str
    """why nothing saw it, where that is so"""


class CaseTrial(NamedTuple):
    """A case written by hand and what became of it."""

    case: Case
    verdict: Verdict


def try_all(every: int, workers: int) -> tuple[list[Trial], list[CaseTrial]]:
    """Every n-th mutant, in the order of the source, and every case."""
    if not core.ENABLED:
        raise InputError("CONTRACTS", expected="on", got="off", hint="with contracts off there is nothing to compare")
    with laboratory() as again:
        planted = [mutant for program in PROGRAMS for mutant in _mutants_of(program, again)][::every]
    handed = cases()
    with _mapping(workers) as mapped, progress("faults", total=len(planted) + len(handed), unit="faults") as bar:
        tried = []
        for case, verdict in zip(handed, mapped(_try_case, range(len(handed))), strict=True):
            tried.append(CaseTrial(case, verdict))
            bar.advance()
        trials = []
        for trial in mapped(_try, planted):
            trials.append(trial)
            bar.advance()
    return trials, tried


def _mutants_of(program: Program, again: Callable[[], None]) -> list[Mutant]:
    """Faults on the lines that the program runs at any sizes."""
    ran: dict[str, frozenset[int]] = {}
    for sizes in ALL_SIZES:
        again()
        for file, lines in _lines_of(program, sizes).items():
            ran[file] = ran.get(file, frozenset()) | lines
    return mutants(program.name, program.modules, ran)


def _lines_of(program: Program, sizes: Sizes) -> Lines:
    copies = copies_by_regime()[0]["jax"]

    def run() -> None:
        models = program.build(copies, sizes.config)
        jax.eval_shape(lambda data: program.run(copies, models, sizes, data), program.input(sizes))

    return lines_run_by(run)


class _Worker:
    """What a process keeps: the laboratory, which stays open, and the benches made so far."""

    stack = ExitStack()
    again: Callable[[], None] | None = None
    benches: ClassVar[dict[str, Bench]] = {}


@contextmanager
def _mapping(workers: int) -> Iterator[Callable[..., Any]]:
    """`map`, here or over processes."""
    if workers > 1:
        context = multiprocessing.get_context("spawn")  # JAX's threads do not survive a fork
        with ProcessPoolExecutor(workers, mp_context=context, initializer=_open_for_good) as pool:
            yield partial(pool.map, chunksize=4)
        return
    with laboratory() as again:
        _Worker.again = again
        yield map
    _Worker.benches.clear()


def _open_for_good() -> None:
    _Worker.again = _Worker.stack.enter_context(laboratory())


def _try_case(index: int) -> Verdict:
    """The case of that number: its functions can't travel to another process."""
    assert _Worker.again is not None
    _Worker.again()
    return case_verdict(cases()[index])


def _try(mutant: Mutant) -> Trial:
    bench = _bench(mutant.program)
    outcome = bench.outcome(mutant)
    sizes = next((s for s in ALL_SIZES if outcome.at(s.name).is_silent and not outcome.ahead), None)
    law = broken_law(bench, mutant, sizes) if sizes is not None else ""
    why = reason(mutant) if sizes is not None and not law else ""
    return Trial(mutant._replace(definition=None), outcome, law, why)  # the tree is large and no longer needed


def _bench(name: str) -> Bench:
    assert _Worker.again is not None
    if name not in _Worker.benches:
        _Worker.benches[name] = Bench(next(program for program in PROGRAMS if program.name == name), _Worker.again)
    return _Worker.benches[name]
