"""All that a run of the clock found, and the aims judged by it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from contracts.results import Row
from experiments.contract_cost.clock import Samples, Spread, spread
from experiments.contract_cost.programs import Programs
from experiments.contract_cost.question import DECORATION_US, IMPORT_MS

#: A later run counts as equal up to this relative difference: the clocks of machines differ.
_TOLERANCE = 2.0

#: Of these forms of call the stock tools look at every array; of the others they look at a sample.
COMPARED = ("two arrays", "a mixer's method")


@dataclass(frozen=True)
class Findings:
    """Seconds, by what was timed."""

    calls: Mapping[str, Samples]
    """form of signature to candidates"""
    decorations: Mapping[str, Samples]
    imports: Samples
    functions: int
    """under contract in the whole package"""
    lowering: Samples
    layers: int
    programs: Programs
    steps: Samples
    values: Samples
    cache_entries: tuple[int, int]

    def ratio(self, samples: Samples, candidate: str = "ours", to: str = "stock") -> Spread:
        """How many times as long, within one turn."""
        return spread(samples[candidate] / samples[to])

    @property
    def decoration(self) -> Spread:
        """Microseconds to decorate a function, in the dearest form."""
        each = [spread(samples["ours"]).times(1e6) for samples in self.decorations.values()]
        return max(each, key=lambda found: found.median)

    @property
    def import_overhead(self) -> Spread:
        """Milliseconds that importing everything takes longer with contracts on, within one turn."""
        return spread(self.imports["on"] - self.imports["off"]).times(1e3)

    def aims(self) -> dict[str, str]:
        """Aim to whether it is met."""
        found = {
            "decoration": self.decoration.against(DECORATION_US),
            "import": self.import_overhead.against(IMPORT_MS),
        }
        return found | {f"eager call, {form}": self.ratio(self.calls[form]).against(1.0) for form in COMPARED}

    def require_equal_programs(self) -> None:
        """Raise `AssertionError` unless contracts leave the lowered program and the compilation cache as they are."""
        for what, programs in self.programs.items():
            off, on = programs["off"], programs["ours"]
            if off != on:
                raise AssertionError(f"contracts change the lowered {what}: {off} without, {on} with them")
        before, after = self.cache_entries
        if not 0 < before == after:
            raise AssertionError(f"contracts change the key of the compilation cache: {before} entries, then {after}")


def rows(found: Findings) -> list[Row]:
    """Every figure, with its spread."""
    timed = [
        *_timed("eager_call", found.calls, 1e6, "microseconds"),
        *_timed("decoration", found.decorations, 1e6, "microseconds"),
        *_timed("import", {"contracts and research": found.imports}, 1e3, "milliseconds"),
        *_timed("trace_and_lower", {f"{found.layers} layers": found.lowering}, 1e3, "milliseconds"),
        *_timed("training_step", {"compiled": found.steps}, 1e3, "milliseconds"),
        *_timed("value_check", {"host": found.values}, 1e6, "microseconds"),
        _row("import_overhead", found.import_overhead, "milliseconds", {"functions": found.functions}),
        *(
            _row("eager_call_ratio", found.ratio(samples), "ratio", {"form": form, "of": "ours", "to": "stock"})
            for form, samples in found.calls.items()
        ),
    ]
    before, after = found.cache_entries
    exact = [
        Row(
            "stablehlo_differs",
            int(program != programs["off"]),
            "programs",
            "exact",
            "count",
            {"program": what, "checker": name},
        )
        for what, programs in found.programs.items()
        for name, program in programs.items()
    ]
    entries = Row("compilation_cache_entries_added_by_contracts", after - before, "entries", "exact", "count")
    return [*timed, *exact, entries]


def _timed(quantity: str, groups: Mapping[str, Samples], factor: float, unit: str) -> list[Row]:
    return [
        _row(quantity, spread(samples).times(factor), unit, {"form": form, "candidate": candidate})
        for form, group in groups.items()
        for candidate, samples in group.items()
    ]


def _row(quantity: str, found: Spread, unit: str, factors: dict[str, Any]) -> Row:
    return Row(
        quantity,
        found.median,
        unit,
        "timed",
        "clock",
        factors,
        low=found.low,
        high=found.high,
        n=found.n,
        tolerance=_TOLERANCE,
    )
