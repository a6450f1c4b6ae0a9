"""The four arms: the same documents in the same rows that see each other or do not, and each in a row of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from contracts.batch import RowPolicy
from contracts.errors import InputError
from contracts.evaluation import ContextPolicy
from experiments.ablation import Ablation, Factor
from experiments.ablation.cell import Cell, Material
from experiments.ablation.settings import Settings, make_cell
from experiments.ablation.texts import Texts, split_texts
from experiments.document_isolation.question import DocumentIsolation
from research.stream import Rows, TokenStream, build_stream
from research.tokenizers import BPETokenizer

CROSS, SEGMENTS, CONTINUED, RESET = "cross", "segments", "segments, positions continue", "reset"
#: Positions that restart where documents see each other: asked about leakage alone, no decoder is trained so.
ONLY_POSITIONS = "cross, positions restart"
#: How held-out documents are read: each alone, or as the arm reads them in training.
ALONE, OWN = "alone", "own"

_POLICIES: Mapping[str, Mapping[str, Any]] = {
    CROSS: {"isolation": "cross", "positions": "continue"},
    SEGMENTS: {"isolation": "segments", "positions": "restart"},
    CONTINUED: {"isolation": "segments", "positions": "continue"},
    RESET: {"isolation": "reset", "positions": "restart"},
}
#: Fewer documents a row than this, and there is little to keep apart.
_LEAST_PER_ROW = 2


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that is known before anything is trained."""

    arguments: DocumentIsolation
    texts: Texts
    material: Material
    documents_per_row: float
    ablation: Ablation[Settings]
    cells: tuple[Cell, ...]
    """arm by arm, seed by seed"""

    @cached_property
    def by_arm(self) -> dict[str, tuple[Cell, ...]]:
        """The cells of each arm, in the order of seeds."""
        n = len(self.ablation.seeds)
        return {arm: self.cells[i * n : (i + 1) * n] for i, (arm,) in enumerate(self.ablation.arms)}

    def rows(self, arm: str) -> Rows:
        """The rows that an arm trains on."""
        settings = self.ablation.settings((arm,))
        return Rows(self.material.train, self.material.tokenizer, settings.policy, settings.batch_size, settings.length)

    @property
    def windows(self) -> Rows:
        """The same documents in windows over the stream, as most training code cuts them; counted, not trained on."""
        policy = RowPolicy("concatenate", "segments", "restart", "all")
        size = self.arguments.batch_size, self.arguments.length
        return Rows(self.material.train, self.material.tokenizer, policy, *size)


def prepare(arguments: DocumentIsolation) -> Prepared:
    """Read the documents, learn the vocabulary, pack, and lay out the cells.

    Raises `InputError` where rows hold hardly more than one document, or a document does not fit into one.
    """
    texts = split_texts(
        arguments.corpus,
        arguments.reading,
        train_bytes=arguments.train_bytes,
        held_out_bytes=arguments.held_out_bytes,
        longest=arguments.longest,
        lines=True,
    )
    tokenizer = BPETokenizer.train(texts.mixed, arguments.vocab_size, arguments.pattern)
    held_out = {name: build_stream(documents, tokenizer) for name, documents in texts.held_out.items()}
    material = Material(tokenizer, build_stream(texts.mixed, tokenizer), held_out)
    short = 1 + max(map(_longest, (material.train, *held_out.values())))
    if short > arguments.length:
        got = f"a document of {short - 1} tokens"
        hint = "a smaller --longest leaves it out"
        raise InputError("--length", expected=f"rows of at least {short} positions", got=got, hint=hint)
    per_row = _documents_per_row(material, arguments)
    if per_row < _LEAST_PER_ROW:
        hint = "a larger --length or a smaller --longest packs more"
        expected = f"at least {_LEAST_PER_ROW} documents a row"
        raise InputError("documents", expected=expected, got=f"{per_row:.1f}", hint=hint)
    ablation = _ablation(arguments, short, per_row)
    cells = [
        make_cell(f"{arm}, seed {seed}", settings, seed, material, _contexts(settings, short), _probes(arm, settings))
        for (arm,) in ablation.arms
        for settings in [ablation.settings((arm,))]
        for seed in ablation.seeds
    ]
    return Prepared(arguments, texts, material, per_row, ablation, tuple(cells))


def _ablation(arguments: DocumentIsolation, short: int, per_row: float) -> Ablation[Settings]:
    """`reset` reads as many documents a step as the packed arms in the mean, in rows as short as the longest allows."""
    base = Settings(
        text_bytes=arguments.text_bytes,
        length=arguments.length,
        batch_size=arguments.batch_size,
        tokenizer=f"bpe-{arguments.vocab_size}",
        d_model=arguments.d_model,
        n_layers=arguments.n_layers,
        head_dim=arguments.head_dim,
        packing="fit",
        peak_learning_rate=arguments.peak_learning_rate,
    )
    own_rows = {"length": short, "batch_size": round(arguments.batch_size * per_row)}
    levels = {name: {**fields, **(own_rows if name == RESET else {})} for name, fields in _POLICIES.items()}
    return Ablation(base, (Factor("isolation", levels),), tuple(range(arguments.seeds)))


def _contexts(settings: Settings, short: int) -> dict[str, ContextPolicy]:
    alone = ContextPolicy(short, 0, "reset", "restart", "no-cross")
    if settings.isolation == "reset":
        return {ALONE: alone, OWN: alone}
    return {ALONE: alone, OWN: ContextPolicy.like(settings.policy, settings.length, settings.length // 2)}


def _probes(arm: str, settings: Settings) -> dict[str, RowPolicy]:
    probes = {arm: settings.policy}
    if arm == CROSS:
        probes[ONLY_POSITIONS] = replace(settings.policy, positions="restart")
    return probes


def _longest(stream: TokenStream) -> int:
    """Tokens of the longest document; each is followed by one boundary."""
    return int(np.diff([*stream.starts, len(stream.tokens)]).max()) - 1


def _documents_per_row(material: Material, arguments: DocumentIsolation) -> float:
    policy = RowPolicy("fit", "segments", "restart", "all")
    rows = Rows(material.train, material.tokenizer, policy, arguments.batch_size, arguments.length)
    return material.train.counts.documents / rows.rows_per_epoch
