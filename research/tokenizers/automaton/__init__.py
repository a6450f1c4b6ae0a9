r"""Regexes that nobody foresaw, as tables that a kernel runs: exactly the pieces that the `regex` module would make.

    regex --parse--> tree --joined, classes--> alphabet --program--> instructions --tables--> automaton
                                                                                    --lookahead, cuts-->

Any stage may say `None`: the regex is outside of what it does exactly and in little room, and the module splits it.
The loop over a text is `kernels/automata.py`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from research.tokenizers.automaton.classes import alphabet, can_be_asked
from research.tokenizers.automaton.cuts import cuts
from research.tokenizers.automaton.joined import is_as_it_says
from research.tokenizers.automaton.lookahead import doubtful_states
from research.tokenizers.automaton.program import program
from research.tokenizers.automaton.syntax import Ahead, Atom, Choice, Node, Repeat, Sequence, parse
from research.tokenizers.automaton.tables import Tables, tables

__all__ = ["Automaton", "automaton"]


@dataclass(frozen=True, eq=False)
class Automaton:
    """A regex as tables."""

    classes: np.ndarray
    """uint8[0x110000]: the class of each code point"""
    tables: Tables
    doubtful: tuple[int, ...]
    """states in which a run may read on for long and find nothing"""
    cuts: np.ndarray
    """bool[classes, classes]: where a text can be cut in two"""


def automaton(pattern: str) -> Automaton | None:
    """The automaton of a regex that the `regex` module accepts; `None` if only the module can follow it."""
    import regex

    if regex.compile(pattern).flags != regex.V0 | regex.UNICODE:
        return None
    tree = parse(pattern)
    if tree is None:
        return None
    atoms = list(dict.fromkeys(_atoms(tree)))
    letters = alphabet(atoms) if can_be_asked(atoms) and is_as_it_says(tree, atoms) else None
    instructions = program(tree, letters) if letters is not None else None
    if letters is None or instructions is None:
        return None
    table = tables(instructions, letters.size)
    doubtful = doubtful_states(table) if table is not None else None
    if table is None or doubtful is None:
        return None
    return Automaton(letters.classes, table, tuple(doubtful), cuts(table))


def _atoms(node: Node) -> Iterator[str]:
    match node:
        case Atom(source):
            yield source
        case Sequence(children) | Choice(children) | Ahead(children):
            for child in children:
                yield from _atoms(child)
        case Repeat(body):
            yield from _atoms(body)
