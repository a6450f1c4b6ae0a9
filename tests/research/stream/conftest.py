"""Fixtures for the tests of streams."""

import pytest
from small_corpus import LINES


@pytest.fixture
def source(tmp_path):
    """A text file with a document a line."""
    path = tmp_path / "source.txt"
    path.write_text("\n".join(LINES), encoding="utf-8")
    return path
