"""The search for the smallest counterexample: hypothesis draws and shrinks, within a number of examples and a time.

No example is stored and the draws are always the same, so that two runs say the same.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import hypothesis
from hypothesis import Phase, Verbosity
from hypothesis.errors import Flaky, NoSuchExample, Unsatisfiable
from hypothesis.strategies import SearchStrategy

from contracts.errors import InputError

Example = TypeVar("Example")


@dataclass(frozen=True)
class Effort:
    """How hard each law is tried."""

    examples: int = 100
    """random examples a law, besides the ones it always tries"""
    code_points: int = 0x110000
    """of Unicode, the laws that go through all of it try that many"""
    seconds: float = 10.0
    """after this time a law keeps what it has found"""

    def __post_init__(self) -> None:
        if self.examples < 1 or self.code_points < 0 or not self.seconds > 0:
            raise InputError("effort", expected="at least one example and some time", got=repr(self))


class Skip(Exception):
    """An example on which the law has no say, since something it presupposes fails there."""


class _OutOfTime(BaseException):
    """Passes through hypothesis, which takes every `Exception` for a failing example."""


class Search:
    """Looks for counterexamples to one law and counts what it tried."""

    def __init__(self, effort: Effort) -> None:
        self.effort = effort
        self.tried = 0
        self.deadline = time.monotonic() + effort.seconds
        self.notes: list[str] = []

    def account(self) -> str:
        """What a law's being kept rests on."""
        return ", ".join([*self.notes, f"{self.tried:,} example{'' if self.tried == 1 else 's'}"])

    def smallest(
        self,
        examples: SearchStrategy[Example],
        complaint: Callable[[Example], str],
        first: Iterable[Example] = (),
        blocks: Iterable[Example] = (),
    ) -> str:
        """What `complaint` says of the smallest example that it complains of; empty if of none.

        Before anything is drawn, `blocks` are tried for half of the time, the first that fails part by part; then
        `first`, and a text among them is shortened. An example that raises is a counterexample, unless it raises
        `Skip`.
        """
        failures: list[tuple[Any, str]] = []

        def fails(example: Any) -> bool:
            if time.monotonic() > self.deadline:
                raise _OutOfTime
            said = self.judge(example, complaint)
            if said:
                failures.append((example, said))
            return bool(said)

        try:
            self._sweep(blocks, fails)
            failing = next(filter(fails, first), None)
            if isinstance(failing, str):
                _shorten(failing, fails)
            hypothesis.find(examples, fails, settings=self._settings())
        except (NoSuchExample, Unsatisfiable, Flaky):
            pass
        except _OutOfTime:
            self.notes.append(f"ended after {self.effort.seconds:g} s")
        return _smallest(failures)

    def first(self, examples: Iterable[Example], complaint: Callable[[Example], str]) -> str:
        """What `complaint` says of the first of a few examples that it complains of; empty if of none."""
        return next(filter(None, (self.judge(example, complaint) for example in examples)), "")

    def judge(self, example: Example, complaint: Callable[[Example], str]) -> str:
        """The complaint about one example, which is in how it raised if it did."""
        try:
            said = complaint(example)
        except Skip:
            return ""
        except Exception as error:
            said = f"{shown(example)} raises {raised(error)}"
        self.tried += 1
        return said

    def _sweep(self, blocks: Iterable[Any], fails: Callable[[Any], bool]) -> None:
        """Try the blocks in order, and the parts of the first that fails, short ones first."""
        seen, judged, end = 0, 0, time.monotonic() + self.effort.seconds / 2
        for block in blocks:
            if seen >= self.effort.code_points or time.monotonic() > end:
                break
            before = self.tried
            if fails(block):
                _fail_in_part(block, fails, end)
                return
            seen += len(block)
            judged += len(block) * (self.tried - before)
        if judged:
            self.notes.append(f"{judged:,} code points")

    def _settings(self) -> hypothesis.settings:
        return hypothesis.settings(
            max_examples=self.effort.examples,
            phases=(Phase.generate, Phase.shrink),
            derandomize=True,
            database=None,
            deadline=None,
            verbosity=Verbosity.quiet,
        )


def _fail_in_part(block: str, fails: Callable[[str], bool], end: float) -> None:
    for length in range(1, len(block)):
        for start in range(len(block) - length + 1):
            if fails(block[start : start + length]) or time.monotonic() > end:
                return


def _shorten(text: str, fails: Callable[[str], bool]) -> None:
    """Leave out of `text` what it fails without."""
    for size in (len(text) // 2, len(text) // 4, 1):
        start = 0
        while size and start < len(text):
            shorter = text[:start] + text[start + size :]
            if fails(shorter):
                text = shorter
            else:
                start += size


def _smallest(failures: list[tuple[Any, str]]) -> str:
    """What was said of the shortest text, or of the example that hypothesis ended with."""
    if not failures:
        return ""
    if isinstance(failures[0][0], str):
        return min(failures, key=lambda failure: (len(failure[0]), failure[0]))[1]
    return failures[-1][1]


def shown(value: object, most: int = 100) -> str:
    """`value` in one line of ASCII, so that look-alikes and invisible characters can be told apart."""
    text = ascii(value)
    return text if len(text) <= most else f"{text[: most - 4]}...{text[-1]}"


def raised(error: BaseException) -> str:
    """Type and first line of an error."""
    message = str(error).strip().splitlines()
    return f"{type(error).__name__}: {message[0]}" if message else type(error).__name__
