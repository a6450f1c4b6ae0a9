"""What the scanner knows of a pattern: a class for every code point, and where a piece begins, as tables.

A regex without a name becomes an automaton (`automata.py`), which needs nothing from here. What has a name is faster:
whether a border stands before a character is decided by the classes of four neighbours, `b2 b | here after`. Each
pattern states that as a function of four classes, tabulated once; so a new pattern is a function and no new loop.
What four neighbours can't decide (`'ll`, three digits, blank lines) is left to the refinements in `scan.py`.

To add one:
- a `NamedPattern` in `pretokenize.PATTERNS`, its `frozen` form with every class in brackets, to fill in the ranges;
- its rule here and in `_RULES`. Classes are three bits: of the eight none is free. A table with `letter` tells space,
  line end and other white space apart, one without (`words`) has `word` and white space;
- in `interop.spellings._PUBLISHED` how its publisher and this project spell it, or it is read back as a mere regex;
- its alphabet in the tests of the scanner, which compare every short text with the regex.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from typing import Protocol

import numpy as np

from contracts.errors import ShapeError
from research.tokenizers.automaton import automaton
from research.tokenizers.kernels import scan
from research.tokenizers.kernels.automata import Runner
from research.tokenizers.kernels.scan import BLANK, CLASSES, END, LETTER, NEWLINE, NUMBER, OTHER, SPACE, WHITE, WORD
from research.tokenizers.pretokenize import NamedPattern, Pretokenizer, RegexPattern, WholeText, class_ranges

Rule = Callable[[int, int, int, int], bool]


def words(b2: int, b: int, here: int, after: int) -> bool:
    r"""`\s+|\w+|[^\w\s]`"""
    return here != b or here == OTHER


def gpt2(b2: int, b: int, here: int, after: int) -> bool:
    r"""`'s|...| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`: of several spaces the last is set apart."""
    if here in BLANK:
        return b not in BLANK or after not in (*BLANK, END)
    return here != b and b != SPACE


def gpt2_digits(b2: int, b: int, here: int, after: int) -> bool:
    r"""`\p{N}|'s|...| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?![^\s\p{N}])|\s+`"""
    if here in BLANK:
        return b not in BLANK or after not in (*BLANK, NUMBER, END)
    return here == NUMBER or (here != b and b != SPACE)


def cl100k(b2: int, b: int, here: int, after: int) -> bool:
    r"""`'s|...|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?![\s\S])|\s*[\r\n]|\s+(?!\S)|\s`"""
    if here == LETTER:
        joins_a_symbol = b == OTHER and b2 not in (OTHER, SPACE)  # that is, the symbol begins its piece
        return b not in (LETTER, SPACE, WHITE) and not joins_a_symbol
    if here == NUMBER:
        return b != NUMBER
    if here == OTHER:
        return b not in (OTHER, SPACE)
    if here == NEWLINE:
        return b in (LETTER, NUMBER)
    return b not in (SPACE, WHITE) or after not in (*BLANK, END)


def none(b2: int, b: int, here: int, after: int) -> bool:
    """One piece a document."""
    return False


class Scanner(Protocol):
    """A pattern as `Pages` takes it."""

    @property
    def classes(self) -> np.ndarray:
        """uint8[0x110000]: the class of each code point"""

    @property
    def cuts(self) -> np.ndarray:
        """bool[classes, classes]: where text can be cut in two that know nothing of each other, by the class of the
        character before and of the one behind"""

    def split(self, page: np.ndarray, end: int, borders: np.ndarray, other: np.ndarray) -> int:
        """Write the borders of the pieces in `page[:end]` to `borders`; the number of pieces. `other` is of its size,
        to be written to."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """A named pattern as the kernels take it."""

    classes: np.ndarray
    """uint8[0x110000]: the class of each code point"""
    borders: np.ndarray
    """uint8[8^4]: 1 where a piece begins, by `b2 << 9 | b << 6 | here << 3 | after`"""
    cuts: np.ndarray
    """bool[8, 8]: where text can be cut in two that know nothing of each other, by `b` and `here`"""
    contractions: bool = False
    """`'s` and the like are pieces"""
    any_case: bool = False
    """and so is `'S`"""
    lines_and_threes: bool = False
    """blank lines are joined, and numbers set in threes"""

    def split(self, page: np.ndarray, end: int, borders: np.ndarray, other: np.ndarray) -> int:
        """As a `Scanner`."""
        flags = self.contractions, self.any_case, self.lines_and_threes
        return scan.split(page, end, self.classes, self.borders, *flags, borders, other)


#: The rule, and then as in `Pattern`: contractions, any case, lines and threes.
_RULES: Mapping[str, tuple[Rule, bool, bool, bool]] = {
    "words": (words, False, False, False),
    "gpt2": (gpt2, True, False, False),
    "gpt2-digits": (gpt2_digits, True, False, False),
    "cl100k": (cl100k, True, True, True),
    "none": (none, False, False, False),
}


def scanned(pretokenizer: Pretokenizer) -> Scanner | None:
    """The tables of a pattern; `None` for a regex that only the `regex` module can follow."""
    if isinstance(pretokenizer, RegexPattern):
        return _runner(pretokenizer.regex)
    return _tables(pretokenizer) if isinstance(pretokenizer, (NamedPattern, WholeText)) else None


@lru_cache(maxsize=16)  # of one to five megabytes each
def _runner(regex: str) -> Runner | None:
    compiled = automaton(regex)
    return None if compiled is None else Runner.of(compiled)


@cache
def _tables(pattern: NamedPattern | WholeText) -> Pattern:
    if pattern.name not in _RULES:
        raise ShapeError(f"pattern {pattern.name!r}: expected a rule in kernels.patterns._RULES, got none")
    rule, *refinements = _RULES[pattern.name]
    borders = _tabulated(rule)
    return Pattern(_classes(pattern), borders, _cuts(borders, refined=any(refinements)), *refinements)


def _classes(pattern: NamedPattern | WholeText) -> np.ndarray:
    classes = np.full(0x110000, OTHER, np.uint8)
    if isinstance(pattern, WholeText):
        return classes
    spans = class_ranges(pattern.version)
    for kind, number in (("word", WORD), ("letter", LETTER), ("number", NUMBER), ("space", WHITE)):
        for low, high in spans.get(kind, ()):
            classes[low : high + 1] = number
    if "letter" in spans:
        classes[[ord(" "), ord("\r"), ord("\n")]] = SPACE, NEWLINE, NEWLINE
    return classes


def _tabulated(rule: Rule) -> np.ndarray:
    windows = product(CLASSES, repeat=4)
    return np.array([END in (b, here) or rule(b2, b, here, after) for b2, b, here, after in windows], np.uint8)


def _cuts(borders: np.ndarray, refined: bool) -> np.ndarray:
    """A cut between two classes is safe if a border is there in any company, and both sides decide as beside `END`.

    Refinements look across a border only from `'` to letters and within white space.
    """
    rule = borders.reshape(8, 8, 8, 8)
    always = rule.all(axis=(0, 3))
    left_indifferent = (rule == rule[..., END, None]).all(axis=(0, 1))
    right_indifferent = (rule == rule[END]).all(axis=(2, 3))
    safe = always & left_indifferent & right_indifferent
    if refined:
        safe[OTHER, LETTER] = False
        safe[BLANK, :] = False
    safe[END] = safe[:, END] = False
    return safe
