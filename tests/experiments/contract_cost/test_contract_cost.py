"""What the clock says of contracts, and the two things that are no matter of the clock: the program and the cache."""

import json
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from contracts.errors import InputError
from experiments.contract_cost import QUESTION, ContractCost, measure, plan
from experiments.contract_cost.calls import CHECKERS, eager_calls, forms, off
from experiments.contract_cost.clock import Spread, interleaved, spread
from experiments.contract_cost.findings import Findings
from experiments.contract_cost.programs import SMALL, Lowered, cache_entries, lowered_programs
from experiments.recording import recording

ROOT = Path(__file__).parents[3]


def findings(**changes: object) -> Findings:
    """Made-up seconds: ours takes 30 us where the stock tools take 60, and importing takes 2 ms longer."""
    calls = {form.name: {"none": np.full(9, 1e-7), "off": np.full(9, 1e-7)} for form in forms()}
    for samples in calls.values():
        samples |= {"stock": np.full(9, 6e-5), "ours": np.full(9, 3e-5)}
    found = Findings(
        calls=calls,
        decorations={form: {"ours": np.full(9, 2e-5), "stock": np.full(9, 2e-3)} for form in calls},
        imports={"on": np.full(9, 0.202), "off": np.full(9, 0.2), "stock": np.full(9, 0.3)},
        functions=40,
        lowering={name: np.full(9, 0.1) for name in ("off", "stock", "ours")},
        layers=12,
        programs={"decoder": {name: Lowered(100, "same") for name in ("off", "stock", "ours")}},
        steps={name: np.full(9, 0.1) for name in ("off", "stock", "ours", "flags")},
        values={"ids": np.full(9, 1e-5)},
        cache_entries=(3, 3),
    )
    return replace(found, **changes)  # type: ignore[arg-type]


@pytest.mark.slow
def test_contracts_leave_the_lowered_program_the_same_byte_for_byte():
    found = lowered_programs(replace(SMALL, n_layers=1))
    assert set(found) == {"decoder", "training step"}
    for programs in found.values():
        assert programs["off"].lines > 50
        assert set(programs) == {"off", "stock", "ours"}
        assert len(set(programs.values())) == 1


@pytest.mark.slow
def test_one_entry_of_the_compilation_cache_serves_contracts_on_and_off():
    before, after = cache_entries()
    assert before >= 1
    assert after == before


@pytest.mark.needs_contracts
def test_off_leaves_the_function_as_it_was_written():
    def function(x: int) -> int:
        return x

    assert off(function) is function
    assert CHECKERS["ours"](function) is not function


def test_every_checker_returns_what_the_function_returns():
    for form in forms():
        results = [decorate(form.function)(*form.arguments) for decorate in CHECKERS.values()]
        assert all(result is results[0] for result in results)


@pytest.mark.slow
def test_each_candidate_is_called_once_in_every_turn():
    turns: list[str] = []

    def call(name: str) -> None:
        turns.append(name)
        time.sleep(0.003)  # longer than a sample, so that one call fills it

    interleaved("", {name: partial(call, name) for name in "ab"}, repeats=5, seed=0, clock=time.perf_counter)
    timed = turns[4:]  # after one call that is not counted and one that says how many fill a sample
    assert all({*timed[i : i + 2]} == {"a", "b"} for i in range(0, 10, 2))
    assert len(timed) == 10


@pytest.mark.slow
def test_a_call_takes_its_own_time_whatever_else_is_called():
    samples = interleaved("", {"long": lambda: sum(range(20_000)), "short": lambda: None}, repeats=5, seed=0)
    assert spread(samples["long"]).median > 20 * spread(samples["short"]).median


def test_a_ratio_is_taken_within_a_turn_so_that_a_slow_turn_of_the_machine_cancels():
    slow = np.array([1.0, 1.0, 9.0, 1.0, 1.0])
    found = findings().ratio({"stock": 2 * slow, "ours": slow})
    assert (found.median, found.low, found.high) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(80, 99, "met"), (90, 110, "undecided"), (101, 120, "missed"), (90, 100, "met")]
)
def test_an_aim_is_judged_by_the_whole_interval(low: float, high: float, verdict: str):
    assert Spread(0.0, low, high, 9).against(100) == verdict


def test_the_dearest_form_is_held_against_the_aim_of_decoration():
    decorations = dict(findings().decorations)
    decorations["two arrays"] = {"ours": np.full(9, 3e-4)}
    found = findings(decorations=decorations)
    assert found.decoration.median == pytest.approx(300)
    assert found.aims()["decoration"] == "missed"
    assert findings().aims()["decoration"] == "met"


def test_importing_is_judged_by_the_difference_within_a_turn():
    assert findings().import_overhead.median == pytest.approx(2)
    slower = findings(imports={"on": np.full(9, 0.3), "off": np.full(9, 0.2)})
    assert slower.aims()["import"] == "missed"


def test_a_program_that_contracts_change_fails_the_run():
    programs = {**findings().programs["decoder"], "ours": Lowered(101, "other")}
    with pytest.raises(AssertionError, match="contracts change the lowered decoder"):
        findings(programs={"decoder": programs}).require_equal_programs()


@pytest.mark.parametrize("entries", [(3, 4), (0, 0)])
def test_a_cache_entry_of_its_own_or_no_entry_at_all_fails_the_run(entries: tuple[int, int]):
    with pytest.raises(AssertionError, match="compilation cache"):
        findings(cache_entries=entries).require_equal_programs()


@pytest.mark.slow
@pytest.mark.needs_contracts
def test_an_eager_call_under_a_contract_takes_longer_than_none():
    samples = eager_calls(forms()[0], repeats=5, seed=0)
    assert spread(samples["ours"] / samples["none"]).low > 5


@pytest.mark.parametrize(("settings", "option"), [({"repeats": 4}, "--repeats"), ({"layers": 0}, "--layers")])
def test_bad_arguments_are_refused_by_name(settings: dict[str, int], option: str):
    with pytest.raises(InputError, match=option):
        ContractCost(**settings)


def test_a_plan_tells_layers_and_repeats():
    assert "12 layers traced and lowered 25 times" in "\n".join(plan(ContractCost()))


def test_help_needs_no_jax():
    code = "import sys, experiments.contract_cost; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.slow
def test_a_run_writes_every_quantity_once(tmp_path: Path):
    arguments = ContractCost(repeats=5, layers=1, imports=3)
    with recording(QUESTION, arguments, tmp_path / "out") as record:
        record.finish(measure(arguments))
    rows = [json.loads(line) for line in (tmp_path / "out" / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    keys = [(row["quantity"], json.dumps(row.get("factors", {}), sort_keys=True)) for row in rows]
    assert len(set(keys)) == len(keys)
    assert {row["quantity"] for row in rows} >= {
        "eager_call",
        "decoration",
        "import",
        "import_overhead",
        "trace_and_lower",
        "training_step",
        "value_check",
        "stablehlo_differs",
    }
    assert all(row["value"] == 0 for row in rows if row["quantity"] == "stablehlo_differs")
