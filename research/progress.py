"""Progress of long work on standard error: a bar on a terminal, a line every ten seconds elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Progress:
    """Counts work done; shows nothing in the first half second, so that short work stays silent."""

    quiet_seconds = 0.5
    line_seconds = 10.0

    def __init__(self, what: str, total: float | None, unit: str) -> None:
        self.what, self.total, self.unit = what, total, unit
        self.done = 0.0
        self.note = ""
        """what the work has come to, shown beside the bar"""
        self._begun = self._line_at = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def advance(self, amount: float = 1) -> None:
        """Count `amount` more units as done."""
        self.done += amount
        now = time.monotonic()
        if now - self._begun < self.quiet_seconds:
            return
        if sys.stderr.isatty():
            self._draw(now)
        elif now - self._line_at >= self.line_seconds:
            self._line_at = now
            print(self._line(now), file=sys.stderr, flush=True)

    def _rate(self, now: float) -> float:
        seconds = now - self._begun
        return self.done / seconds if seconds else 0.0

    def _line(self, now: float) -> str:
        rate = self._rate(now)
        share = f" of {self.total:,.0f}" if self.total else ""
        left = f", about {(self.total - self.done) / rate:,.0f} s left" if self.total and rate else ""
        note = f": {self.note}" if self.note else ""
        return f"{self.what}: {self.done:,.0f}{share} {self.unit} ({rate:,.0f} {self.unit}/s{left}){note}"

    def _draw(self, now: float) -> None:
        rate = f"{self._rate(now):,.0f} {self.unit}/s"
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[note]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(self.what, total=self.total, rate=rate, note=self.note)
        self._bar.update(self._task, completed=self.done, rate=rate, note=self.note)

    def close(self) -> None:
        """Remove the bar; the terminal is as before."""
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def progress(what: str, total: float | None = None, unit: str = "steps") -> Iterator[Progress]:
    """`with progress("merging", total=3840, unit="merges") as bar: bar.advance()`."""
    bar = Progress(what, total, unit)
    try:
        yield bar
    finally:
        bar.close()
