"""Windows over a stream, each of which scores what no earlier one did: every prediction stands in exactly one.

A window of T positions is T + 1 neighbouring tokens of the stream: all but the last are inputs, all but the first
targets. The next window begins T - overlap tokens later, and its first `overlap` targets are not scored again.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int64

from contracts.batch import Batch
from contracts.core import contract
from contracts.evaluation import ContextPolicy, TokenIndices
from contracts.stream import TokenStream
from contracts.tokenizer import Tokenizer
from research.stream.layout import Layout
from research.stream.packing import ranges

PerWindow = Int64[np.ndarray, "windows"]
IsScored = Bool[np.ndarray, "B T"]
Targets = Int64[np.ndarray, "B T"]


@dataclass(frozen=True, eq=False)
class ContextWindows:
    """The windows of a stream under a policy, in the order of the stream."""

    stream: TokenStream
    tokenizer: Tokenizer
    policy: ContextPolicy

    @cached_property
    def layout(self) -> Layout:
        """Where boundaries stand."""
        return Layout.of(self.tokenizer)

    @cached_property
    def begins(self) -> PerWindow:
        """The index of each document's first token."""
        return self.layout.begins(self.stream.starts)

    @cached_property
    def spans(self) -> tuple[PerWindow, PerWindow]:
        """Begin and end of what is cut into windows: the stream, or each document of its own."""
        if self.policy.isolation == "reset":
            return self.begins, self.layout.ends(self.stream)
        return np.array([0]), np.array([len(self.stream.tokens)])

    @cached_property
    def plan(self) -> tuple[PerWindow, PerWindow, PerWindow]:
        """Of each window: its first input, how many predictions it holds, and how many of them were made before."""
        begin, end = self.spans
        length, stride = self.policy.length, self.policy.length - self.policy.overlap
        predictions = end - begin - 1
        windows = np.where(predictions > 0, 1 + -(-np.maximum(predictions - length, 0) // stride), 0)
        span, number = ranges(np.zeros_like(windows), windows)
        offset = number * stride
        held = np.minimum(predictions[span] - offset, length)
        return begin[span] + offset, held, np.where(number > 0, self.policy.overlap, 0)

    @property
    def count(self) -> int:
        """How many windows there are."""
        return len(self.plan[0])

    def batch(self, first: int, rows: int) -> tuple[Batch, Targets]:
        """Windows `first` to `first + rows` - 1, with the index in the stream of each target.

        Weights are 1 on what is scored. Past the last window rows are padding.
        """
        number = np.arange(first, first + rows)
        begin, held, before = (field[np.minimum(number, self.count - 1)] for field in self.plan)
        held = np.where(number < self.count, held, 0)
        place = np.arange(self.policy.length)
        is_real = place[None, :] < held[:, None]
        index = np.where(is_real, begin[:, None] + place[None, :], 0)
        tokens = np.where(is_real, self.stream.tokens[index], 0).astype(np.int32)
        targets = np.where(is_real, self.stream.tokens[index + is_real], 0).astype(np.int32)
        document = np.searchsorted(self.begins, index, side="right")
        start = begin[:, None]
        if self.policy.positions == "restart":
            start = np.maximum(start, self.begins[np.maximum(document - 1, 0)])
        weights = is_real & (place[None, :] >= before[:, None]) & ~self._is_join(index + 1)
        batch = Batch(
            tokens=tokens,
            targets=targets,
            segments=np.where(is_real, document if self.policy.isolation == "segments" else 0, -1).astype(np.int32),
            positions=np.where(is_real, index - start, 0).astype(np.int32),
            weights=weights.astype(np.float32),
        )
        return batch, index + 1

    @contract
    def document_of_tokens(self) -> TokenIndices:
        """The document of each token of the stream; a shared boundary is the closing of the first of two."""
        index = np.arange(len(self.stream.tokens))
        before = np.searchsorted(self.begins, index - self.layout.is_shared, side="right")
        return np.maximum(before - 1, 0)

    def _is_join(self, target: np.ndarray) -> np.ndarray:
        """Whether a target is predicted from another document and the policy does not ask for that."""
        if self.policy.joins == "all" or self.layout.is_shared:
            return np.zeros(target.shape, bool)
        return np.isin(target, self.begins)
