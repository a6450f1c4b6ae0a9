"""Progress of long work: a bar on a terminal, lines elsewhere, nothing of either for what is short."""

import io
import sys
from types import SimpleNamespace

import pytest

from research import progress as module
from research.progress import Progress, progress


class Screen(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self):
        return True


def run(monkeypatch, screen, quiet_seconds=0.0, line_seconds=0.0):
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(Progress, "quiet_seconds", quiet_seconds)
    monkeypatch.setattr(Progress, "line_seconds", line_seconds)
    clock = iter(range(100))
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    with progress("corpus", total=4000, unit="bytes") as bar:
        for _ in range(4):
            bar.note = "a note"
            bar.advance(1000)
    return screen.getvalue()


def test_a_terminal_sees_how_much_of_what_is_done_at_which_rate_with_the_note(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    shown = run(monkeypatch, Screen())
    for part in ("corpus", "4000/4000", "1,000 bytes/s", "a note"):
        assert part in shown


def test_a_log_sees_lines(monkeypatch):
    shown = run(monkeypatch, io.StringIO())
    assert shown.splitlines()[0] == "corpus: 1,000 of 4,000 bytes (1,000 bytes/s, about 3 s left): a note"
    assert len(shown.splitlines()) == 4


@pytest.mark.parametrize("screen", [Screen(), io.StringIO()])
def test_short_work_is_silent(monkeypatch, screen):
    assert run(monkeypatch, screen, quiet_seconds=1e9) == ""
