"""A result takes the place of an earlier result and of nothing else, and a killed run leaves nothing for good."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from contracts.errors import InputError
from experiments.folders import check_replaceable, is_result, replacing


def result(folder, name="rows.jsonl"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps({"decision_rule": "x"}))
    (folder / name).write_text("first")
    return folder


def test_an_earlier_result_is_replaced_whole(tmp_path):
    folder = result(tmp_path / "out")
    with replacing(folder) as partial:
        (partial / "report.md").write_text("second")
    assert [path.name for path in folder.iterdir()] == ["report.md"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["thesis.tex", "data.csv", "rows.jsonl.bak", ".hidden"])
def test_a_folder_with_any_other_file_is_refused_even_beside_a_manifest(tmp_path, name):
    folder = result(tmp_path / "out", name)
    with pytest.raises(InputError, match="which holds other files"), replacing(folder):
        pass
    assert (folder / name).read_text() == "first"


@pytest.mark.parametrize("names", [["report.md"], ["manifest.json"], ["figure.png"], ["sub/y"]])
def test_a_persons_own_report_or_manifest_is_no_result_of_ours(tmp_path, names):
    for name in names:
        (tmp_path / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / name).write_text("{}")
    assert not is_result(tmp_path / "out")


def test_files_put_there_during_the_run_are_kept(tmp_path):
    folder = tmp_path / "out"

    def run():
        with replacing(folder):
            folder.mkdir()
            (folder / "thesis.tex").write_text("years of work")

    with pytest.raises(InputError, match="other files"):
        run()
    assert (folder / "thesis.tex").read_text() == "years of work"


def test_the_folder_behind_a_link_is_the_one_that_is_replaced(tmp_path):
    result(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with replacing(tmp_path / "link") as partial:
        (partial / "report.md").write_text("second")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "report.md").read_text() == "second"


def test_the_current_folder_and_those_above_it_are_refused(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for folder in (".", "..", str(tmp_path)):
        with pytest.raises(InputError, match="where this command runs"):
            check_replaceable(tmp_path / "here" / folder)


def test_a_name_that_is_too_long_is_refused(tmp_path):
    with pytest.raises(InputError, match="File name too long"):
        check_replaceable(tmp_path / ("x" * 300))


def test_a_refused_run_leaves_no_empty_parents(tmp_path):
    with pytest.raises(InputError), replacing(tmp_path / "a" / "b" / "c"):
        raise InputError("x", expected="y", got="z")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_between_the_two_renames_puts_the_earlier_result_back(tmp_path, monkeypatch):
    folder = result(tmp_path / "out")
    rename, calls = os.replace, []

    def interrupted(source, target):
        calls.append(source)
        if len(calls) == 2:
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), replacing(folder) as partial:
        (partial / "report.md").write_text("second")
    assert (folder / "rows.jsonl").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_a_killed_run_left_is_removed_by_the_next_one_and_a_result_in_flight_put_back(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / f".out-{ended.pid}-partial").mkdir()
    result(tmp_path / f".out-{ended.pid}-old")
    alive = tmp_path / f".out-{os.getppid()}-partial"
    alive.mkdir()
    with pytest.raises(RuntimeError), replacing(tmp_path / "out"):
        raise RuntimeError
    assert (tmp_path / "out" / "rows.jsonl").read_text() == "first"
    assert sorted(path.name for path in tmp_path.iterdir()) == [alive.name, "out"]


PROGRAM = """
import gc, sys, time
from pathlib import Path
from experiments.command import guarded
from experiments.folders import replacing
swallow = len(sys.argv) > 2

def action():
    with replacing(Path(sys.argv[1])) as partial:
        (partial / "report.md").write_text("half")
        print("ready", flush=True)
        if swallow:
            gc.callbacks.append(lambda *_: time.sleep(0.02))
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if swallow:
                gc.collect()
            time.sleep(0.033)

guarded(action)
"""


@pytest.mark.parametrize(
    ("number", "code", "extra"), [(signal.SIGINT, 130, []), (signal.SIGTERM, 143, []), (signal.SIGINT, 130, ["gc"])]
)
def test_an_interrupt_ends_the_run_in_order_even_inside_a_callback_that_drops_it(tmp_path, number, code, extra):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "out"), *extra]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    process.send_signal(number)
    _, complaint = process.communicate(timeout=15)
    assert process.returncode == code
    assert complaint.count("\n") == 1
    assert "nothing half-written was left" in complaint
    assert list(tmp_path.iterdir()) == []
