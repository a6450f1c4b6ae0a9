r"""Stage 2, classes: code points that no atom of a regex tells apart are one letter of the automaton's alphabet.

What an atom matches is asked of the `regex` module, over all code points, so that `\p{L}` or `(?i:s)` (which takes ſ,
U+017F, too) mean what they mean there.

    code points    ... , - . / 0 1 2 ... A B C ...      \p{N}   no no no no yes yes yes   no no no
    classes            2 3 2 2 4 4 4     5 5 5          -       no yes no ...
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

END = 0
"""The class of the mark between documents; it is no character."""

CODE_POINTS = 0x110000
_FIRST_SURROGATE, _SURROGATES = 0xD800, 0x800
_MOST = 255
_MOST_ASKED, _QUESTION = 1500, 16
"""Characters of atoms that the module is asked about, and how many of them a question is worth: about a second."""

ANY_CASE = "(?i:"
"""An atom of which case is ignored begins so."""


@dataclass(frozen=True, eq=False)
class Alphabet:
    """The classes of code points that a regex tells apart."""

    classes: np.ndarray
    """uint8[0x110000]: the class of each code point, from 1 on; `END` is 0"""
    size: int
    """how many classes there are, with `END`"""
    members: dict[str, int]
    """the classes that an atom matches, one bit each"""


def alphabet(atoms: Iterable[str]) -> Alphabet | None:
    """The coarsest classes that tell `atoms` apart; `None` if there are more than a byte can number."""
    distinct = dict.fromkeys(atoms)
    if len(distinct) > _MOST:
        return None
    edges_of = {atom: edges(atom) for atom in distinct}
    # Between two neighbours of all edges nothing changes: thousands of stretches stand for a million code points.
    starts = np.unique(np.concatenate([[0], *edges_of.values()]))
    flags = np.array([np.searchsorted(edge, starts, "right") & 1 for edge in edges_of.values()], np.uint8)
    kinds, classes = np.unique(flags.reshape(-1, len(starts)), axis=1, return_inverse=True)
    size = 1 + kinds.shape[1]
    if size > _MOST:
        return None
    members = {
        atom: sum(2 << int(kind) for kind in np.flatnonzero(row)) for atom, row in zip(edges_of, kinds, strict=True)
    }
    lengths = np.diff(starts, append=CODE_POINTS)
    return Alphabet(np.repeat(1 + classes.reshape(-1).astype(np.uint8), lengths), size, members)


@cache
def _all_characters() -> str:
    """A surrogate is no character: no UTF-8 holds it."""
    codes = np.arange(CODE_POINTS - _SURROGATES, dtype="<u4")
    codes[_FIRST_SURROGATE:] += _SURROGATES
    return codes.tobytes().decode("utf-32-le")


def is_character(atom: str) -> bool:
    """Whether `atom` is a character that stands for itself, so that the module need not be asked."""
    return len(atom) == 1 and atom != "."


def bare(atom: str) -> str:
    """`atom` with regard to case."""
    return atom[len(ANY_CASE) : -1] if atom.startswith(ANY_CASE) else atom


def can_be_asked(atoms: Iterable[str]) -> bool:
    """Whether it takes no more than about a second to ask the module what `atoms` match, alone and joined."""
    return sum(map(_cost, atoms)) <= _MOST_ASKED


def _cost(atom: str) -> int:
    if is_character(atom):
        return 0
    asked_thrice = atom.startswith(ANY_CASE) and not is_character(bare(atom))
    return (_QUESTION + len(atom)) * (3 if asked_thrice else 1)


@lru_cache(maxsize=256)
def edges(atom: str) -> np.ndarray:
    """int64: the code points at which what `atom` matches begins, ends, begins again ..."""
    if is_character(atom):
        return np.array([ord(atom), ord(atom) + 1])
    import regex

    runs = [run.span() for run in regex.finditer(f"(?:{atom})+", _all_characters())]
    found = np.array(runs, np.int64).reshape(-1)
    return np.where(found >= _FIRST_SURROGATE, found + _SURROGATES, found)


def matches(atom: str) -> np.ndarray:
    """bool[0x110000]: the code points that `atom` matches."""
    changes = np.zeros(CODE_POINTS + 1, np.int8)
    changes[edges(atom)] = 1
    return np.cumsum(changes[:-1], dtype=np.int32) & 1 == 1
