"""The whole run on a small decoder and a small text: what it writes, what repeats exactly, what it refuses."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from contracts.errors import InputError
from contracts.results import Row
from experiments.attention_scaling import QUESTION, AttentionScaling, for_study, measure, plan
from experiments.attention_scaling.figure import _shown
from experiments.attention_scaling.texts import TextCost
from experiments.finding import Finding
from experiments.recording import recording

pytestmark = pytest.mark.slow


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
        ({"count_to": 99_999_999_999_999_999_999}, "--count-to"),
        ({"lengths": (64, 10**20)}, "--lengths"),
        ({"repeats": 10**20}, "--repeats"),
        ({"d_ff": 10**20}, "--d-ff"),
    ],
)
def test_bad_arguments_are_refused_by_name_before_anything_runs(settings: dict[str, object], option: str):
    with pytest.raises(InputError, match=option):
        AttentionScaling(**settings)


def test_a_shape_that_does_not_fit_together_is_refused_before_anything_runs():
    with pytest.raises(InputError, match="n_heads = 4 is not a multiple of n_kv_heads = 3"):
        measure(AttentionScaling(n_kv_heads=3))


def test_a_text_that_cannot_be_counted_is_refused_before_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "x.txt").write_text("x\n")
    monkeypatch.setattr("experiments.attention_scaling.clock.measure_times", lambda *_: pytest.fail("timed"))
    with pytest.raises(InputError, match="can be halved"):
        measure(AttentionScaling(corpus=(str(tmp_path),)))


def test_the_crossing_is_judged_in_a_word_of_the_rule(finding: Finding):
    (word,) = re.findall(r"by the clock: (\w+) |Crossing: (\w+),", finding.verdict)
    assert "".join(word) in ("agrees", "earlier", "later", "inconclusive")


def test_the_figure_shows_english_and_the_dearest_text_and_says_how_many_of_all():
    def text(name: str, size: int, tokens: int) -> TextCost:
        return TextCost(name, "group", 100, size, size, {"bpe": tokens}, is_english=name == "eng")

    many = [text(f"t{size}", size, 60) for size in range(150, 180)]
    texts = [*many, text("eng", 100, 50), text("dear", 300, 90), text("long", 160, 10)]
    shown = _shown(texts, "bpe")
    assert len(shown) == 14
    assert {"eng", "dear", "long"} <= {each.name for each in shown}


def test_a_file_of_dollars_and_no_utf8_is_drawn_and_written(tmp_path: Path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in (b"$x_$.txt", b"a\xe9.txt"):
        (folder / os.fsdecode(name)).write_text("the cat\nthe mat\n" * 9)
    arguments = AttentionScaling(
        corpus=(str(folder),), d_model=8, n_layers=1, head_dim=2, d_ff=8, lengths=(8, 16), count_to=16, repeats=5
    )
    with recording(QUESTION, arguments, tmp_path / "out") as record:
        record.finish(measure(arguments))
    assert r"a\\xe9" in (tmp_path / "out" / "rows.jsonl").read_text(encoding="utf-8")


def test_a_plan_tells_lengths_programs_and_seconds():
    lines = "\n".join(plan(for_study((), ())))
    assert "131,072" in lines
    assert "36 programs" in lines


def test_help_needs_no_jax():
    code = "import sys, experiments.attention_scaling; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], check=False).returncode == 0
