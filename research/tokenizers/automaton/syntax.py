r"""Stage 1, parse: a regex as a tree, or `None` for what an automaton can't follow.

Read are literals, `.`, classes, their escapes, groups, `(?i:...)`, `|`, repetition, the end, and a look at one
character ahead:

    \s+(?!\S)|\w      Choice( Sequence( Repeat(\s, 1, None), Ahead((\S,), wanted=False) ), \w )

The grammar is narrower than the `regex` module's on purpose: a spelling with any doubt about it is left to the module.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Atom:
    """Matches one character."""

    source: str
    """a regex by itself, to be asked what it matches"""


@dataclass(frozen=True)
class Sequence:
    """One part after another; nothing, if there are none."""

    parts: tuple["Node", ...]


@dataclass(frozen=True)
class Choice:
    """The first option that lets the rest match."""

    options: tuple["Node", ...]


@dataclass(frozen=True)
class Repeat:
    """`body` so many times."""

    body: "Node"
    least: int
    most: int | None
    habit: str
    """`""` greedy: rather more than fewer, `"?"` lazy: rather fewer, `"+"` possessive: as many as there are"""


@dataclass(frozen=True)
class Ahead:
    """Matches nothing, where the next character is (`wanted`) or is not one of `atoms`; the end is none."""

    atoms: tuple[Atom, ...]
    wanted: bool


@dataclass(frozen=True)
class End:
    """Matches nothing, at the end of the text; `$`, also before a last line feed."""

    before_line_feed: bool


Node = Atom | Sequence | Choice | Repeat | Ahead | End

# What is no property is a literal p to the module: `\pa` is `pa`, `\p{,3}` up to three of them.
_PROPERTY = r"[pP](?:[CLMNPSZ]|\{\^?[A-Za-z0-9_.&-]+(?:[:=][A-Za-z0-9_.&/-]+)?\})"
_ESCAPED = rf"\\(?:[sSdDwW]|{_PROPERTY}|[rntfv]|x[\da-fA-F]{{2}}|u[\da-fA-F]{{4}}|U[\da-fA-F]{{8}}|[^\w\s])"
_ATOM = re.compile(rf"{_ESCAPED}|\[\^?+(?:{_ESCAPED}|[^\\\[\]])+\]|[^\\\[\](){{}}|*+?^$]", re.DOTALL)
_SET_OPERATION = re.compile(r"--|\|\||&&|~~")
_REPETITION = re.compile(r"(?:(?P<sign>[*+?])|\{(?P<least>\d*)(?P<comma>,?)(?P<most>\d*)\})(?P<habit>[?+]?)", re.ASCII)
_DEEPEST = 50
_SIGNS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class _OutsideError(Exception):
    """What the grammar does not know."""


def parse(pattern: str) -> Node | None:
    """The tree of a regex that the `regex` module accepts; `None` if it is outside the grammar."""
    parser = _Parser(pattern)
    try:
        tree = parser.choice(any_case=False)
    except _OutsideError:
        return None
    return tree if parser.at == len(pattern) else None


class _Parser:
    """Recursive descent; `at` is the next character, `depth` how many groups are open."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at, self.depth = pattern, 0, 0

    def _takes(self, spelling: str) -> bool:
        if not self.pattern.startswith(spelling, self.at):
            return False
        self.at += len(spelling)
        return True

    def choice(self, any_case: bool) -> Node:
        options = [self._sequence(any_case)]
        while self._takes("|"):
            options.append(self._sequence(any_case))
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self, any_case: bool) -> Node:
        parts = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            parts.append(self._repeated(self._one(any_case)))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _one(self, any_case: bool) -> Node:
        for spelling, inside in _GROUPS.items():
            if self._takes(spelling):
                self.depth += 1
                node = self.choice(any_case or spelling == "(?i:") if self.depth <= _DEEPEST else None
                if node is None or not self._takes(")"):
                    raise _OutsideError
                self.depth -= 1
                return inside(node)
        for spelling, node in _ENDS.items():
            if self._takes(spelling):
                return node
        found = _ATOM.match(self.pattern, self.at)
        if found is None or (found[0][0] == "[" and _SET_OPERATION.search(found[0])):
            raise _OutsideError
        self.at = found.end()
        return Atom(f"(?i:{found[0]})" if any_case else found[0])

    def _repeated(self, body: Node) -> Node:
        found = _REPETITION.match(self.pattern, self.at)
        if found is None:
            return body
        self.at = found.end()
        if found["sign"]:
            least, most = _SIGNS[found["sign"]]
        elif found["least"] or found["most"]:
            least = int(found["least"] or 0)
            most = int(found["most"]) if found["most"] else None if found["comma"] else least
        else:
            raise _OutsideError
        possessive_group = found["habit"] == "+" and not isinstance(body, Atom)
        # An empty round of a loop ends it in some engines and not in others.
        if most == 0 or possessive_group or can_be_empty(body) or _REPETITION.match(self.pattern, self.at):
            raise _OutsideError
        return Repeat(body, least, most, found["habit"])


def can_be_empty(node: Node) -> bool:
    """Whether `node` may match no character."""
    match node:
        case Atom():
            return False
        case Sequence(parts):
            return all(map(can_be_empty, parts))
        case Choice(options):
            return any(map(can_be_empty, options))
        case Repeat(body, least):
            return least == 0 or can_be_empty(body)
    return True


def _look(wanted: bool) -> Callable[[Node], Node]:
    def inside(node: Node) -> Node:
        atoms = node.options if isinstance(node, Choice) else (node,)
        if not all(isinstance(atom, Atom) for atom in atoms):
            raise _OutsideError
        return Ahead(tuple(atom for atom in atoms if isinstance(atom, Atom)), wanted)

    return inside


def _as_it_is(node: Node) -> Node:
    return node


#: How a group begins, and what it makes of the inside. `(` comes last: it begins the others too.
_GROUPS: dict[str, Callable[[Node], Node]] = {
    "(?i:": _as_it_is,
    "(?:": _as_it_is,
    "(?=": _look(wanted=True),
    "(?!": _look(wanted=False),
    "(": _as_it_is,
}
_ENDS = {r"\Z": End(before_line_feed=False), r"\z": End(before_line_feed=False), "$": End(before_line_feed=True)}
