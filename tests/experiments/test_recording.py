"""Results are written whole or not at all, keep no path of a machine, and carry the question from before the run."""

import json
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from contracts.results import Question, Row
from experiments.command import Output
from experiments.finding import Finding
from experiments.folders import check_replaceable, replacing
from experiments.recording import recording
from experiments.tables import Table, number, si

QUESTION = Question("weight", "How heavy?", "Heavy.", "Heavy if above 1 kg.")


@dataclass(frozen=True)
class Arguments:
    corpus: tuple[str, ...] = ()
    sizes: tuple[int, ...] = (1, 2)
    output: Output = field(default_factory=Output)


def row(**changes):
    return Row(**{"quantity": "mass", "value": 2, "unit": "kg", "kind": "exact", "witness": "count", **changes})


def test_a_result_folder_holds_rows_manifest_table_and_verdict(tmp_path):
    with recording(QUESTION, Arguments(), tmp_path / "weight") as record:
        record.finish(Finding([row()], "heavy: 2 kg", tables=[Table("Masses", ("what", "kg"), (("it", "2"),))]))
    folder = tmp_path / "weight"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert Row.from_json((folder / "rows.jsonl").read_text()) == row()
    assert manifest["hypothesis"] == "Heavy."
    assert manifest["verdict"] == "heavy: 2 kg"
    assert "| it | 2 |" in (folder / "table.md").read_text()


def test_the_manifest_stands_before_the_run_without_a_verdict(tmp_path):
    with recording(QUESTION, Arguments(), tmp_path / "weight") as record:
        before = json.loads((record.folder / "manifest.json").read_text())
        record.finish(Finding([row()], "heavy"))
    assert before["decision_rule"] == QUESTION.decision_rule
    assert before["verdict"] is None


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interrupted_run_leaves_the_earlier_result_and_nothing_else(tmp_path, error):
    folder = tmp_path / "weight"
    with recording(QUESTION, Arguments(), folder) as record:
        record.finish(Finding([row()], "first"))
    before = (folder / "manifest.json").read_text()
    with pytest.raises(error), recording(QUESTION, Arguments(), folder):
        raise error
    assert (folder / "manifest.json").read_text() == before
    assert [path.name for path in tmp_path.iterdir()] == ["weight"]


def test_a_folder_with_other_files_is_not_replaced(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="which holds other files"):
        check_replaceable(tmp_path)
    with pytest.raises(InputError), replacing(tmp_path):
        pass
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_file_in_the_way_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="got the file"), replacing(tmp_path / "taken"):
        pass
    with pytest.raises(InputError, match="output folder"), replacing(tmp_path / "taken" / "below"):
        pass


def test_no_path_of_the_machine_reaches_the_manifest(tmp_path):
    arguments = Arguments(corpus=(str(tmp_path / "mine" / "ko.txt"),))
    with recording(QUESTION, arguments, tmp_path / "weight") as record:
        record.finish(Finding([row()], "heavy"))
    text = (tmp_path / "weight" / "manifest.json").read_text()
    assert str(tmp_path) not in text
    assert json.loads(text)["arguments"] == {"corpus": ["ko.txt"], "sizes": [1, 2]}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"value": float("nan")}, "a finite number"),
        ({"value": True}, "a finite number"),
        ({"kind": "guessed"}, "kind in"),
        ({"witness": "hearsay"}, "witness in"),
        ({"kind": "timed"}, "n and tolerance"),
        ({"kind": "estimated"}, "low and high"),
        ({"low": 1.0, "high": 3.0}, "no interval on an exact row"),
        ({"unit": ""}, "a quantity and a unit"),
        ({"factors": {"x": [1]}}, "factors"),
    ],
)
def test_a_row_that_says_too_little_is_refused(changes, problem):
    with pytest.raises(InputError, match=problem):
        row(**changes)


@given(
    value=st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**18), 10**18), name=st.text(min_size=1)
)
def test_a_row_survives_its_line(value, name):
    assert Row.from_json(row(value=value, quantity=name).to_json()) == row(value=value, quantity=name)


@pytest.mark.parametrize("line", ["", "{}", "[1]", '{"quantity": "x"}', '{"bogus": 1}'])
def test_a_line_that_is_no_row_is_refused(line):
    with pytest.raises(InputError, match="row"):
        Row.from_json(line)


def test_a_table_aligns_hangul_by_the_columns_it_takes_on_a_terminal():
    lines = Table("T", ("이름", "n"), (("한국어", "1"), ("abcdef", "22"))).plain().splitlines()
    assert lines[3] == "  한국어   1"
    assert lines[4] == "  abcdef  22"


def test_a_pipe_in_a_cell_does_not_break_the_markdown_table():
    assert "| a\\|b | 1 |" in Table("T", ("x", "n"), (("a|b", "1"),)).markdown()


def test_numbers_are_written_for_people():
    assert number(38597376) == "38,597,376"
    assert number(2.394) == "2.39"
    assert si(854_440_000, "FLOPs") == "854 MFLOPs"
    assert si(12, "B") == "12 B"
