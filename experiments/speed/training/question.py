"""The question, the rule by which its answer is judged, and what may be varied."""

import importlib.util
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import tyro

from contracts.errors import InputError
from contracts.results import Question

OURS, PLAIN, NANOGPT = "bytebound", "plain Flax", "nanoGPT (PyTorch)"
CANDIDATES = (OURS, PLAIN, NANOGPT)

#: What is aimed at: so many times the plain Flax decoder's tokens a second, and level with PyTorch.
AIM_PLAIN, AIM_NANOGPT = 1.4, 1.0

QUESTION = Question(
    name="training_speed",
    question="How many tokens a second does a training step of this project make, beside a decoder in plain Flax and "
    "nanoGPT's architecture in PyTorch, of equal width, depth, vocabulary, batch and dtype, on this machine?",
    hypothesis="Causal attention in blocks of queries and several steps a dispatch make it at least "
    f"{AIM_PLAIN} times as fast as plain Flax at every size, and nearly as fast as PyTorch, which stays ahead by its "
    "fused attention.",
    decision_rule="Each candidate's time in a round is divided by this project's in the same round. An aim is met if "
    "the whole range of these ratios over the rounds is at or above it, missed if wholly below, otherwise undecided. "
    f"Aims: {AIM_PLAIN} times plain Flax, {AIM_NANOGPT:g} times nanoGPT, in tokens a second, at every size.",
)


@dataclass(frozen=True)
class Shape:
    """A training step: the decoder, the batch, and how many steps one round times."""

    name: str
    d_model: int
    n_layers: int
    n_heads: int
    length: int
    batch_size: int
    vocab_size: int
    steps: int
    dtype: Literal["float32", "bfloat16"] = "float32"

    @property
    def tokens(self) -> int:
        """Positions of a step."""
        return self.batch_size * self.length

    @property
    def d_ff(self) -> int:
        """Of SwiGLU's three matrices, so that they are as large as two of 4 d: 8/3 d, rounded up to an even number."""
        return 2 * -(-4 * self.d_model // 3)


#: By name: width, layers, heads, positions, rows, steps a round.
SIZES = {"small": (128, 4, 4, 256, 16, 4), "medium": (384, 6, 6, 512, 8, 2), "large": (1024, 24, 16, 1024, 64, 4)}


@dataclass(frozen=True)
class TrainingSpeed:
    """Training steps beside a plain Flax decoder and nanoGPT's architecture in PyTorch, interleaved in one run.

    Each candidate trains in a process of its own on the same random tokens: forward, backward, clipping, AdamW.
    A peer that is not installed is named and left out (`pip install bytebound[peers]`).
    """

    sizes: tuple[Annotated[str, tyro.conf.arg(metavar="{small,medium,large}")], ...] = ("small", "medium")
    """small: d=128, 4 layers, T=256; medium: d=384, 6 layers, T=512; large: d=1024, 24 layers, T=1024, for a GPU"""
    vocab_sizes: tuple[int, ...] = (257, 4097)
    """ids of the vocabulary"""
    rounds: int = 5
    """how often every candidate has its turn"""
    batch_size: int | None = None
    """rows of a step, instead of the size's own"""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """what is multiplied; parameters are float32 either way"""
    seed: int = 0
    """of the tokens and of the order within a round"""

    def __post_init__(self) -> None:
        unknown = [size for size in self.sizes if size not in SIZES]
        if not self.sizes or unknown:
            raise InputError("--sizes", expected=f"some of {', '.join(SIZES)}", got=unknown or "none")
        if not self.vocab_sizes or min(self.vocab_sizes) < 2:
            raise InputError("--vocab-sizes", expected="at least one size, each at least 2", got=self.vocab_sizes)
        for option, value, least in (("--rounds", self.rounds, 2), ("--batch-size", self.batch_size, 1)):
            if value is not None and value < least:
                raise InputError(option, expected=f"at least {least}", got=value)

    @property
    def shapes(self) -> list[Shape]:
        """Every size with every vocabulary."""
        found = [
            Shape(f"{size}, V = {vocab_size:,}", *SIZES[size][:5], vocab_size, SIZES[size][5], self.dtype)
            for size in self.sizes
            for vocab_size in self.vocab_sizes
        ]
        return [replace(shape, batch_size=self.batch_size or shape.batch_size) for shape in found]


def installed() -> tuple[str, ...]:
    """The candidates that can run here."""
    return CANDIDATES if importlib.util.find_spec("torch") else (OURS, PLAIN)
