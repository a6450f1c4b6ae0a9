"""The ladder: JAX alone, the stock tools, ours, and what this project adds to ours; who catches how much on which rung.

From `ours` on each rung keeps what the one below caught, so what is new on it is what it alone adds.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from contracts.results import Factor, Row
from experiments.contract_faults.runs import CaseTrial, Trial
from experiments.contract_faults.trial import Verdict

Rung = Literal["jax", "stock", "ours", "boundary", "ahead", "laws"]

RUNGS: Mapping[Rung, str] = {
    "jax": "JAX alone",
    "stock": "jaxtyping + beartype",
    "ours": "ours",
    "boundary": "+ checks of data",
    "ahead": "+ traced beforehand",
    "laws": "+ laws of verify",
}

#: The sizes at which somebody runs, and what was handed over by hand.
EQUAL, DISTINCT, HANDED = "equal", "distinct", "handed over"

Kind = Literal["error", "contract", "boundary", "ahead", "law", "silent"]


class Fault(NamedTuple):
    """A fault as it shows in one setting: its class, and who catches it on every rung."""

    fault: str
    inside: bool
    caught: Mapping[Rung, Kind]


def faults(trials: Sequence[Trial], tried: Sequence[CaseTrial]) -> dict[str, list[Fault]]:
    """Setting to its faults. Laws are run at the sizes at which a fault shows first, so at equal sizes alone."""
    found: dict[str, list[Fault]] = {EQUAL: [], DISTINCT: [], HANDED: []}
    for trial in trials:
        for setting in (EQUAL, DISTINCT):
            verdict = trial.outcome.at(setting)
            if verdict.is_fault:
                kinds = _kinds(verdict)
                if setting == EQUAL:
                    kinds["ahead"] = _or(kinds["boundary"], "ahead" if trial.outcome.ahead else "silent")
                    kinds["laws"] = _or(kinds["ahead"], "law" if trial.law else "silent")
                found[setting].append(Fault(trial.mutant.fault, trial.mutant.inside, kinds))
    for case, verdict in tried:
        if verdict.is_fault:
            found[HANDED].append(Fault(case.fault, False, _kinds(verdict)))
    return found


def _kinds(verdict: Verdict) -> dict[Rung, Kind]:
    return {
        "jax": "error" if verdict.effect == "error" else "silent",
        "stock": verdict.stock or "silent",
        "ours": verdict.ours or "silent",
        "boundary": verdict.with_boundary or "silent",
    }


def _or(below: Kind, new: Kind) -> Kind:
    return new if below == "silent" else below


def rungs(chosen: Sequence[Fault]) -> list[Rung]:
    """The rungs that these faults were tried on."""
    return [rung for rung in RUNGS if chosen and rung in chosen[0].caught]


def kinds_on(chosen: Sequence[Fault], rung: Rung) -> Counter[Kind]:
    """Who caught how many."""
    return Counter(fault.caught[rung] for fault in chosen)


def silent(chosen: Sequence[Fault], rung: Rung) -> int:
    """How many pass without a word."""
    return kinds_on(chosen, rung)["silent"]


def classes(chosen: Sequence[Fault]) -> dict[str, list[Fault]]:
    """Class to its faults, the largest first."""
    found: dict[str, list[Fault]] = {}
    for fault in chosen:
        found.setdefault(fault.fault, []).append(fault)
    return dict(sorted(found.items(), key=lambda item: (-len(item[1]), item[0])))


def fault_rows(found: Mapping[str, Sequence[Fault]]) -> list[Row]:
    """How many faults of each class are caught on each rung."""
    return [
        Row(
            "caught_faults",
            len(members) - silent(members, rung),
            "faults",
            "exact",
            "count",
            {"setting": setting, "fault": name, "checker": rung, "of": len(members)},
        )
        for setting, chosen in found.items()
        for name, members in classes(chosen).items()
        for rung in rungs(members)
    ]


def mutant_rows(trials: Sequence[Trial], tried: Sequence[CaseTrial]) -> list[Row]:
    """Every mutant and every case with all that became of it; what nobody did is left out."""
    rows = []
    for mutant, outcome, law, why in trials:
        factors: dict[str, Factor] = {
            "program": mutant.program,
            "place": mutant.place,
            "fault": mutant.fault,
            "change": mutant.what,
            "inside": mutant.inside,
            **_factors("equal ", outcome.equal),
            **_factors("distinct ", outcome.distinct),
            **_if_any({"traced beforehand": outcome.ahead, "law": law, "unseen because": why}),
        }
        rows.append(Row("mutant", 1, "mutants", "exact", "count", factors))
    for case, verdict in tried:
        why = case.unseen if verdict.is_silent else ""
        factors = {
            "fault": case.fault,
            "change": case.what,
            **_factors("", verdict),
            **_if_any({"unseen because": why}),
        }
        rows.append(Row("handed_over", 1, "cases", "exact", "count", factors))
    return rows


def _factors(prefix: str, verdict: Verdict) -> dict[str, str]:
    checkers = {"stock": verdict.stock, "ours": verdict.ours, "boundary": verdict.with_boundary}
    return {f"{prefix}effect": verdict.effect, **_if_any({f"{prefix}{name}": who for name, who in checkers.items()})}


def _if_any(factors: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in factors.items() if value}


class Alarms(NamedTuple):
    """Mutants that change nothing, and how many of them a checker refuses all the same."""

    setting: str
    effect: str
    mutants: int
    stock: int
    ours: int


def alarms(trials: Sequence[Trial]) -> list[Alarms]:
    """By setting; `same` changes nothing, `odd` changes what goes from function to function, but no number."""
    found = []
    for effect in ("same", "odd"):
        for setting in (EQUAL, DISTINCT):
            verdicts = [trial.outcome.at(setting) for trial in trials]
            chosen = [verdict for verdict in verdicts if verdict.effect == effect]
            stock, ours = (sum(bool(getattr(verdict, who)) for verdict in chosen) for who in ("stock", "ours"))
            found.append(Alarms(setting, effect, len(chosen), stock, ours))
    return found


def alarm_rows(alarms: Sequence[Alarms]) -> list[Row]:
    """How many mutants that change no number are refused."""
    return [
        Row(
            "refused_for_nothing",
            getattr(alarm, checker),
            "mutants",
            "exact",
            "count",
            {"setting": alarm.setting, "effect": alarm.effect, "checker": checker, "of": alarm.mutants},
        )
        for alarm in alarms
        for checker in ("stock", "ours")
    ]


def false_alarms(trials: Sequence[Trial]) -> list[str]:
    """What ours refuses though nothing changed: a run, or the tracing before it."""
    found = []
    for mutant, outcome, _, _ in trials:
        refused = [s for s in (EQUAL, DISTINCT) if outcome.at(s).effect == "same" and outcome.at(s).ours]
        nothing_changed = outcome.equal.effect == outcome.distinct.effect == "same" and not outcome.changes_for_any
        if nothing_changed and outcome.ahead == "contract":
            refused.append("any B and T")
        found += [f"{mutant.place}: {mutant.what} ({setting})" for setting in refused]
    return found


def sleeping(trials: Sequence[Trial]) -> tuple[int, int]:
    """Mutants that change nothing at equal sizes and something at distinct ones; how many tracing beforehand sees."""
    chosen = [
        trial for trial in trials if trial.outcome.equal.effect in ("same", "odd") and trial.outcome.distinct.is_fault
    ]
    return len(chosen), sum(bool(trial.outcome.ahead) for trial in chosen)
