r"""Stage 6, cuts: between which two classes of characters a text can be cut in two that are split by themselves.

Nothing before a cut matters behind it, as no piece looks back. So `before | here` is a cut if, in any text,
1. no run of the automaton goes on from `before` to `here`, and to each of them `here` says what the end would say:
   then the pieces before the cut are the same without what follows;
2. a border stands there. Runs end at the cut, so a piece begins there or the character before was left unmatched.
   It can't be left if `before` by itself matches when `here` follows, or `here` always begins a match.
"""

import numpy as np

from research.tokenizers.automaton.classes import END
from research.tokenizers.automaton.tables import DEAD, START, Tables


def cuts(tables: Tables) -> np.ndarray:
    """bool[classes, classes]: whether a text can be cut between two characters, by the class before and behind."""
    follows, accepts = tables.follows, tables.accepts
    classes = follows.shape[1]
    stops = (follows == DEAD) & (accepts == accepts[:, [END]])
    begins = tables.nothing | np.array([_always_matches(tables, kind) for kind in range(classes)])
    safe = np.zeros((classes, classes), np.bool_)
    for before in range(END + 1, classes):
        reached = np.unique(follows[:, before])
        reached = reached[reached != DEAD]
        alone = follows[START, before]
        matched = accepts[alone] if alone != DEAD else np.zeros(classes, np.bool_)
        safe[before] = stops[reached].all(axis=0) & (matched | begins)
    safe[:, END] = False
    return safe


def _always_matches(tables: Tables, kind: int) -> bool:
    state = tables.follows[START, kind]
    return state != DEAD and bool(tables.accepts[state].all())
