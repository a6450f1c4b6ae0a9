"""The vocabulary of `verify`: a law, the verdict on it, and the report that a person reads or a program does.

A law is a function whose docstring is its statement. It returns the smallest counterexample in one line, nothing if
it found none, and raises `NotApplicable` where it has no say.
"""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from contracts.errors import ContractError, InputError
from contracts.laws.search import Effort, Search, raised

Verdict = Literal["broken", "kept", "not applicable"]


class NotApplicable(Exception):
    """A law has no say about this object; the message is the reason."""


@dataclass(frozen=True)
class Law:
    """What must hold for every object of a protocol."""

    check: Callable[[Any, Search], str]
    """(object, search) to the smallest counterexample, empty if there is none"""
    needs: tuple[str, ...] = ()
    """laws without which this one would only repeat their failure"""

    @property
    def name(self) -> str:
        """How the command line and the report call it: `round-trip`."""
        return self.check.__name__.replace("_", "-")

    @property
    def statement(self) -> str:
        """The law itself, in one sentence."""
        return " ".join((self.check.__doc__ or "").split())


@dataclass(frozen=True)
class Outcome:
    """The verdict on one law, and what it rests on."""

    law: str
    verdict: Verdict
    detail: str
    """the smallest counterexample, the reason why the law does not apply, or what was tried"""
    statement: str

    def __str__(self) -> str:
        line = f"  {self.verdict:14}  {self.law:34}  {self.detail}"
        return f"{line}\n{'':18}the law: {self.statement}" if self.verdict == "broken" else line


@dataclass(frozen=True)
class Report:
    """All verdicts on one object; `str(report)` is for people, `report.as_dict()` for programs."""

    subject: str
    outcomes: tuple[Outcome, ...]
    remark: str = ""

    @property
    def broken(self) -> tuple[Outcome, ...]:
        """The laws that do not hold."""
        return self.of("broken")

    def of(self, verdict: Verdict) -> tuple[Outcome, ...]:
        """The outcomes with that verdict."""
        return tuple(outcome for outcome in self.outcomes if outcome.verdict == verdict)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dataclasses.asdict(self)

    @property
    def summary(self) -> str:
        """How many laws are broken, kept and not applicable, in one line."""
        counts = {verdict: len(self.of(verdict)) for verdict in get_args(Verdict)}
        said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count) or "no law was tried"
        return f"{self.subject}: {said}" + (f" ({self.remark})" if self.remark else "")

    def __str__(self) -> str:
        return "\n".join([self.summary, *map(str, self.outcomes)])


class LawBroken(ContractError, AssertionError):
    """An object breaks a law of its protocol; `report` holds every verdict."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report

    def __reduce__(self) -> tuple[Any, ...]:
        return (LawBroken, (self.report,))


def judge(
    laws: Sequence[Law],
    subject: Any,
    effort: Effort,
    only: Iterable[str] = (),
    skip: Iterable[str] = (),
    watch: Callable[[Outcome], object] = lambda outcome: None,
) -> tuple[Outcome, ...]:
    """Try the laws in order, all of them or those named; `watch` is told each outcome as it is known.

    Raises `InputError` for a name that no law has.
    """
    only, skip = tuple(only), tuple(skip)
    names = [law.name for law in laws]
    for name in (*only, *skip):
        if name not in names:
            raise InputError("law", expected=f"one of {', '.join(names)}", got=repr(name))
    outcomes: dict[str, Outcome] = {}
    for law in laws:
        if law.name not in skip and (not only or law.name in only):
            outcomes[law.name] = _judge_one(law, subject, effort, outcomes)
            watch(outcomes[law.name])
    return tuple(outcomes.values())


def _judge_one(law: Law, subject: Any, effort: Effort, before: dict[str, Outcome]) -> Outcome:
    def outcome(verdict: Verdict, detail: str) -> Outcome:
        return Outcome(law.name, verdict, detail, law.statement)

    for need in law.needs:
        if need in before and before[need].verdict != "kept":
            return outcome("not applicable", f"presupposes {need}")
    search = Search(effort)
    try:
        counterexample = law.check(subject, search)
    except NotApplicable as reason:
        return outcome("not applicable", str(reason))
    except Exception as error:  # of the object: the law called it on an example that nothing excludes
        return outcome("broken", f"raises {raised(error)}")
    if counterexample:
        return outcome("broken", counterexample)
    if not search.tried:
        return outcome("not applicable", "no example could be judged")
    return outcome("kept", search.account())
