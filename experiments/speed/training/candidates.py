"""What takes part, each behind the same two calls: make it for a shape, and let it train some steps.

A candidate's module is imported in its own process only, so that no framework's threads stand in another's way.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from experiments.speed.training.question import NANOGPT, OURS, PLAIN, Shape

Train = Callable[[int], float]
"""`train(steps)`: that many steps, until they are done; the loss of the last one"""

_MODULES = {OURS: "ours", PLAIN: "plain_flax", NANOGPT: "nanogpt"}

#: What all of them train with.
PEAK_LEARNING_RATE, BETAS, WEIGHT_DECAY, CLIP_NORM = 1e-3, (0.9, 0.95), 0.1, 1.0


def make(name: str, shape: Shape, seed: int) -> Train:
    """The candidate of this name, ready to compile."""
    module: Any = import_module(f"experiments.speed.training.{_MODULES[name]}")
    return module.make(shape, windows(shape, seed))


def windows(shape: Shape, seed: int) -> np.ndarray:
    """Random ids `[batch, T + 1]`: no step is quicker for what it reads."""
    return np.random.default_rng(seed).integers(0, shape.vocab_size, (shape.batch_size, shape.length + 1), np.int32)
