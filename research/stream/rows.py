"""Batches as a pure function of seed and step: no iterator, so nothing to save, and any step on any process at once.

Epochs follow each other without a seam: row number `step * batch_size + i` counted from the start of training is row
`number % rows` of epoch `number // rows`, in an order that the seed and the epoch decide.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from jaxtyping import Bool

from contracts.batch import Batch, RowPolicy, T, Waste
from contracts.core import contract
from contracts.errors import InputError
from contracts.stream import TokenStream
from contracts.tokenizer import Tokenizer
from research.stream.layout import Layout
from research.stream.packing import Bins, Plan, RowNumbers, Windows
from research.stream.permutation import permuted

Begins = Bool[np.ndarray, "B T"]

ONE_PROCESS = (0, 1)


@dataclass(frozen=True, eq=False)
class Rows:
    """`rows(seed, step)`: the batches of a stream under a policy. Every epoch has the same rows in another order.

    Padding is always behind a row's last prediction and nothing that is trained sees it: weight 0, segment -1 and,
    as id, a boundary token (id 0 where the tokenizer has none, so ask the weights or segments, never the id).

    The plan of `fit` takes time and memory proportional to the documents, once; a batch is as quick at any step.

    Raises:
        InputError: for sizes below 1, a stream without a prediction, or one of another boundary policy.
    """

    stream: TokenStream
    tokenizer: Tokenizer
    policy: RowPolicy
    batch_size: int
    """rows of a global batch, of all processes together"""
    length: Annotated[int, T]
    """positions of a row"""

    def __post_init__(self) -> None:
        for name in ("batch_size", "length"):
            if getattr(self, name) < 1:
                raise InputError(name, expected="at least 1", got=getattr(self, name))
        if not len(self.stream.starts):
            raise InputError("stream", expected="at least one document", got="none")
        self._require_boundaries()
        if not self.plan.rows:
            raise InputError("stream", expected="something to predict", got="documents of one token alone")

    @cached_property
    def plan(self) -> Plan:
        """Which tokens stand in which row of an epoch."""
        if self.policy.packing == "concatenate":
            return Windows(self.stream, self._layout, self.length)
        return Bins(self.stream, self._layout, self.length, alone=self.policy.isolation == "reset")

    @property
    def rows_per_epoch(self) -> int:
        """How many rows hold the whole stream once."""
        return self.plan.rows

    @property
    def batches_in_order(self) -> int:
        """How many batches `in_order` has: the last one may be filled up with padding."""
        return -(-self.rows_per_epoch // self.batch_size)

    @property
    def padding_id(self) -> int:
        """The token at padding: one that closes or opens a document, 0 where the tokenizer has neither."""
        ids = (self.tokenizer.stop_id, self.tokenizer.start_id, 0)
        return next(token_id for token_id in ids if token_id is not None)

    @contract
    def __call__(self, seed: int, step: int, process: tuple[int, int] = ONE_PROCESS) -> Batch:
        """The batch of that step; `process = (i, n)` gives the i-th of n equal slices of it, in order.

        Raises:
            InputError: for a negative seed or step, or a batch that n processes can't share equally.
        """
        if not 0 <= seed < 1 << 64:
            raise InputError("seed", expected="0 to 2**64 - 1", got=seed)
        epoch, index = np.divmod(self._numbers(step, process), self.rows_per_epoch)
        return self._batch(permuted(index, epoch, self.rows_per_epoch, seed))

    @contract
    def in_order(self, step: int, process: tuple[int, int] = ONE_PROCESS) -> Batch:
        """The rows of one epoch unshuffled, each exactly once in steps 0 to `batches_in_order` - 1; then padding."""
        return self._batch(self._numbers(step, process))

    @cached_property
    def waste(self) -> Waste:
        """What an epoch computes for nothing, and what it leaves out."""
        plan, trains_joins = self.plan, self.policy.loss == "all"
        # Where a document opens with a boundary token, a first token that nobody is trained to predict is no text.
        lost = plan.unreached if trains_joins else len(self.stream.starts)
        return Waste(
            rows=plan.rows,
            positions=plan.rows * self.length,
            padded=plan.rows * self.length - plan.pairs,
            unscored=0 if trains_joins else plan.joins,
            split_documents=plan.split_documents,
            untrained_tokens=lost if self._layout.before is None else 0,
        )

    @cached_property
    def _layout(self) -> Layout:
        return Layout.of(self.tokenizer)

    def _require_boundaries(self) -> None:
        """A stream of another boundary policy would be cut in the wrong places, and nothing else would tell."""
        boundaries = {"first": (0, self.tokenizer.start_id), "last": (-1, self.tokenizer.stop_id)}
        for name, (place, boundary) in boundaries.items():
            token = int(self.stream.tokens[place])
            if token != boundary and (boundary is not None or token >= self.tokenizer.text_vocab_size):
                expected = "one of text" if boundary is None else f"the boundary {boundary}"
                hint = "the stream was made under another boundary policy"
                raise InputError(f"{name} token of the stream", expected=expected, got=token, hint=hint)

    def _numbers(self, step: int, process: tuple[int, int]) -> RowNumbers:
        """The rows of a step, counted from the start of training."""
        index, count = process
        if step < 0:
            raise InputError("step", expected="at least 0", got=step)
        if not 0 <= index < count or self.batch_size % count:
            expected = f"process i of n that divide a batch of {self.batch_size} rows"
            raise InputError("process", expected=expected, got=f"{index} of {count}")
        size = self.batch_size // count
        return np.arange(size) + (step * self.batch_size + index * size)

    def _batch(self, row: RowNumbers) -> Batch:
        """The rows of these numbers; a number past the epoch is a row of padding."""
        tokens, opens, pairs = self.plan.slots(np.minimum(row, self.rows_per_epoch - 1))
        pairs = np.where(row < self.rows_per_epoch, pairs, 0)
        is_real = np.arange(self.length) < pairs[:, None]
        begins, is_join = opens[:, :-1], opens[:, 1:] & (not self._layout.is_shared)
        is_trained = is_real & ~is_join if self.policy.loss == "no-cross" else is_real
        return Batch(
            tokens=np.where(is_real, tokens[:, :-1], np.int32(self.padding_id)),
            targets=np.where(is_real, tokens[:, 1:], np.int32(self.padding_id)),
            segments=np.where(is_real, self._segments(begins), -1).astype(np.int32),
            positions=np.where(is_real, self._positions(begins), 0).astype(np.int32),
            weights=is_trained.astype(np.float32),
        )

    def _segments(self, begins: Begins) -> np.ndarray:
        """0, 1, 2, ... for the documents of a row, or 0 for all."""
        if self.policy.isolation != "segments":
            return np.zeros(begins.shape, np.int32)
        count = np.cumsum(begins, axis=1)
        return count - count[:, :1]

    def _positions(self, begins: Begins) -> np.ndarray:
        """How far each position is from the first of its row, or of its document in the row."""
        position = np.broadcast_to(np.arange(self.length), begins.shape)
        if self.policy.positions == "continue":
            return position
        return position - np.maximum.accumulate(np.where(begins, position, 0), axis=1)
