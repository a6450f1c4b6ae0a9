"""What the boundaries of a policy cost in positions: streams are built from real documents, and counted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from contracts.errors import InputError
from contracts.results import Row
from contracts.tokenizer import Boundary
from experiments.boundary_cost.agreement import agreeing, exact
from experiments.boundary_cost.shapes import POLICIES
from experiments.corpora import Slice
from experiments.vocabularies import label, tokenizer_named
from research.progress import progress
from research.stream import build_stream

#: Boundaries of n documents in a stream. A shared boundary closes one document and opens the next; the first and the
#: last have no neighbour, hence n + 1.
BOUNDARIES: dict[Boundary, Callable[[int], int]] = {
    "shared": lambda n: n + 1,
    "separate": lambda n: 2 * n,
    "bos": lambda n: n,
    "eos": lambda n: n,
    "none": lambda n: 0,
}


@dataclass(frozen=True)
class Encoded:
    """One slice under one tokenizer, with the boundaries that were counted in its stream under each policy."""

    slice: str
    group: str
    tokenizer: str
    text_vocab_size: int
    documents: int
    text_tokens: int
    boundaries: dict[Boundary, int]

    @property
    def mean_length(self) -> float:
        """Text tokens of a document, in the mean."""
        return self.text_tokens / self.documents

    def positions(self, boundary: Boundary) -> int:
        """Positions of the stream under the policy."""
        return self.text_tokens + self.boundaries[boundary]

    def boundary_share(self, boundary: Boundary) -> float:
        """Share of the stream's positions that are boundaries."""
        return self.boundaries[boundary] / self.positions(boundary)

    @property
    def saved(self) -> int:
        """Positions that a shared boundary saves against separate start and end: n - 1."""
        return self.positions("separate") - self.positions("shared")

    @property
    def share_saved(self) -> float:
        """Share of the stream with separate start and end that a shared boundary saves."""
        return self.saved / self.positions("separate")

    @property
    def factors(self) -> dict[str, str]:
        """What identifies the stream in a row."""
        return {"slice": self.slice, "group": self.group, "tokenizer": self.tokenizer}


class _EncodedOnce:
    """A tokenizer that looks up what it has encoded before: a policy changes boundaries, never the text's tokens."""

    def __init__(self, tokenizer: Any, ids: dict[str, np.ndarray]) -> None:
        self._tokenizer, self._ids = tokenizer, ids

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def encode(self, text: str) -> np.ndarray:
        if text not in self._ids:
            self._ids[text] = self._tokenizer.encode(text)
        return self._ids[text]


def encode_all(cuts: Sequence[Slice], tokenizers: Sequence[str]) -> list[Encoded]:
    """Every slice as a stream, then all of them as one, under every tokenizer and policy.

    Empty documents (the blank lines of a file) are left out.

    Raises:
        InputError: two tokenizers would have one name in the results, or a tokenizer can't be read.
    """
    names = [label(name) for name in tokenizers]
    if len(set(names)) < len(names):
        raise InputError("--tokenizer", expected="files of different names", got=", ".join(names))
    streams = [*cuts, _joined(cuts)] if len(cuts) > 1 else cuts
    found = []
    with progress("streams", total=len(streams) * len(tokenizers), unit="streams") as bar:
        for name, path in zip(names, tokenizers, strict=True):
            tokenizer = tokenizer_named(path)
            ids: dict[str, np.ndarray] = {}
            for cut in streams:
                found.append(_encode(cut, name, tokenizer, ids))
                bar.advance()
    return found


def corpora(parts: Sequence[Encoded]) -> list[Encoded]:
    """The whole corpus under each tokenizer: the last of the tokenizer's streams."""
    return list({part.tokenizer: part for part in parts}.values())


def _joined(cuts: Sequence[Slice]) -> Slice:
    documents = tuple(document for cut in cuts for document in cut.documents)
    return Slice("all", "all", documents, "\n", documents, aligned=False)


def _encode(cut: Slice, name: str, tokenizer: Any, ids: dict[str, np.ndarray]) -> Encoded:
    size = tokenizer.text_vocab_size
    boundaries: dict[Boundary, int] = {}
    texts = set()
    for boundary in POLICIES:
        under = _EncodedOnce(tokenizer.with_boundary(boundary), ids)
        stream = build_stream(cut.documents, under, on_empty="skip")
        boundaries[boundary] = int(np.count_nonzero(stream.tokens >= size))
        texts.add((stream.counts.documents, stream.counts.tokens - boundaries[boundary]))
    ((documents, text_tokens),) = texts  # whatever the policy, the same documents and tokens
    return Encoded(cut.name, cut.group, name, size, documents, text_tokens, boundaries)


def position_rows(part: Encoded) -> list[Row]:
    """Boundaries of a slice by formula and counted in its stream, their share, and what sharing saves."""
    rows = [exact("documents", part.documents, "documents", "count", part.factors)]
    for boundary in POLICIES:
        factors = {**part.factors, "boundary": boundary}
        formula = BOUNDARIES[boundary](part.documents)
        rows += agreeing("boundary_positions", "positions", factors, formula, "count", part.boundaries[boundary])
        rows.append(exact("stream_positions", part.positions(boundary), "positions", "count", factors))
        rows.append(exact("boundary_share_of_stream", part.boundary_share(boundary), "ratio", "count", factors))
    return [*rows, exact("share_of_stream_saved_by_sharing", part.share_saved, "ratio", "count", part.factors)]
