r"""Before stage 2, joined: where the `regex` module joins atoms into one set, and that set is another than they were.

It joins options of one character (`\s|[ab]`), and what a match may begin with, to find quickly where one could.
Ignoring case, a set has a character if it has any of its cases, so that one with negations has fewer:

    (?i:'s)|\P{Lu}     finds no letter that has an upper case, since that is none of \P{Lu}

An automaton would be right, and not what the module does. So such a regex is left to the module.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from research.tokenizers.automaton.classes import ANY_CASE, bare, edges, is_character, matches
from research.tokenizers.automaton.syntax import Ahead, Atom, Choice, Node, Repeat, Sequence, can_be_empty

_NO_CHARACTER = r"\ud800"


def is_as_it_says(tree: Node, atoms: Iterable[str]) -> bool:
    """Whether the module, where it joins `atoms`, all those of `tree`, matches what they match by themselves."""
    return all(map(_is_same_in_company, atoms)) and _has_one_negation(tree) and _can_begin(_first(tree))


def _is_same_in_company(atom: str) -> bool:
    r"""`(?i:\p{L})` is not: U+0345 is no letter, but another case of iota, so that `(?i:\p{L}|a)` matches it."""
    if not atom.startswith(ANY_CASE) or is_character(bare(atom)):
        return True
    return np.array_equal(edges(atom), edges(f"(?i:{bare(atom)}|{_NO_CHARACTER})"))


def _has_one_negation(node: Node) -> bool:
    """Whether no choice is between two negated sets: the module takes `[^a]|[^b]` for `[^ab]`."""
    match node:
        case Choice(options):
            negated = {atom for option in options for atom in _last(option) if bare(atom).startswith("[^")}
            return len(negated) < 2 and all(map(_has_one_negation, options))
        case Sequence(parts):
            return all(map(_has_one_negation, parts))
        case Ahead(atoms):
            return len({atom.source for atom in atoms if bare(atom.source).startswith("[^")}) < 2
        case Repeat(body):
            return _has_one_negation(body)
    return True


def _last(node: Node) -> Iterator[str]:
    """The atoms that can be all that is left of an option behind what it has in common with the others."""
    match node:
        case Atom(source):
            yield source
        case Choice(options):
            for option in options:
                yield from _last(option)
        case Sequence(parts):
            for part in reversed(parts):
                yield from _last(part)
                if not can_be_empty(part):
                    return
        case Repeat(body, most=1):
            yield from _last(body)


def _can_begin(first: set[str | None]) -> bool:
    """Whether the set of what a match may begin with has all that each of its atoms matches."""
    atoms = {atom for atom in first if atom is not None}
    sources = sorted(set(map(bare, atoms)))
    if None in first or "." in sources or not any(atom.startswith(ANY_CASE) for atom in atoms):
        return True  # the module makes no set, or none that ignores case
    # In brackets, as else `\W` would not ignore case.
    sets = [source if source.startswith("[") else f"[{source}]" for source in sources]
    found = matches(f"(?i:{'|'.join([*sets, _NO_CHARACTER])})")
    return not any((matches(atom) & ~found).any() for atom in atoms)


def _first(node: Node) -> set[str | None]:
    """The atoms that a match may begin with; `None` among them if it may be empty."""
    match node:
        case Atom(source):
            return {source}
        case Choice(options):
            return set().union(*map(_first, options))
        case Sequence(parts):
            first: set[str | None] = {None}
            for part in parts:
                first = first - {None} | _first(part)
                if None not in first:
                    break
            return first
        case Repeat(body, least):
            return _first(body) | ({None} if least == 0 else set())
        case Ahead(atoms, wanted=True):
            return {atom.source for atom in atoms}
    return {None}
