"""What all tests share: reproducible property tests, strict broadcasting, and the way to corpora kept outside."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# Read by jax when it is imported: adding a vector to a matrix must be spelled out.
os.environ.setdefault("JAX_NUMPY_RANK_PROMOTION", "raise")
# The tests compile many programs and run each once; unoptimised they take two thirds of the time.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")

# A background job inherits Ctrl-C ignored, and so would every program that a test starts to interrupt it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("ci")

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session")
def shared_path() -> Callable[[str], Path]:
    """`shared_path("corpora/udhr/kor.txt")`: a file of the folder `shared` beside the repository, or a skip."""

    def find(relative: str) -> Path:
        path = SHARED / relative
        if not path.exists():
            pytest.skip(f"needs shared/{relative} beside the repository")
        return path

    return find


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Under `CONTRACTS=off` leave out the tests of what contracts refuse; every other test holds on and off."""
    from contracts import core

    if core.ENABLED:
        return
    off = pytest.mark.skip(reason="expects a refusal by a contract, and CONTRACTS=off")
    for item in items:
        if item.get_closest_marker("needs_contracts"):
            item.add_marker(off)
