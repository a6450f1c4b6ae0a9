"""`bytebound tokenizer`: stopped at any moment, the same command goes on; nothing half-written is ever there."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from research.tokenizers import BPETokenizer

#: The command with parts so small and saving so often that it can be stopped while it counts.
COMMAND = """
import sys
from experiments import cli
from research.tokenizers.counting import map_reduce, parts
map_reduce.SAVE_SECONDS, parts.SIZE = 0.0, 20_000
cli.main(["tokenizer", "text.txt", "--out", "vocabulary.json", "--vocab-size", "400", "--pattern", "gpt2"])
"""
TEXT = "the rabbit told the other animals a story, 안녕\n" * 100_000


@pytest.mark.slow
@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_a_stopped_training_goes_on_and_ends_with_the_same_file(tmp_path, stop, code):
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", COMMAND]
    stopped = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "vocabulary.json.counts").exists() and stopped.poll() is None:
        time.sleep(0.01)
    stopped.send_signal(stop)
    message = stopped.communicate()[1]
    assert stopped.returncode == code, message
    assert "Traceback" not in message
    if stop != signal.SIGKILL:
        assert "the same command goes on from the counts in vocabulary.json.counts" in message
        assert sorted(os.listdir(tmp_path)) == ["text.txt", "vocabulary.json.counts"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    assert sorted(os.listdir(tmp_path)) == ["text.txt", "vocabulary.json"]
    expected = BPETokenizer.train([TEXT], 400, "gpt2").identity
    assert BPETokenizer.load(tmp_path / "vocabulary.json").identity == expected
