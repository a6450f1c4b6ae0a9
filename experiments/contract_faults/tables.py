"""The findings as tables: by class and rung, what is refused for nothing, and every survivor with its reason."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.contract_faults.handmade import Case
from experiments.contract_faults.ladder import (
    DISTINCT,
    EQUAL,
    HANDED,
    RUNGS,
    Alarms,
    Fault,
    classes,
    kinds_on,
    rungs,
    silent,
)
from experiments.contract_faults.runs import CaseTrial, Trial
from experiments.tables import Table

_SETTINGS = {
    EQUAL: "Faults in code, at equal sizes (B = T, H = G = K, D = H K, powers of two)",
    DISTINCT: "Faults in code, at distinct sizes (no two alike, T = 7)",
    HANDED: "Faults in what is handed over",
}

_NOTES = {
    EQUAL: "Caught of all. Caught means an error, whoever raises it, before a number comes out; from `ours` on each "
    "column keeps what the one before it caught.",
    DISTINCT: "The same faults where no two sizes are equal: JAX itself refuses more of them.",
    HANDED: "Data, checkpoints, tokenizers and caches that belong to something else; written by hand.",
}


def tables(
    found: Mapping[str, Sequence[Fault]],
    alarms: Sequence[Alarms],
    trials: Sequence[Trial],
    tried: Sequence[CaseTrial],
) -> list[Table]:
    """All of them, the one that answers the question first."""
    return [
        *(_by_class(setting, chosen) for setting, chosen in found.items() if chosen),
        _by_place(found),
        _who_speaks(found),
        _alarms(alarms),
        _reasons(trials, tried),
    ]


def _by_class(setting: str, chosen: Sequence[Fault]) -> Table:
    steps = rungs(chosen)
    rows = [
        (name, f"{len(members)}", *(f"{len(members) - silent(members, rung)}" for rung in steps))
        for name, members in classes(chosen).items()
    ]
    total = ("all", f"{len(chosen)}", *(f"{len(chosen) - silent(chosen, rung)}" for rung in steps))
    columns = ("class", "faults", *(RUNGS[rung] for rung in steps))
    return Table(_SETTINGS[setting], columns, (*rows, total), _NOTES[setting])


def _by_place(found: Mapping[str, Sequence[Fault]]) -> Table:
    rows = []
    for setting in (EQUAL, DISTINCT):
        for inside, where in ((True, "inside a function"), (False, "on the way into or out of one")):
            chosen = [fault for fault in found[setting] if fault.inside == inside]
            passing = (f"{silent(chosen, rung)}" for rung in ("jax", "stock", "ours"))
            rows.append((f"{where}, {setting} sizes", f"{len(chosen)}", *passing))
    return Table(
        "How many pass silently, by place",
        ("place", "faults", "JAX alone", "jaxtyping + beartype", "ours"),
        tuple(rows),
        "A contract stands where arrays cross from function to function. What goes wrong between two crossings and "
        "comes out in the right shape passes it.",
    )


def _who_speaks(found: Mapping[str, Sequence[Fault]]) -> Table:
    rows = []
    for setting, chosen in found.items():
        for rung in ("stock", "ours"):
            kinds = kinds_on(chosen, rung)
            named = f"{kinds['contract']}"
            rows.append((f"{RUNGS[rung]}, {setting}", named, f"{kinds['error']}", f"{kinds['silent']}"))
    return Table(
        "Who speaks first",
        ("checker, setting", "the checker", "JAX or Python", "nobody"),
        tuple(rows),
        "Where the checker speaks first, its error names the argument and why it does not fit. The stock hook "
        "decorates every function, and so checks plain types too; ours stands where arrays cross.",
    )


def _alarms(alarms: Sequence[Alarms]) -> Table:
    what = {"same": "nothing changes", "odd": "another shape or dtype between functions, same numbers"}
    return Table(
        "Refused for nothing",
        ("mutants", "tried", "refused by jaxtyping + beartype", "refused by ours"),
        tuple((f"{what[a.effect]}, {a.setting} sizes", f"{a.mutants}", f"{a.stock}", f"{a.ours}") for a in alarms),
        "The first two lines have to be 0 for ours, or the run fails. In the others the annotation is broken in fact.",
    )


def _reasons(trials: Sequence[Trial], tried: Sequence[CaseTrial]) -> Table:
    counted = Counter(_seen(trial) for trial in trials if trial.law or trial.why)
    counted += Counter(f"nothing: {case.unseen}" for case in _unseen(tried))
    return Table(
        "What passes every contract and check of data, and what would see it",
        ("seen by", "faults"),
        tuple((reason, f"{count}") for reason, count in counted.most_common()),
        "Each of them is in [survivors.md](survivors.md).",
    )


def write_survivors(folder: Path, trials: Sequence[Trial], tried: Sequence[CaseTrial]) -> list[str]:
    """Write `survivors.md`, each of them in a line: too many for a terminal."""
    rows = [(f"{t.mutant.place}: `{t.mutant.what}`", t.mutant.fault, _seen(t)) for t in trials if t.law or t.why]
    rows += [(f"handed over: {case.what}", case.fault, f"nothing: {case.unseen}") for case in _unseen(tried)]
    table = Table("What passes every contract and check of data", ("place and change", "class", "seen by"), tuple(rows))
    (folder / "survivors.md").write_text(table.markdown(), encoding="utf-8")
    return ["survivors.md"]


def _unseen(tried: Sequence[CaseTrial]) -> list[Case]:
    return [case for case, verdict in tried if verdict.is_silent]


def _seen(trial: Trial) -> str:
    return f"law {trial.law}" if trial.law else f"nothing: {trial.why}"
