"""The whole run on a small decoder and a small text: what it writes, what repeats exactly, what it refuses."""

import subprocess
import sys
from pathlib import Path

import pytest

from contracts.errors import InputError
from contracts.results import Row
from experiments.attention_scaling import QUESTION, AttentionScaling, for_study, measure, plan
from experiments.finding import Finding
from experiments.recording import recording


@pytest.fixture(scope="module")
def arguments(tmp_path_factory: pytest.TempPathFactory) -> AttentionScaling:
    text = tmp_path_factory.mktemp("texts") / "small.txt"
    text.write_text("안녕하세요, the cat sat on the mat.\n오늘은 the cat sat again.\n" * 5, encoding="utf-8")
    return AttentionScaling(
        corpus=(str(text),), d_model=8, n_layers=1, head_dim=2, d_ff=8, lengths=(8, 16), count_to=64, repeats=5
    )


@pytest.fixture(scope="module")
def finding(arguments: AttentionScaling) -> Finding:
    return measure(arguments)


def exact(finding: Finding) -> list[Row]:
    return [row for row in finding.rows if row.kind == "exact"]


def test_a_run_answers_every_part_of_the_question(finding: Finding):
    quantities = {row.quantity for row in finding.rows}
    assert quantities >= {"flops", "useful_flops", "crossing_length", "time", "local_exponent", "fitted_exponent"}
    assert quantities >= {"attention_ratio", "decoder_ratio", "fresh_memory", "system_time"}
    assert {row.factors["length"] for row in finding.rows if row.quantity == "flops"} == {8, 16, 32, 64}
    assert {row.factors["length"] for row in finding.rows if row.quantity == "time"} == {8, 16}
    for said in ("equal in every term up to T = 64", "whole decoder", "T = 24", "16 times"):
        assert said in finding.verdict


def test_no_row_stands_twice(finding: Finding):
    keys = [(row.quantity, row.kind, row.witness, str(sorted(row.factors.items()))) for row in finding.rows]
    assert len(set(keys)) == len(keys)


def test_a_run_writes_a_result_without_a_path_of_the_machine(
    arguments: AttentionScaling, finding: Finding, tmp_path: Path
):
    with recording(QUESTION, arguments, tmp_path / "out") as record:
        record.finish(finding)
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {
        "rows.jsonl",
        "table.md",
        "figure.png",
        "figure.svg",
    }
    for name in ("rows.jsonl", "manifest.json", "table.md"):
        assert str(Path(arguments.corpus[0]).parent) not in (tmp_path / "out" / name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_exact_rows_are_equal_in_a_second_run(arguments: AttentionScaling, finding: Finding):
    assert exact(measure(arguments)) == exact(finding)


@pytest.mark.parametrize(
    ("settings", "option"),
    [
        ({"lengths": (64,)}, "--lengths"),
        ({"lengths": (128, 64)}, "--lengths"),
        ({"lengths": (0, 64)}, "--lengths"),
        ({"repeats": 4}, "--repeats"),
        ({"vocab_size": 255}, "--vocab-size"),
    ],
)
def test_bad_arguments_are_refused_by_name_before_anything_runs(settings: dict[str, object], option: str):
    with pytest.raises(InputError, match=option):
        AttentionScaling(**settings)


def test_a_shape_that_does_not_fit_together_is_refused_before_anything_runs():
    with pytest.raises(InputError, match="n_heads = 4 is not a multiple of n_kv_heads = 3"):
        measure(AttentionScaling(n_kv_heads=3))


def test_a_plan_tells_lengths_programs_and_seconds():
    lines = "\n".join(plan(for_study((), ())))
    assert "131,072" in lines
    assert "30 programs" in lines


def test_help_needs_no_jax():
    code = "import sys, experiments.attention_scaling; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], check=False).returncode == 0
