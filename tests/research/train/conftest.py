"""What the tests of training share: one run, trained once."""

import pytest
from tiny_run import CONFIG, STREAM, TOKENIZER

from research.train import fit


@pytest.fixture(scope="session")
def fitted():
    """The tiny run from beginning to end."""
    return fit(CONFIG, STREAM, TOKENIZER)
