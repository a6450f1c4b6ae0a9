"""The arms and their cells: tokenizers cut from one training, boundaries, and a wider byte decoder to read between."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from contracts.evaluation import ContextPolicy
from contracts.tokenizer import Boundary
from experiments.ablation import Ablation, Arm, Factor
from experiments.ablation.cell import Cell, Material
from experiments.ablation.settings import Settings, make_cell
from experiments.ablation.texts import Texts, split_texts
from experiments.bits_per_byte.question import BitsPerByte
from research.costs import decoder_parameters
from research.stream import build_stream
from research.tokenizers import BPETokenizer, ByteTokenizer

BYTES = "bytes"
BOUNDARIES: tuple[Boundary, ...] = ("shared", "separate")
BASE, WIDE = "base", "wide"
#: The contexts of evaluation: windows of equal mean bytes, as in training, and windows of equally many tokens.
EQUAL_BYTES, EQUAL_TOKENS = "equal bytes", "equal tokens"
_LEAST_LENGTH = 8

Tokenizer = ByteTokenizer | BPETokenizer


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that is known before anything is trained."""

    arguments: BitsPerByte
    texts: Texts
    tokenizers: Mapping[str, Tokenizer]
    """by name, bytes first, each with the shared boundary"""
    ablation: Ablation[Settings]
    cells: tuple[Cell, ...]
    """arm by arm, seed by seed"""

    @cached_property
    def by_arm(self) -> dict[Arm, tuple[Cell, ...]]:
        """The cells of each arm, in the order of seeds."""
        n = len(self.ablation.seeds)
        return {arm: self.cells[i * n : (i + 1) * n] for i, arm in enumerate(self.ablation.arms)}

    def settings(self, arm: Arm) -> Settings:
        """What an arm sets."""
        return self.ablation.settings(arm)


def prepare(arguments: BitsPerByte) -> Prepared:
    """Read the texts, learn the vocabularies and lay out the cells."""
    texts = split_texts(
        arguments.corpus,
        arguments.reading,
        train_bytes=arguments.train_bytes,
        held_out_bytes=arguments.held_out_bytes,
    )
    tokenizers = _tokenizers(texts, arguments)
    materials = {
        (name, boundary): material_of(texts, tokenizer.with_boundary(boundary))
        for name, tokenizer in tokenizers.items()
        for boundary in BOUNDARIES
    }
    lengths = {name: _length(materials[name, "shared"], arguments.context_bytes) for name in tokenizers}
    ablation = _ablation(arguments, tokenizers, lengths)
    cells = []
    for arm in ablation.arms:
        settings, name = ablation.settings(arm), ", ".join(arm)
        contexts = {EQUAL_BYTES: _windows(settings.length), EQUAL_TOKENS: _windows(min(lengths.values()))}
        material = materials[settings.tokenizer, settings.boundary]
        cells += [make_cell(f"{name}, seed {seed}", settings, seed, material, contexts) for seed in ablation.seeds]
    return Prepared(arguments, texts, tokenizers, ablation, tuple(cells))


def _windows(length: int) -> ContextPolicy:
    """Each repeats half of the one before it, so that a token has at least half a window of context."""
    return ContextPolicy(length, length // 2)


def material_of(texts: Texts, tokenizer: Tokenizer) -> Material:
    """The texts as tokens."""
    held_out = {name: build_stream(documents, tokenizer) for name, documents in texts.held_out.items()}
    return Material(tokenizer, build_stream(texts.mixed, tokenizer), held_out)


def _tokenizers(texts: Texts, arguments: BitsPerByte) -> dict[str, Tokenizer]:
    """Bytes, and every size of the largest vocabulary that the training text teaches."""
    largest = BPETokenizer.train(texts.mixed, max(arguments.vocab_sizes), arguments.pattern)
    reached = sorted({min(size, largest.text_vocab_size) for size in arguments.vocab_sizes})
    return {BYTES: ByteTokenizer(), **{f"bpe-{size}": largest.truncate(size) for size in reached}}


def _length(material: Material, context_bytes: int) -> int:
    """Tokens of a row that holds so many bytes in the mean."""
    stream = material.train
    return max(_LEAST_LENGTH, round(context_bytes * len(stream.tokens) / stream.counts.bytes))


def _ablation(
    arguments: BitsPerByte, tokenizers: Mapping[str, Tokenizer], lengths: Mapping[str, int]
) -> Ablation[Settings]:
    base = Settings(
        text_bytes=arguments.text_bytes,
        length=lengths[BYTES],
        batch_size=arguments.batch_size,
        d_model=arguments.d_model,
        n_layers=arguments.n_layers,
        head_dim=arguments.head_dim,
        peak_learning_rate=arguments.peak_learning_rate,
    )
    most = max(_parameters(base, tokenizer) for tokenizer in tokenizers.values())
    factors = (
        Factor("tokenizer", {name: {"tokenizer": name, "length": lengths[name]} for name in tokenizers}),
        Factor("boundary", {boundary: {"boundary": boundary} for boundary in BOUNDARIES}),
        Factor("width", {BASE: {}, WIDE: {"d_model": _wide(base, tokenizers[BYTES], most)}}),
    )
    arms = [(name, boundary, BASE) for name in tokenizers for boundary in BOUNDARIES]
    return Ablation(base, factors, tuple(range(arguments.seeds)), (*arms, (BYTES, "shared", WIDE)))


def _wide(base: Settings, tokenizer: Tokenizer, parameters: int) -> int:
    """The smallest width at which a decoder of `tokenizer` has as many parameters as are asked for."""
    widths = (heads * base.head_dim for heads in range(base.d_model // base.head_dim + 1, base.d_model * parameters))
    return next(width for width in widths if _parameters(replace(base, d_model=width), tokenizer) >= parameters)


def _parameters(settings: Settings, tokenizer: Tokenizer) -> int:
    return decoder_parameters(settings.decoder(tokenizer.vocab_size, settings.length)).total
