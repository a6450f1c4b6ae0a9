"""Stage 5, lookahead: how far a run may read behind the last match before it ends without a longer one.

All of that is read again for the next piece. A run of states that reports no match comes to an end after as many
characters as there are states, unless it goes round in a circle: `a*b|a` reads every `a` before it knows that there is
no `b`, and would do so again for each of them. The states of such circles are *doubtful*. The scanner remembers where
a doubtful state led to nothing (T. Reps, "'Maximal-munch' tokenization in linear time", 1998), so that it asks once.
"""

from collections.abc import Sequence

from research.tokenizers.automaton.tables import DEAD, Tables

_MOST_DOUBTFUL = 32
"""What is remembered is a bit a state, in 32 bits a byte of text."""

_FARTHEST = 64
"""Characters that may be read in vain for every piece, by states that are not doubtful."""


def doubtful_states(tables: Tables) -> list[int] | None:
    """The doubtful states; `None` if there are too many to remember, or if the others look too far ahead."""
    silent = [
        {int(target) for target, accepts in zip(*row, strict=True) if target != DEAD and not accepts}
        for row in zip(tables.follows, tables.accepts, strict=True)
    ]
    ending = {*_from_the_ends(silent), *_from_the_ends(_reversed(silent))}
    doubtful = [state for state in range(len(silent)) if state not in ending]
    calm = [targets.difference(doubtful) for targets in silent]
    longest = [0] * len(calm)
    for state in _from_the_ends(calm):
        longest[state] = max((1 + longest[target] for target in calm[state]), default=0)
    return None if len(doubtful) > _MOST_DOUBTFUL or max(longest) > _FARTHEST else doubtful


def _from_the_ends(graph: Sequence[set[int]]) -> list[int]:
    """The nodes from which no path is endless, targets before sources."""
    sources, left = _reversed(graph), [len(targets) for targets in graph]
    ended = [node for node in range(len(graph)) if not left[node]]
    for node in ended:
        for source in sources[node]:
            left[source] -= 1
            if not left[source]:
                ended.append(source)
    return ended


def _reversed(graph: Sequence[set[int]]) -> list[set[int]]:
    sources: list[set[int]] = [set() for _ in graph]
    for node, targets in enumerate(graph):
        for target in targets:
            sources[target].add(node)
    return sources
