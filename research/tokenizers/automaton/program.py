r"""Stage 3, program: the tree as instructions of a machine that tries alternatives in the regex's order.

    \s+(?!\S)|\w      0 fork 1 4     try 1 first, then 4
                      1 take \s -> 2
                      2 fork 1 3     greedy: once more before going on
                      3 ahead, if the next is not \S -> 5
                      4 take \w -> 5
                      5 match

(How they are numbered here is for the eye.) A possessive loop over one atom is a greedy one that may be left only where
the next character is none of the atom's: `\s++` is `\s+(?!\s)`.
"""

from dataclasses import dataclass

from research.tokenizers.automaton.classes import END, Alphabet
from research.tokenizers.automaton.syntax import Ahead, Atom, Choice, End, Node, Repeat, Sequence

_MOST = 1 << 12


@dataclass(frozen=True)
class Take:
    """Goes on behind the next character if that is of one of `classes` (a bit each)."""

    classes: int
    then: int


@dataclass(frozen=True)
class Look:
    """Goes on where it is if the next character, or the end, is of one of `classes`."""

    classes: int
    then: int


@dataclass(frozen=True)
class Fork:
    """Tries each in turn."""

    then: tuple[int, ...]


@dataclass(frozen=True)
class Match:
    """All is matched."""


@dataclass(frozen=True)
class Unknown:
    """One character ahead does not tell; an automaton that could come here is not made."""


Instruction = Take | Look | Fork | Match | Unknown


@dataclass(frozen=True)
class Program:
    """Instructions, and which comes first."""

    instructions: tuple[Instruction, ...]
    first: int


def program(tree: Node, alphabet: Alphabet) -> Program | None:
    """The instructions for `tree`; `None` if there would be thousands."""
    writer = _Writer(alphabet)
    try:
        first = writer.write(tree, writer.add(Match()))
    except _TooLongError:
        return None
    return Program(tuple(writer.instructions), first)


class _TooLongError(Exception):
    """More instructions than are worth a table."""


class _Writer:
    """Writes from the end to the beginning, since an instruction names what comes after it."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.alphabet = alphabet
        self.instructions: list[Instruction] = []

    def add(self, instruction: Instruction) -> int:
        if len(self.instructions) == _MOST:
            raise _TooLongError
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def write(self, node: Node, after: int) -> int:
        """The number of the first instruction of `node`, which goes on with `after`."""
        match node:
            case Atom(source):
                return self.add(Take(self.alphabet.members[source], after))
            case Sequence(parts):
                for part in reversed(parts):
                    after = self.write(part, after)
                return after
            case Choice(options):
                return self.add(Fork(tuple([self.write(option, after) for option in options])))
            case Repeat():
                return self._repeat(node, after)
            case Ahead(atoms, wanted):
                return self.add(Look(self._seen(atoms, wanted), after))
            case End(before_line_feed):
                return self._end(before_line_feed, after)

    def _seen(self, atoms: tuple[Atom, ...], wanted: bool) -> int:
        classes = 0
        for atom in atoms:
            classes |= self.alphabet.members[atom.source]
        return classes if wanted else (1 << self.alphabet.size) - 1 & ~classes

    def _end(self, before_line_feed: bool, after: int) -> int:
        end = self.add(Look(1 << END, after))
        if not before_line_feed:
            return end
        line_feed = 1 << int(self.alphabet.classes[ord("\n")])
        return self.add(Fork((end, self.add(Look(line_feed, self.add(Unknown()))))))

    def _repeat(self, node: Repeat, after: int) -> int:
        leaving = after
        if node.habit == "+" and isinstance(node.body, Atom):
            leaving = self.add(Look(self._seen((node.body,), wanted=False), after))
        if node.most is None:
            loop = self.add(Unknown())  # its place: the body goes back to it
            body = self.write(node.body, loop)
            self.instructions[loop] = self._fork(body, leaving, node)
            first, written = (body, 1) if node.least else (loop, 0)
        else:
            first, written = after, 0
            for _ in range(node.most - node.least):
                first = self.add(self._fork(self.write(node.body, first), leaving, node))
        for _ in range(node.least - written):
            first = self.write(node.body, first)
        return first

    @staticmethod
    def _fork(body: int, leaving: int, node: Repeat) -> Fork:
        return Fork((leaving, body) if node.habit == "?" else (body, leaving))
