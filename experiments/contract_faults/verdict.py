"""The answer in sentences, judged by the rule that stood before the run."""

from collections.abc import Mapping, Sequence

from experiments.contract_faults.ladder import (
    DISTINCT,
    EQUAL,
    HANDED,
    RUNGS,
    Alarms,
    Fault,
    Rung,
    classes,
    kinds_on,
    silent,
    sleeping,
)
from experiments.contract_faults.runs import Trial
from experiments.contract_faults.trial import Verdict

_PLACES = {EQUAL: "in code at equal sizes", DISTINCT: "in code at distinct sizes", HANDED: "in what is handed over"}


def verdict(found: Mapping[str, Sequence[Fault]], alarms: Sequence[Alarms]) -> str:
    """Silent faults of JAX, the stock tools and ours, then the rungs above, then false alarms."""
    passing = "; ".join(_passing(setting, chosen) for setting, chosen in found.items() if chosen)
    judged = [setting for setting, chosen in found.items() if chosen]
    beaten = [s for s in judged if silent(found[s], "ours") < silent(found[s], "stock")]
    name = "Ours beats the stock tools" if beaten == judged else _partly(beaten, judged)
    same = sum(a.mutants for a in alarms if a.effect == "same")
    return (
        f"Faults that pass silently under JAX alone, jaxtyping with beartype, and ours: {passing}. {name}"
        f"{_worse(found)}. {_ladder(found[EQUAL])} No false alarm in {same} runs of mutants that change nothing."
    )


def _passing(setting: str, chosen: Sequence[Fault]) -> str:
    counts = ", ".join(f"{silent(chosen, rung)}" for rung in ("jax", "stock", "ours"))
    return f"{_PLACES[setting]} {counts} of {len(chosen)}"


def _partly(beaten: Sequence[str], judged: Sequence[str]) -> str:
    others = [_PLACES[setting] for setting in judged if setting not in beaten]
    if not beaten:
        return "Ours does not beat the stock tools"
    return f"Ours beats the stock tools {' and '.join(_PLACES[s] for s in beaten)}, not {' nor '.join(others)}"


def _worse(found: Mapping[str, Sequence[Fault]]) -> str:
    """The classes in which ours lets more pass."""
    worse = [
        f"{name} ({setting}: {silent(members, 'ours')} against {silent(members, 'stock')})"
        for setting, chosen in found.items()
        for name, members in classes(chosen).items()
        if silent(members, "ours") > silent(members, "stock")
    ]
    return f", but lets more pass in {', '.join(worse)}" if worse else " and lets more pass in no class"


def _ladder(chosen: Sequence[Fault]) -> str:
    """What each rung above ours adds."""
    below = silent(chosen, "ours")
    parts = []
    steps: tuple[tuple[Rung, str], ...] = (
        ("boundary", "the table of parameters"),
        ("ahead", "tracing beforehand with distinct and symbolic sizes"),
        ("laws", "the laws of verify"),
    )
    for rung, what in steps:
        left = silent(chosen, rung)
        parts.append(f"{what} {below - left}")
        below = left
    return f"Of those that ours lets pass at equal sizes, {', '.join(parts)} more are caught; {below} are left."


def highlights(found: Mapping[str, Sequence[Fault]], trials: Sequence[Trial]) -> list[str]:
    """What a reader should take home."""
    return [
        _of_sizes(found, trials),
        _of_places(found),
        _of_words(found),
        _of_stock_alone(trials),
        _of_data(found[HANDED]),
    ]


def _of_sizes(found: Mapping[str, Sequence[Fault]], trials: Sequence[Trial]) -> str:
    equal, distinct = (kinds_on(found[s], "jax")["error"] / len(found[s]) for s in (EQUAL, DISTINCT))
    hidden, seen = sleeping(trials)
    return (
        f"Equal sizes hide faults: JAX alone refuses {equal:.0%} of them there and {distinct:.0%} at distinct sizes. "
        f"{hidden} more change nothing at equal sizes and something at distinct ones; tracing beforehand sees {seen}."
    )


def _of_places(found: Mapping[str, Sequence[Fault]]) -> str:
    crossing = [fault for fault in found[DISTINCT] if not fault.inside]
    inside = [fault for fault in found[DISTINCT] if fault.inside]
    return (
        f"A contract stands between functions. At distinct sizes {silent(crossing, 'ours')} of {len(crossing)} faults "
        f"that cross one pass ours, {silent(crossing, 'stock')} the stock tools and {silent(crossing, 'jax')} JAX; of "
        f"{len(inside)} faults inside a function {silent(inside, 'ours')}, {silent(inside, 'stock')} and "
        f"{silent(inside, 'jax')}, for they come out in the right shape."
    )


def _of_words(found: Mapping[str, Sequence[Fault]]) -> str:
    stock, ours = (kinds_on(found[EQUAL], rung)["contract"] for rung in ("stock", "ours"))
    return (
        f"At {ours} of {len(found[EQUAL])} faults at equal sizes ours speaks before JAX stumbles, and names argument "
        f"and dims; {RUNGS['stock']} at {stock}."
    )


def _of_stock_alone(trials: Sequence[Trial]) -> str:
    """What the stock tools refuse and ours does not, and where that stands."""
    missed = [trial.mutant for trial in trials if any(map(_is_refused_by_stock_alone, trial.outcome.verdicts))]
    if not missed:
        return f"Every fault in code that {RUNGS['stock']} refuses is refused by ours."
    names = ", ".join(sorted({mutant.qualname for mutant in missed}))
    outside = sum(mutant.crosses_no_array for mutant in missed)
    which = {0: "none", len(missed): "all"}.get(outside, f"{outside} of them")
    return (
        f"Faults that {RUNGS['stock']} refuses and ours lets pass: {len(missed)}, in {names}; {which} in functions "
        "that neither take nor return an array, where no contract of ours stands and the stock hook checks plain "
        "types, as a type checker does before anything runs."
    )


def _is_refused_by_stock_alone(verdict: Verdict) -> bool:
    return verdict.is_fault and bool(verdict.stock) and not verdict.ours


def _of_data(handed: Sequence[Fault]) -> str:
    return (
        f"Of {len(handed)} wrong things handed over, {silent(handed, 'jax')} pass JAX, {silent(handed, 'stock')} the "
        f"stock tools, {silent(handed, 'ours')} ours, and {silent(handed, 'boundary')} ours with the checks of data."
    )
