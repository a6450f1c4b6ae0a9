"""The committed results are complete, in today's form, and name nothing of anybody's machine."""

import json
import re
from pathlib import Path

import pytest

from contracts.results import Row
from contracts.specification import canonical_json, digest

RESULTS = sorted(path.parent for path in (Path(__file__).parents[1] / "results").glob("*/manifest.json"))


def test_the_three_questions_have_their_results():
    assert {"attention_scaling", "boundary_cost", "sequence_length"} <= {folder.name for folder in RESULTS}


@pytest.mark.parametrize("folder", RESULTS, ids=lambda folder: folder.name)
def test_a_result_is_complete_and_answers_what_it_asked(folder):
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["name"] == folder.name
    assert all(manifest[part] for part in ("question", "hypothesis", "decision_rule", "verdict", "versions"))
    assert manifest["contracts"] == "on"
    page = (folder / "table.md").read_text(encoding="utf-8")
    assert manifest["verdict"] in page
    for figure in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page):
        assert (folder / figure).stat().st_size > 10_000
        assert (folder / figure).with_suffix(".svg").exists()


@pytest.mark.parametrize("folder", RESULTS, ids=lambda folder: folder.name)
def test_a_result_keeps_the_specs_it_was_written_under(folder):
    """The specs of today may be others; `bytebound contracts diff` says whether the difference matters."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    kept = json.loads((folder / "specification.json").read_text(encoding="utf-8"))
    assert manifest["contracts_sha256"] == digest(kept)


@pytest.mark.parametrize("folder", RESULTS, ids=lambda folder: folder.name)
def test_rows_are_in_the_form_that_is_written_today_and_no_two_say_the_same_thing(folder):
    lines = (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [Row.from_json(line) for line in lines]
    assert [row.to_json() for row in rows] == lines
    keys = [(row.quantity, row.witness, canonical_json(dict(row.factors))) for row in rows]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("folder", RESULTS, ids=lambda folder: folder.name)
def test_no_result_names_a_place_on_a_machine(folder):
    for path in folder.iterdir():
        if path.suffix in (".json", ".jsonl", ".md"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"(?<![\w.])/(home|root|tmp|Users|work|mnt|var)/", text), path.name
