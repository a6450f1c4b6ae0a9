"""Progress of long work, on a real terminal and elsewhere."""

import os
import pty
import re
import subprocess
import sys
import time

import pytest

from research.progress import Progress, progress

SCRIPT = """
from research.progress import Progress, progress
Progress.quiet_seconds = 0.0
with progress({what!r}, {total}, {unit!r}) as bar:
    for _ in range(4):
        bar.note = "loss [1.5]"
        bar.advance({amount})
        bar._bar.refresh()
print("done")
"""


def on_a_terminal(what: str, total: float | None, unit: str, amount: float) -> str:
    """What a person sees whose terminal is a pseudo-terminal, without the control sequences."""
    main, other = pty.openpty()
    script = SCRIPT.format(what=what, total=total, unit=unit, amount=amount)
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "150", "LINES": "40"}
    run = subprocess.Popen([sys.executable, "-c", script], stdin=other, stdout=other, stderr=other, env=environment)
    os.close(other)
    seen = b""
    try:
        while chunk := os.read(main, 1 << 16):
            seen += chunk
    except OSError:  # how Linux says that nobody holds the other end any more
        pass
    os.close(main)
    assert run.wait() == 0, seen.decode()
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())


@pytest.mark.parametrize(
    ("what", "total", "unit", "amount", "expected"),
    [
        (
            "training [a run]",
            8000,
            "steps",
            2000,
            ["training [a run]", "6,000 of 8,000 steps", "steps/s", "loss [1.5]"],
        ),
        ("counting", 4e6, "bytes", 1e6, ["3.0 of 4.0 MB", "MB/s"]),
        ("corpus", None, "documents", 1, ["3 documents", "documents/s"]),
    ],
    ids=["steps", "bytes", "without a total"],
)
def test_a_terminal_has_a_bar_with_amount_rate_and_note(what, total, unit, amount, expected):
    seen = on_a_terminal(what, total, unit, amount)
    assert "Traceback" not in seen
    for words in expected:
        assert words in seen
    assert seen.rstrip().endswith("done")


@pytest.mark.parametrize(
    ("total", "unit", "amount", "seconds", "line"),
    [
        (18, "jobs", 1, 20, "work: 1 of 18 jobs (0.05 jobs/s, about 340 s left)"),
        (8000, "steps", 100, 11, "work: 100 of 8,000 steps (9.1 steps/s, about 869 s left)"),
        (8000, "steps", 2500, 20, "work: 2,500 of 8,000 steps (125 steps/s, about 44 s left)"),
        (1e9, "bytes", 25e7, 10, "work: 250.0 of 1,000.0 MB (25 MB/s, about 30 s left)"),
        (None, "documents", 1234, 20, "work: 1,234 documents (62 documents/s)"),
        (10, "steps", 0, 20, "work: 0 of 10 steps (0 steps/s)"),
    ],
)
def test_elsewhere_a_line_says_amount_rate_and_time_left(monkeypatch, capsys, total, unit, amount, seconds, line):
    clock = iter([100.0, 100.0 + seconds])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with progress("work", total, unit) as bar:
        bar.advance(amount)
    assert capsys.readouterr().err == line + "\n"


def test_what_an_earlier_run_did_is_done_and_not_in_the_rate(monkeypatch, capsys):
    clock = iter([100.0, 120.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with progress("work", 8000) as bar:
        bar.skip(5000)
        bar.advance(1000)
    assert capsys.readouterr().err == "work: 6,000 of 8,000 steps (50 steps/s, about 40 s left)\n"


def test_short_work_is_silent_and_lines_are_ten_seconds_apart(monkeypatch, capsys):
    clock = iter([0.0, 0.1, 0.4, 9.9, 10.0, 19.9, 20.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    bar = Progress("work", 100, "steps")
    for _ in range(6):
        bar.advance()
    assert [line.split(" (")[0] for line in capsys.readouterr().err.splitlines()] == [
        "work: 4 of 100 steps",
        "work: 6 of 100 steps",
    ]
