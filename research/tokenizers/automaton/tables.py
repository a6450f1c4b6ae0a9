r"""Stage 4, tables: the program made deterministic, so that a text is read with one look into a table a character.

A state is the list of instructions that are waiting for a character, in the order in which they would be tried. What
comes after the first `Match` in that order can never win and is left out; so the last match that a run of states
reports is the one that a backtracking engine returns (R. Cox, "Regular Expression Matching: the Virtual Machine
Approach", 2009). Which instructions wait, and whether a match ends *before* the next character, may depend on that
character alone: that is how one character ahead is looked at.

    \s+(?!\S)|\w       next:   end        \s         \w         other
    START                      dead       spaces     word       dead
    spaces                     dead !     spaces !   dead       dead          ! a match ends before it
    word                       dead !     dead !     dead !     dead !
"""

from dataclasses import dataclass

import numpy as np

from research.tokenizers.automaton.program import Fork, Look, Match, Program, Take, Unknown

START = 0
DEAD = -1

_MOST_STATES = 1 << 12
_MOST_STEPS = 1_000_000
"""About a second."""


@dataclass(frozen=True, eq=False)
class Tables:
    """An automaton that starts where a piece begins. Rows are states, columns the class of the next character."""

    follows: np.ndarray
    """int32[states, classes]: the state behind the next character; `DEAD` if no match can be longer"""
    accepts: np.ndarray
    """bool[states, classes]: whether a match, not an empty one, ends before the next character"""
    nothing: np.ndarray
    """bool[classes]: whether an empty match stands before the next character"""


class _UnfitError(Exception):
    """An automaton would not be exact, or not be small."""


def tables(program: Program, classes: int) -> Tables | None:
    """The tables of `program`; `None` if there would be too many states, or one character ahead is not enough."""
    machine = _Machine(program)
    waiting: list[tuple[int, ...]] = [(program.first,)]
    follows, accepts = [], []
    # Having read a character is never the same as having read none, even where the same instructions wait.
    numbers: dict[tuple[int, ...], int] = {(): DEAD}
    try:
        nothing = [machine.step(waiting[0], kind, skip_match=False)[1] for kind in range(classes)]
        for number, state in enumerate(waiting):
            row = [machine.step(state, kind, skip_match=number == START) for kind in range(classes)]
            for target, _ in row:
                if target not in numbers:
                    numbers[target] = len(waiting)
                    waiting.append(target)
            if len(waiting) > _MOST_STATES:
                return None
            follows.append([numbers[target] for target, _ in row])
            accepts.append([accepted for _, accepted in row])
    except _UnfitError:
        return None
    return Tables(np.array(follows, np.int32), np.array(accepts, np.bool_), np.array(nothing, np.bool_))


class _Machine:
    """Runs the program one character further."""

    def __init__(self, program: Program) -> None:
        self.instructions = program.instructions
        self.steps = 0

    def step(self, state: tuple[int, ...], kind: int, skip_match: bool) -> tuple[tuple[int, ...], bool]:
        """What waits behind a character of class `kind`, and whether a match ends before it.

        With `skip_match` an empty match is passed over, as the module does where it has just returned one: it then
        wants the first match that is not empty.
        """
        targets: dict[int, None] = {}
        seen: set[int] = set()
        stack = list(reversed(state))
        while stack:
            number = stack.pop()
            if number in seen:
                continue
            seen.add(number)
            self.steps += 1
            if self.steps > _MOST_STEPS:
                raise _UnfitError
            match self.instructions[number]:
                case Take(classes, then):
                    if classes >> kind & 1:
                        targets[then] = None
                case Look(classes, then):
                    if classes >> kind & 1:
                        stack.append(then)
                case Fork(then):
                    stack.extend(reversed(then))
                case Match():
                    if not skip_match:
                        return tuple(targets), True
                case Unknown():
                    raise _UnfitError
        return tuple(targets), False
