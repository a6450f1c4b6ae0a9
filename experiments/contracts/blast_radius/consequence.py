"""One thing that a choice decides, with its amount and the line of code that owns it."""

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from contracts.difference import Breaks


@dataclass(frozen=True)
class Consequence:
    """What it is under the old and the new choice; equal texts mean that nothing changes."""

    what: str
    breaks: Breaks
    old: str
    new: str
    amount: str
    """how much of it there is, on the corpus or in the model"""
    owner: str
    """`research/stream/build.py:25`, where it is decided"""

    def __str__(self) -> str:
        def lines() -> Iterator[str]:
            yield f"{self.breaks:8} {self.what}: {self.old} -> {self.new}"
            if self.amount:
                yield self.amount
            yield self.owner

        return "\n         ".join(lines())


def consequence(what: str, breaks: Breaks, sides: Iterable[str], amount: str, owner: Any) -> Consequence:
    """A consequence from the texts of both sides, old and new, and the function or class that owns it."""
    old, new = sides
    return Consequence(what, breaks, old, new, amount, place(owner))


def place(owner: Any) -> str:
    """File and line of a function, method, property or class, the same on every machine."""
    owner = getattr(owner, "fget", None) or getattr(owner, "func", None) or owner
    owner = inspect.unwrap(owner)
    return f"{owner.__module__.replace('.', '/')}.py:{inspect.getsourcelines(owner)[1]}"


def change(old: int, new: int) -> str:
    """`+83 (+0.14 %)`, relative to the old value."""
    if not old:
        return f"{new - old:+,}"
    percent = 100 * (new - old) / old
    return f"{new - old:+,} ({percent:+,.0f} %)" if abs(percent) >= 10 else f"{new - old:+,} ({percent:+.2g} %)"
