"""A run that is killed again and again ends with the bits of one that was left alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from run_folders import assert_equal_runs, untimed_log
from tiny_run import DOCUMENTS, TOKENIZER

from research.stream import build_corpus

KILLS = 24


def training(corpus, out, kills, environment):
    """The lines that `kill_training.py` prints, in an interpreter with optimizations on."""
    here = Path(__file__).parent
    program = here / "kill_training.py"
    kept = {name: value for name, value in os.environ.items() if name != "JAX_DISABLE_MOST_OPTIMIZATIONS"}
    run = subprocess.run(
        [sys.executable, str(program), str(corpus), str(out), str(kills)],
        env={**kept, "PYTHONPATH": str(here.parents[2]), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


@pytest.mark.slow
def test_a_run_killed_at_random_moments_loses_and_changes_nothing(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("\n".join(DOCUMENTS), encoding="utf-8")
    build_corpus([text], TOKENIZER, tmp_path / "corpus", separator="\n", validation=0.3)
    training(tmp_path / "corpus", tmp_path / "unbroken", 0, {})
    # the killed ones compile once: the unbroken run, which doesn't read it, is the witness that this changes nothing
    cache = {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    kills = training(tmp_path / "corpus", tmp_path / "killed", KILLS, cache)
    assert len(kills) == KILLS
    assert len({(kill["run"], kill["newest"]) for kill in kills}) > 3
    for run in (tmp_path / "killed").iterdir():
        assert [line["step"] for line in untimed_log(run)] == list(range(1, 121))
        assert_equal_runs(run, tmp_path / "unbroken" / "0")
