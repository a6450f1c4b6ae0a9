"""How fast the tokenizers are beside their peers: every job in interleaved repeats, every goal with what was measured.

One idea: a job is a set of calls that do the same thing, one a library; each repeat calls them all, in a new order, so
that a slow second of the machine falls on all alike, and ratios are taken within one repeat.
"""

from experiments.speed.tokenizers.measure import measure
from experiments.speed.tokenizers.question import QUESTION, TokenizerSpeed

__all__ = ["QUESTION", "TokenizerSpeed", "measure"]
