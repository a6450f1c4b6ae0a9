"""One mutant under every regime: what JAX alone makes of it, and who raises an error before a number leaves it."""

import random
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr
from jaxtyping import TypeCheckError

from contracts.errors import ContractError
from contracts.parameters import parameter_differences
from experiments.contract_faults.evaluate import differ, evaluate
from experiments.contract_faults.handmade import Case
from experiments.contract_faults.mutants import Mutant
from experiments.contract_faults.programs import ALL_SIZES, EQUAL, Program, Sizes, first_module, parameters_of
from experiments.contract_faults.regimes import Copies, copies_by_regime

Effect = Literal["error", "wrong", "odd", "same"]
"""What JAX alone does: an error of its own; other numbers, silently; the same numbers, but something of another shape
or dtype went from function to function; or nothing that could be told apart."""

Catch = Literal["contract", "boundary", "error", ""]
"""Who raised: a checker of annotations, a check of data, JAX or Python; or nobody."""


class Verdict(NamedTuple):
    """A mutant at one kind of sizes."""

    effect: Effect
    stock: Catch
    ours: Catch
    with_boundary: Catch
    """ours, and the checks where data comes in"""

    @property
    def is_fault(self) -> bool:
        """Whether there is anything to catch."""
        return self.effect in ("error", "wrong")

    @property
    def is_silent(self) -> bool:
        """Whether a wrong number comes out of the run without a word."""
        return self.effect == "wrong" and not self.with_boundary


class Outcome(NamedTuple):
    """What becomes of a mutant."""

    equal: Verdict
    distinct: Verdict
    ahead: Catch
    """by `contracts check`: traced with distinct sizes, and for every B and T"""
    changes_for_any: bool = True
    """whether something else goes from function to function for every B and T, if nothing does at these sizes"""

    @property
    def verdicts(self) -> tuple[Verdict, Verdict]:
        """At equal and at distinct sizes."""
        return self.equal, self.distinct

    def at(self, sizes: str) -> Verdict:
        """The verdict at the sizes of that name."""
        return self.equal if sizes == EQUAL.name else self.distinct


class Run(NamedTuple):
    """What a program does, as far as it can be told."""

    program: ClosedJaxpr
    form: str
    """structure, shapes and dtypes of the result"""
    crossings: tuple[Any, ...]
    """what went into and out of each function under contract, and what the model holds, without the numbers"""


class Baseline(NamedTuple):
    """The program without a fault, at one kind of sizes."""

    models: dict[str, Any]
    """regime to models"""
    run: Run
    numbers: list[np.ndarray]


class Bench:
    """A program, loaded under every regime, and what it does without a fault."""

    def __init__(self, program: Program, again: Callable[[], None]) -> None:
        self.program, self.again = program, again
        self.copies, self.onlooker = copies_by_regime()
        self.baselines = {sizes.name: self._baseline(sizes) for sizes in ALL_SIZES}

    def verdict(self, mutant: Mutant, sizes: Sizes) -> Verdict:
        """The mutant at these sizes under every regime."""
        data = self.program.input(sizes)
        stock, ours = (self._caught(regime, mutant, sizes, data) for regime in ("stock", "ours"))
        return Verdict(self._effect(mutant, sizes), stock, ours, ours or self._boundary(mutant, sizes))

    def outcome(self, mutant: Mutant) -> Outcome:
        """The mutant at all sizes, and what is seen with no data at all."""
        equal, distinct = (self.verdict(mutant, sizes) for sizes in ALL_SIZES)
        any_size = self.program.symbolic_input(EQUAL)
        ahead = distinct.with_boundary or self._caught("ours", mutant, EQUAL, any_size)
        is_suspect = ahead == "contract" and equal.effect == distinct.effect == "same"
        return Outcome(equal, distinct, ahead, not is_suspect or self._changes_for_any(mutant))

    def _changes_for_any(self, mutant: Mutant) -> bool:
        any_size = self.program.symbolic_input(EQUAL)
        before = self.run(EQUAL, self.baselines[EQUAL.name].models["jax"], any_size)
        try:
            with self.copies["jax"].planted(*mutant.where):
                after = self.run(EQUAL, self.models_of("jax", mutant, EQUAL), any_size)
        except Exception:  # JAX can't do what it could do before
            return True
        return (before.form, before.crossings) != (after.form, after.crossings)

    def run(self, sizes: Sizes, models: Any, data: Any = None) -> Run:
        """The program under JAX alone, traced; on its own input unless there is another."""
        self.onlooker.crossings.clear()
        copies = self.copies["jax"]
        program, form = jax.make_jaxpr(lambda x: self.program.run(copies, models, sizes, x), return_shape=True)(
            self.program.input(sizes) if data is None else data
        )
        held = [f"{path} {leaf.dtype}{leaf.shape}" for path, leaf in parameters_of(first_module(models)).items()]
        return Run(program, _form(form), (*self.onlooker.crossings, *held))

    def models(self, regime: str, sizes: Sizes) -> Any:
        """The models, made anew."""
        self.again()
        return self.program.build(self.copies[regime], sizes.config)

    def _baseline(self, sizes: Sizes) -> Baseline:
        models = {regime: self.models(regime, sizes) for regime in self.copies}
        run = self.run(sizes, models["jax"])
        for regime, copies in self.copies.items():  # whatever refuses the right program would be no witness
            for data in (self.program.input(sizes), self.program.symbolic_input(sizes)):
                self._trace(copies, models[regime], sizes, data)
        return Baseline(models, run, evaluate(run.program, self.program.input(sizes)))

    def _trace(self, copies: Copies, models: Any, sizes: Sizes, data: Any) -> None:
        jax.eval_shape(lambda x: self.program.run(copies, models, sizes, x), data)

    def models_of(self, regime: str, mutant: Mutant, sizes: Sizes) -> Any:
        return self.models(regime, sizes) if mutant.builds_a_model else self.baselines[sizes.name].models[regime]

    def _effect(self, mutant: Mutant, sizes: Sizes) -> Effect:
        baseline = self.baselines[sizes.name]
        try:
            with self.copies["jax"].planted(*mutant.where):
                run = self.run(sizes, self.models_of("jax", mutant, sizes))
        except Exception:  # whatever it is, nobody gets a number
            return "error"
        if run.form != baseline.run.form:
            return "wrong"
        numbers = evaluate(run.program, self.program.input(sizes))
        if any(map(differ, baseline.numbers, numbers)):
            return "wrong"
        return "same" if run.crossings == baseline.run.crossings else "odd"

    def _caught(self, regime: str, mutant: Mutant, sizes: Sizes, data: Any) -> Catch:
        def attempt() -> None:
            with self.copies[regime].planted(*mutant.where):
                self._trace(self.copies[regime], self.models_of(regime, mutant, sizes), sizes, data)

        return _caught(attempt)

    def _boundary(self, mutant: Mutant, sizes: Sizes) -> Catch:
        """The table of parameters, which a checkpoint or a model is compared with before it is used."""
        if not mutant.builds_a_model:
            return ""
        with self.copies["ours"].planted(*mutant.where):
            model = first_module(self.models_of("ours", mutant, sizes))
        return "boundary" if parameter_differences(model.config, parameters_of(model)) else ""


def _form(result: Any) -> str:
    """A module in it has no equality of its own, so all is compared as text."""
    return str(jax.tree.structure(result)) + str([(leaf.dtype, leaf.shape) for leaf in jax.tree.leaves(result)])


def case_verdict(case: Case) -> Verdict:
    """A case under every regime."""
    copies, _ = copies_by_regime()
    stock, ours = (_case_caught(case, copies[regime]) for regime in ("stock", "ours"))
    return Verdict(_case_effect(case, copies["jax"]), stock, ours, ours or _refused(case))


def _case_effect(case: Case, copies: Copies) -> Effect:
    try:
        wrong, form = _traced(*case.wrong(copies))
    except Exception:  # whatever it is, nobody gets a number
        return "error"
    if case.right is None:
        return "wrong"
    right, right_form = _traced(*case.right(copies))
    pairs = zip(right(), wrong(), strict=True)
    return "wrong" if form != right_form or any(differ(*pair) for pair in pairs) else "same"


def _traced(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Callable[[], list[np.ndarray]], Any]:
    program, form = jax.make_jaxpr(lambda *given: function(*given), return_shape=True)(*arguments)
    return lambda: evaluate(program, *arguments), _form(form)


def _case_caught(case: Case, copies: Copies) -> Catch:
    def attempt() -> None:
        function, arguments = case.wrong(copies)
        jax.eval_shape(lambda *given: function(*given), *arguments)

    return _caught(attempt)


def _refused(case: Case) -> Catch:
    try:
        if case.refuse is not None:
            case.refuse()
    except ValueError:  # an InputError is one
        return "boundary"
    return ""


def _caught(attempt: Callable[[], None]) -> Catch:
    """Who raises in `attempt`."""
    random.seed(0)  # beartype draws the item of a list that it looks at
    try:
        attempt()
    except (ContractError, TypeCheckError):
        return "contract"
    except Exception:  # whatever it is, nobody gets a number
        return "error"
    return ""
