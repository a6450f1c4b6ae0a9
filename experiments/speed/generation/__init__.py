"""Tokens a second of writing with a key-value cache, against a pass over the whole row for every token.

One idea: both are the same call with the same weights and draws, of which one mixer keeps nothing; so the texts must be
equal, and only the time may differ.
"""

from experiments.speed.generation.measure import measure
from experiments.speed.generation.question import QUESTION, GenerationSpeed

__all__ = ["QUESTION", "GenerationSpeed", "measure"]
