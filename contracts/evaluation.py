"""What an evaluation is: which context each token was predicted from, and the account of its nats over bytes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import get_args

import numpy as np
from jaxtyping import Float64, Int64

from contracts.batch import Isolation, JoinLoss, PositionRule, RowPolicy
from contracts.dims import Dim
from contracts.errors import InputError

N = Dim("N", "tokens of one text or stream")
documents = Dim("documents", "documents of a corpus")

TokenNats = Float64[np.ndarray, "N"]
TokenBytes = Int64[np.ndarray, "N"]
TokenIndices = Int64[np.ndarray, "N"]
DocumentNats = Float64[np.ndarray, "documents"]
DocumentCounts = Int64[np.ndarray, "documents"]


@dataclass(frozen=True)
class ContextPolicy:
    """From which context each token of a stream is predicted: windows, of which each scores what none before it did."""

    length: int
    """positions of a window"""
    overlap: int = 0
    """positions that a window repeats of the one before, as context that is not scored again"""
    isolation: Isolation = "cross"
    """`cross`: a document sees those before it in the window; `segments`: only itself; `reset`: it has windows of
    its own"""
    positions: PositionRule = "continue"
    """`continue`: counted through the window; `restart`: from 0 at each document"""
    joins: JoinLoss = "all"
    """`all`: a document's first token is predicted from the last one before it; `no-cross`: from nothing"""

    def __post_init__(self) -> None:
        choices = {"isolation": Isolation, "positions": PositionRule, "joins": JoinLoss}
        for field in fields(self):
            allowed = get_args(choices.get(field.name))
            if allowed and getattr(self, field.name) not in allowed:
                got = repr(getattr(self, field.name))
                raise InputError(f"ContextPolicy {field.name}", expected=f"one of {', '.join(allowed)}", got=got)
        if self.length < 1:
            raise InputError("ContextPolicy length", expected="at least 1 position", got=self.length)
        if not 0 <= self.overlap < self.length:
            hint = "a window has to score something new"
            raise InputError("ContextPolicy overlap", expected=f"0 to {self.length - 1}", got=self.overlap, hint=hint)
        if self.isolation == "reset" and self.joins == "all":
            hint = "a document with windows of its own has nothing before it"
            raise InputError("ContextPolicy joins", expected="'no-cross' under 'reset'", got="'all'", hint=hint)

    @classmethod
    def like(cls, policy: RowPolicy, length: int, overlap: int = 0) -> "ContextPolicy":
        """The context that rows of that policy train on."""
        return cls(length, overlap, policy.isolation, policy.positions, policy.loss)


@dataclass(frozen=True, eq=False)
class Ledger:
    """What a text costs under a model, document by document. Ratios are of sums; the documents can be resampled."""

    nats_text: DocumentNats
    """of the tokens that hold bytes"""
    nats_protocol: DocumentNats
    """of the tokens that hold none: one belongs to the document that ends where it stands"""
    bytes: DocumentCounts
    characters: DocumentCounts
    """code points; 0 in a document that is not UTF-8"""
    tokens_text: DocumentCounts
    tokens_protocol: DocumentCounts
    vocab_size: int
    mistaken: Mapping[str, float]
    """the figure that each of the known mistakes makes of the same nats"""

    @property
    def bpb_text(self) -> float:
        """Bits a byte of the text, its tokens given the boundaries: nats of text / (ln 2 * bytes)."""
        return float(self.nats_text.sum() / self.bytes.sum() / math.log(2))

    @property
    def bpb_total(self) -> float:
        """Bits a byte with what predicting the boundaries costs: the length of a code for the whole corpus."""
        return float((self.nats_text.sum() + self.nats_protocol.sum()) / self.bytes.sum() / math.log(2))

    @property
    def doubts(self) -> tuple[str, ...]:
        """What the numbers alone let one doubt."""
        mean, uniform = float(self.nats_text.sum() / self.tokens_text.sum()), math.log(self.vocab_size)
        if not mean * math.log(2) <= uniform < mean:
            return ()
        said = f"{mean:.3f} nats a token is worse than a uniform guess (ln {self.vocab_size} = {uniform:.3f})"
        return (f"{said}, and as bits it would be better: were bits given as nats?",)

    def explain(self, claimed: float, relative: float = 5e-4) -> str:
        """How one comes from these nats to a `claimed` figure: by which definition, or by which mistake.

        >>> ledger.explain(0.6931)  # doctest: +SKIP
        '0.6931 is no bits per byte of this text: it is nats per byte (missing ln 2)'
        """
        right = {"bpb_text": self.bpb_text, "bpb_total": self.bpb_total}
        for name, value in right.items():
            if math.isclose(claimed, value, rel_tol=relative):
                return f"{claimed:g} is {name}"
        found = [name for name, value in self.mistaken.items() if math.isclose(claimed, value, rel_tol=relative)]
        is_not = f"{claimed:g} is no bits per byte of this text"
        if found:
            return f"{is_not}: it is {' or '.join(found)}"
        return f"{is_not} ({', '.join(f'{name} {value:.4f}' for name, value in right.items())}), nor a known mistake"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What each token of a stream costs under a decoder, and the account of it."""

    policy: ContextPolicy
    ledger: Ledger
    nats: TokenNats
    """of each token of the stream, NaN where it was given instead of predicted"""
    document: TokenIndices
    """the document of each token; a boundary that two share is the closing of the first"""
    position: TokenIndices
    """how many tokens it stands behind the first of its document"""
    given: int
    """protocol tokens that were context only; they cost nothing"""
    unconditioned: int
    """text tokens that had nothing before them; ln(text_vocab_size) each, a uniform guess"""

    def by_position(self, most: int) -> tuple[DocumentNats, DocumentCounts]:
        """Sum of nats, and number, of the tokens predicted at positions 0 to `most` - 1 behind a boundary."""
        chosen = ~np.isnan(self.nats) & (self.position < most)
        position = self.position[chosen]
        return (
            np.bincount(position, self.nats[chosen], minlength=most),
            np.bincount(position, minlength=most).astype(np.int64),
        )


@dataclass(frozen=True)
class Certificate:
    """How far other documents of a batch move when the text of one is replaced; 0 is bit for bit, not nearly."""

    policy: RowPolicy
    changed: int
    """tokens that were replaced"""
    compared: int
    """positions of documents that were left as they are: those behind it in its row, or in rows of their own"""
    logits: float
    """the largest change of a logit at a compared position"""
    gradient: float
    """the largest change, in any parameter, of the gradient of the nats at the compared positions"""

    @property
    def isolated(self) -> bool:
        """Whether nothing of the replaced document reaches another one, forward or backward."""
        return self.logits == 0 and self.gradient == 0
