"""The run, the ladder that it is read off, and the committed result."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from contracts import core
from contracts.errors import InputError
from experiments.contract_faults import QUESTION, ContractFaults, ladder, measure, plan, verdict
from experiments.contract_faults.figure import draw
from experiments.contract_faults.handmade import Case, cases
from experiments.contract_faults.ladder import Fault
from experiments.contract_faults.mutants import Mutant
from experiments.contract_faults.runs import CaseTrial, Trial, try_all
from experiments.contract_faults.trial import Catch, Effect, Outcome, Verdict
from experiments.figures import save
from experiments.recording import recording

ROOT = Path(__file__).parents[3]


def trial(
    effect: Effect = "wrong",
    stock: Catch = "",
    ours: Catch = "",
    boundary: Catch = "",
    ahead: Catch = "",
    law: str = "",
) -> Trial:
    mutant = Mutant("decoder", "research.model.rotary", "rotate", 22, 5, "axes swapped", "x -> y", True, None)
    verdict = Verdict(effect, stock, ours, boundary or ours)
    return Trial(mutant, Outcome(verdict, verdict, ahead or verdict.with_boundary, effect != "same"), law, "")


def only(trials: list[Trial]) -> Fault:
    (fault,) = ladder.faults(trials, [])["equal"]
    return fault


def test_each_rung_keeps_what_the_one_below_caught():
    assert dict(only([trial(ours="contract")]).caught) == {
        "jax": "silent",
        "stock": "silent",
        "ours": "contract",
        "boundary": "contract",
        "ahead": "contract",
        "laws": "contract",
    }
    assert [only([trial(law="causality")]).caught[rung] for rung in ladder.RUNGS] == ["silent"] * 5 + ["law"]
    assert only([trial(ahead="error")]).caught["ahead"] == "ahead"
    assert only([trial(effect="error", stock="error", ours="error")]).caught["jax"] == "error"


@pytest.mark.parametrize("effect", ["same", "odd"])
def test_a_mutant_that_changes_no_number_is_no_fault(effect: Effect):
    assert ladder.faults([trial(effect=effect, ours="contract")], [])["equal"] == []


def test_a_false_alarm_is_named_by_place_and_setting():
    assert (
        ladder.false_alarms([trial(effect="same"), trial(effect="odd", ours="contract"), trial(ours="contract")]) == []
    )
    (equal, distinct, ahead) = ladder.false_alarms([trial(effect="same", ours="contract")])
    assert equal == "rotary.py:22:5 rotate: x -> y (equal)"
    assert distinct.endswith("(distinct)")
    assert ahead.endswith("(any B and T)")


def test_a_false_alarm_fails_the_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "experiments.contract_faults.runs.try_all", lambda *_: ([trial(effect="same", ours="contract")], [])
    )
    with pytest.raises(AssertionError, match="refused though nothing changed: rotary"):
        measure(ContractFaults())


def test_every_fault_of_a_class_is_counted_on_every_rung():
    trials = [trial(), trial(ours="contract"), trial(stock="contract", ours="contract")]
    rows = {(r.factors["setting"], r.factors["checker"]): r for r in ladder.fault_rows(ladder.faults(trials, []))}
    assert [rows["equal", rung].value for rung in ladder.RUNGS] == [0, 1, 2, 2, 2, 2]
    assert rows["equal", "ours"].factors["of"] == 3


def test_the_verdict_names_the_classes_in_which_ours_lets_more_pass():
    trials = [trial(ours="contract"), trial(ours="contract"), trial(ours="contract"), trial(stock="contract")]
    handed = [
        CaseTrial(Case("batch", "x", lambda copies: (lambda: None, ())), Verdict("wrong", "", "contract", "contract"))
    ]
    found = ladder.faults(trials, handed)
    said = verdict.verdict(found, ladder.alarms(trials))
    assert "Ours beats the stock tools and lets more pass in no class" in said
    assert "in what is handed over 1, 1, 0 of 1" in said
    worse = ladder.faults([trial(stock="contract"), *trials[:1]], [])
    assert "Ours does not beat the stock tools" in verdict.verdict(worse, ladder.alarms(trials))
    worse = ladder.faults([trial(stock="contract")], [])
    assert "lets more pass in axes swapped (equal: 1 against 0)" in verdict.verdict(worse, ladder.alarms(trials))


def test_a_fault_that_the_stock_tools_alone_refuse_is_told_with_its_function():
    caught = trial(stock="contract", ours="contract")
    assert "Every fault in code" in verdict._of_stock_alone([caught])
    missed = trial(stock="contract")
    outside = missed._replace(mutant=missed.mutant._replace(module="research.model.layers", qualname="residual_stddev"))
    said = verdict._of_stock_alone([caught, missed, outside])
    assert said.startswith(
        "Faults that jaxtyping + beartype refuses and ours lets pass: 2, in residual_stddev, rotate; 1 of them in"
    )
    assert "in residual_stddev; all in functions that neither" in verdict._of_stock_alone([outside])
    assert "in rotate; none in functions that neither" in verdict._of_stock_alone([missed])


def test_no_two_rows_say_the_same_thing():
    mutant = trial().mutant
    trials = [trial()._replace(mutant=mutant._replace(column=column)) for column in (5, 20)]
    handed = [CaseTrial(case, Verdict("wrong", "", "", "")) for case in cases()]
    rows = ladder.mutant_rows(trials, handed)
    assert len({row.to_json() for row in rows}) == len(rows) > len(trials)


@pytest.mark.slow
@pytest.mark.parametrize("panel", range(3))
def test_nothing_that_the_figure_says_is_cut_off(tmp_path: Path, panel: int, monkeypatch: pytest.MonkeyPatch):
    inside: list[bool] = []

    def look(figure: Any, folder: Path) -> list[str]:
        figure.draw_without_rendering()
        axes = figure.axes[panel]
        boxes = [text.get_window_extent() for text in (*axes.texts, *axes.get_yticklabels(), axes.title)]
        inside.extend(box.x0 >= 2 and box.x1 <= figure.bbox.x1 - 2 for box in boxes)
        return save(figure, folder)

    monkeypatch.setattr("experiments.contract_faults.figure.save", look)
    handed = [CaseTrial(Case("batch", "x", lambda copies: (lambda: None, ())), Verdict("wrong", "", "", ""))]
    widest = trial()._replace(mutant=trial().mutant._replace(fault="neighbouring config field"))
    trials = [widest] * 40
    draw(tmp_path, ladder.faults(trials, handed))
    assert inside
    assert all(inside)


@pytest.mark.parametrize(("settings", "option"), [({"every": 0}, "--every"), ({"processes": -1}, "--processes")])
def test_bad_arguments_are_refused_by_name(settings: dict[str, int], option: str):
    with pytest.raises(InputError, match=option):
        ContractFaults(**settings)


def test_with_contracts_off_there_is_nothing_to_compare(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(core, "ENABLED", False)
    with pytest.raises(InputError, match="CONTRACTS"):
        try_all(1, 1)


def test_a_plan_tells_faults_and_processes():
    assert "900 in three programs" in "\n".join(plan(ContractFaults(processes=2)))


def test_help_needs_no_jax():
    code = "import sys, experiments.contract_faults; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.slow
def test_processes_change_nothing_and_the_result_is_written(tmp_path: Path):
    arguments = ContractFaults(every=150, processes=2)
    with recording(QUESTION, arguments, tmp_path / "out") as record:
        finding = measure(arguments)
        record.finish(finding)
    assert finding.rows == measure(ContractFaults(every=150, processes=1)).rows
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"rows.jsonl", "survivors.md", "figure.png"}


def committed(quantity: str) -> list[dict]:
    path = ROOT / "results" / "contract_faults" / "rows.jsonl"
    if not path.exists():
        pytest.skip("no result is committed yet: python -m experiments.contract_faults --update-results")
    lines = path.read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["quantity"] == quantity]


def test_the_committed_result_has_no_false_alarm():
    alarms = [row for row in committed("refused_for_nothing") if row["factors"]["effect"] == "same"]
    assert sum(row["factors"]["of"] for row in alarms if row["factors"]["checker"] == "ours") > 100
    assert [row["value"] for row in alarms if row["factors"]["checker"] == "ours"] == [0, 0]


def test_every_survivor_of_the_committed_result_has_a_law_or_a_reason():
    mutants = [row["factors"] for row in committed("mutant")]
    assert len(mutants) > 500
    silent = [f for f in mutants if f["equal effect"] == "wrong" and not {"equal boundary", "traced beforehand"} & {*f}]
    assert silent
    assert all("law" in factors or "unseen because" in factors for factors in silent)
