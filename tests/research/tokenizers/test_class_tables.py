"""The frozen class tables are what their script says, where the engines that it asks are installed."""

import json

import pytest

from contracts.errors import InputError
from research.tokenizers.data import make_class_tables


@pytest.mark.slow
def test_the_script_writes_the_tables_that_the_project_ships(tmp_path, monkeypatch):
    pytest.importorskip("tiktoken")
    pytest.importorskip("tokenizers")
    shipped = json.loads(make_class_tables.PATH.read_text())
    monkeypatch.setattr(make_class_tables, "PATH", tmp_path / "class_tables.json")
    try:
        make_class_tables.main()
    except InputError as error:
        pytest.skip(str(error))
    assert json.loads(make_class_tables.PATH.read_text()) == shipped


def test_ranges_are_spelled_in_hexadecimal_without_gaps():
    assert make_class_tables.spell("cabz_\U00010000") == "5f 61-63 7a 10000"
    assert make_class_tables.spell("") == ""
