"""Training steps a second beside the peers: a plain Flax decoder and nanoGPT's architecture in PyTorch.

One idea: every candidate lives in a process of its own and waits; the parent lets one after another train a few steps,
round by round, so that what changes on the machine meanwhile meets all of them.
"""

from experiments.speed.training.measure import measure
from experiments.speed.training.question import QUESTION, TrainingSpeed

__all__ = ["QUESTION", "TrainingSpeed", "measure"]
