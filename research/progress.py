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
        self.done = self._skipped = 0.0
        self.note = ""
        """what the work has come to, shown beside the bar"""
        self._begun = self._line_at = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def skip(self, amount: float) -> None:
        """Count units that an earlier run did as done, but not into the rate."""
        self._skipped += amount
        self.done += amount

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

    def _amount(self) -> str:
        """How much is done, of what there is."""
        scale, unit, digits = (1e6, "MB", 1) if self.unit == "bytes" else (1, self.unit, 0)
        share = f" of {self.total / scale:,.{digits}f}" if self.total else ""
        return f"{self.done / scale:,.{digits}f}{share} {unit}"

    def _rate(self, now: float) -> str:
        """Units a second since the beginning, to two digits where they are few."""
        scale, unit = (1e6, "MB") if self.unit == "bytes" else (1, self.unit)
        rate = self._a_second(now) / scale
        return f"{rate:,.0f} {unit}/s" if rate >= 10 else f"{rate:.2g} {unit}/s"

    def _a_second(self, now: float) -> float:
        seconds = now - self._begun
        return (self.done - self._skipped) / seconds if seconds else 0.0

    def _line(self, now: float) -> str:
        rate = self._a_second(now)
        left = f", about {(self.total - self.done) / rate:,.0f} s left" if self.total and rate else ""
        note = f": {self.note}" if self.note else ""
        return f"{self.what}: {self._amount()} ({self._rate(now)}{left}){note}"

    def _draw(self, now: float) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[amount]}", markup=False),
                TextColumn("{task.fields[rate]}", markup=False),
                TimeRemainingColumn(),
                TextColumn("{task.fields[note]}", markup=False),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(self.what, total=self.total, amount="", rate="", note="")
        self._bar.update(self._task, completed=self.done, amount=self._amount(), rate=self._rate(now), note=self.note)

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
