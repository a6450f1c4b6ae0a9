"""`bytebound tokenizer`: stopped at any moment, the same command goes on; nothing half-written is ever there."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import pytest

from contracts.errors import InputError
from experiments.train_tokenizer import TrainTokenizer
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


@pytest.mark.parametrize("out", ["corpus/text.txt", "corpus/vocabulary.json", "link.txt"])
def test_what_is_read_is_never_written(tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    Path("corpus").mkdir()
    Path("corpus/text.txt").write_text("some text")
    Path("link.txt").symlink_to("corpus/text.txt")
    with pytest.raises(InputError, match="a file outside of the corpus"):
        TrainTokenizer(("corpus",), out=out).run()
    assert Path("corpus/text.txt").read_text() == "some text"
    assert os.listdir("corpus") == ["text.txt"]


def test_counts_of_a_stopped_training_are_never_corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("v.json.counts").write_text("some text")
    with pytest.raises(InputError, match=r"v\.json\.counts, which is read"):
        TrainTokenizer(("v.json.counts",), out="v.json").run()


def test_ctrl_c_while_saving_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("some text")
    Path("v.json.counts").touch()
    monkeypatch.setenv("BYTEBOUND_ENGINE", "python")
    monkeypatch.setattr(BPETokenizer, "save", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        TrainTokenizer(("text.txt",), out="v.json").run()
    assert "the same command goes on from the counts in v.json.counts" in capsys.readouterr().err
