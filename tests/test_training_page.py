"""The page on training: its commands fit and run, made small, and its Python runs as it stands."""

import re
import shlex
from pathlib import Path

import pytest

from experiments.cli import Action, main
from experiments.command import parse
from research.train import PRESETS

PAGE = (Path(__file__).parents[1] / "docs" / "training.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line)[1:]
    for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)
    for line in block.splitlines()
    if line.startswith("bytebound ")
]
(PYTHON,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
SIZES = ("d_model=24", "n_layers=1", "n_heads=2", "n_kv_heads=1", "head_dim=8", "d_ff=40", "context_length=128")
SMALL = [*(f"decoder.{size}" for size in SIZES), "steps=40", "length=16", "batch_size=4"]


def small(command):
    """The same command for a decoder that trains in a moment."""
    if command[0] != "train" or "--resume" in command:
        return command
    return command + ([] if "--set" in command else ["--set"]) + SMALL


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_of_the_page_is_one(command):
    parse(Action, command, prog="bytebound", description="")


def test_the_presets_of_the_page_are_those_that_there_are():
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", PAGE, flags=re.MULTILINE)
    found = {name: tuple(int(number.replace(",", "")) for number in numbers) for name, _, *numbers in rows}
    assert found == {name: (each.d_model, each.n_layers, each.length) for name, each in PRESETS.items()}


@pytest.mark.slow
def test_the_page_runs_from_its_beginning_to_its_end(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_texts").mkdir()
    for number in range(300):
        lines = "\n".join(f"line {line} of text {number} says 안녕 again." for line in range(3))
        (tmp_path / "my_texts" / f"{number}.txt").write_text(lines, encoding="utf-8")
    for command in COMMANDS:
        if "--distributed" not in command:  # of these a test of their own starts two
            main(small(command))
    assert "bpb_total: mean" in capsys.readouterr().out
    exec(compile(PYTHON, "training.md", "exec"), {"__name__": "my_mixer"})
    loss, score = map(float, capsys.readouterr().out.split())
    assert 0 < loss < 10
    assert 0 < score < 10
