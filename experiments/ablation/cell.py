"""One training: what it reads, how it is trained, when it is evaluated and in which contexts. All of it is data.

Two cells of equal description are the same cell, whoever runs them where and when.
"""

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from contracts.batch import RowPolicy
from contracts.evaluation import ContextPolicy
from contracts.specification import digest
from contracts.stream import TokenStream
from contracts.tokenizer import Tokenizer
from experiments.recording import versions
from research.costs import causal_pairs, decoder_parameters, forward_flops, training_flops
from research.train import TrainConfig

ROOT = Path(__file__).parents[2]
#: The code that an outcome depends on: a cell trained by other code is another cell.
_CODE = ("contracts", "research/model", "research/stream", "research/tokenizers", "research/train", "research/evaluate")
#: Of this folder. Statistics and words that are made of outcomes change none.
_OWN_CODE = ("cell.py", "outcome.py", "train.py")


@dataclass(frozen=True, eq=False)
class Material:
    """What a cell reads: a training text and held-out texts as tokens, and the tokenizer that made them."""

    tokenizer: Tokenizer
    train: TokenStream
    held_out: Mapping[str, TokenStream]

    @cached_property
    def description(self) -> dict[str, Any]:
        """Digests: of the vocabulary, and of every stream."""
        return {
            "tokenizer": self.tokenizer.identity.vocab_sha256,
            "train": _stream_digest(self.train),
            "held_out": {name: _stream_digest(stream) for name, stream in self.held_out.items()},
        }


@dataclass(frozen=True, eq=False)
class Cell:
    """A training under one seed, and what is to be kept of it."""

    name: str
    """how progress and errors call it; no part of what it is"""
    config: TrainConfig
    material: Material
    evaluations: tuple[int, ...]
    """the steps after which held-out text is scored, the last one included"""
    contexts: Mapping[str, ContextPolicy]
    """the first one is evaluated every time, the others from the middle of the training on"""
    leakage: Mapping[str, RowPolicy] = field(default_factory=dict)
    """row policies under which the finished decoder is asked whether documents see each other"""
    positions: int = 64
    """how many positions behind a boundary are told apart"""

    @cached_property
    def description(self) -> dict[str, Any]:
        """All that decides the outcome, as JSON."""
        return {
            "config": self.config.to_json(),
            "material": self.material.description,
            "evaluations": list(self.evaluations),
            "contexts": {name: dataclasses.asdict(policy) for name, policy in self.contexts.items()},
            "leakage": {name: dataclasses.asdict(policy) for name, policy in self.leakage.items()},
            "positions": self.positions,
            "versions": versions(),
            "code": code_digest(),
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the description."""
        return digest(self.description)

    @property
    def step_flops(self) -> int:
        """Matmul FLOPs of a step, forward and backward, with exactly causal attention over every row."""
        config = self.config
        forward = forward_flops(config.decoder, config.length, causal_pairs(config.length)).total
        return config.batch_size * training_flops(forward)

    @property
    def flops(self) -> int:
        """Of the whole training."""
        return self.config.steps * self.step_flops

    @property
    def parameters(self) -> int:
        """Of the decoder, embedding and head included."""
        return decoder_parameters(self.config.decoder).total


@cache
def code_digest() -> str:
    """SHA-256 of the source that trains and evaluates a cell."""
    found = hashlib.sha256()
    files = [file for folder in _CODE for file in sorted((ROOT / folder).rglob("*.py"))]
    for file in [*files, *(Path(__file__).parent / name for name in _OWN_CODE)]:
        found.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


def _stream_digest(stream: TokenStream) -> str:
    found = hashlib.sha256(np.asarray(stream.tokens, "<i4").tobytes())
    found.update(np.asarray(stream.starts, "<i8").tobytes())
    return found.hexdigest()
