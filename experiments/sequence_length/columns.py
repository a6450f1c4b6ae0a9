"""The tokenizers that are compared, and the tokens of every unit of every text under each of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from contracts.errors import InputError
from contracts.measures import CountsBySize, UnitCounts
from contracts.results import Factor, Row
from experiments.sequence_length.question import SequenceLength
from experiments.sequence_length.texts import HALVES, Text, training_counts, utf8_bytes
from experiments.vocabularies import tokenizers_beside_learned
from research.measures import Encoded
from research.progress import progress
from research.tokenizers import BPETokenizer, ByteTokenizer
from research.tokenizers.tokenizer import ByteLevelTokenizer

Pair = tuple[ByteLevelTokenizer, ByteLevelTokenizer]
View = Literal["unseen", "seen"]
"""whether a vocabulary learned from one half is measured on the other half or on its own"""
VIEWS: tuple[View, ...] = ("unseen", "seen")


@dataclass(frozen=True)
class Taught:
    """A vocabulary from each half of the documents, as large as asked or as the text gives."""

    tokenizers: tuple[BPETokenizer, BPETokenizer]
    bytes: tuple[int, int]
    """UTF-8 bytes that taught each"""

    @property
    def reached(self) -> int:
        """Text tokens that both have."""
        return min(tokenizer.text_vocab_size for tokenizer in self.tokenizers)

    def sizes(self, wanted: Sequence[int]) -> list[int]:
        """The sizes that both reached, ascending; what was reached if it is none of them."""
        return sorted({size for size in wanted if size <= self.reached} or {self.reached})

    def truncated(self, size: int) -> Pair:
        """The first `size` text ids of each."""
        first, second = self.tokenizers
        return first.truncate(size), second.truncate(size)


@dataclass(frozen=True, eq=False)
class Column:
    """A tokenizer over all texts. `by_half[h]` counts half h: of a learned pair, the vocabulary of the other half."""

    name: str
    vocabulary: int
    by_half: Pair
    counts: tuple[UnitCounts, ...]
    """tokens of each unit, text by text"""
    encoded: tuple[tuple[Encoded, Encoded], ...]
    """each text under both, by half; of a learned pair under the whole vocabularies that it was cut from"""
    seen: tuple[UnitCounts, ...] | None = None
    """the same under the vocabulary that learned from the unit's own half; `None` for one that learned elsewhere"""

    @property
    def learned(self) -> bool:
        """Whether it was trained here."""
        return self.seen is not None

    @property
    def factors(self) -> dict[str, Factor]:
        """What identifies the column in a row; `counts` of a learned one are unseen."""
        view: dict[str, Factor] = {"text": "unseen"} if self.learned else {}
        return {"tokenizer": self.name, "vocabulary": self.vocabulary, **view}

    def views(self) -> list[tuple[dict[str, Factor], tuple[UnitCounts, ...]]]:
        """The counts with their factors: a learned column has an unseen and a seen view."""
        unseen = self.factors, self.counts
        return [unseen] if self.seen is None else [unseen, ({**self.factors, "text": "seen"}, self.seen)]


def teach(parts: Sequence[tuple[Text, int]], vocab_size: int, pattern: str) -> Taught:
    """A vocabulary from each half of the texts; each text gives at most its limit of bytes.

    Raises `InputError` for a corpus so small that one half is empty.
    """
    tokenizers, sizes = [], []
    for half in HALVES:
        counts = training_counts(parts, half, pattern)
        if not counts:
            raise InputError(
                "corpus",
                expected="text in both halves: documents, or the lines of a single one, alternate between them",
                got="nothing in one",
                hint="give at least two lines",
            )
        tokenizers.append(BPETokenizer.train_counts(counts, vocab_size, pattern))
        sizes.append(utf8_bytes(counts))
    return Taught((tokenizers[0], tokenizers[1]), (sizes[0], sizes[1]))


def swapped(text: Text, taught: Taught, sizes: Sequence[int], pattern: str) -> dict[View, CountsBySize]:
    """Tokens of each unit at each size: under the vocabulary of the other half, and of its own."""
    return _swapped(text, _encoded(text, taught, pattern), sizes)


def _encoded(text: Text, taught: Taught, pattern: str) -> tuple[Encoded, Encoded]:
    first, second = (text.pretokens(pattern).encode(tokenizer) for tokenizer in taught.tokenizers)
    return first, second


def _swapped(text: Text, encoded: tuple[Encoded, Encoded], sizes: Sequence[int]) -> dict[View, CountsBySize]:
    first, second = (one.tokens(sizes) for one in encoded)
    in_second = text.half == 1
    return {"unseen": np.where(in_second, first, second), "seen": np.where(in_second, second, first)}


def columns(texts: Sequence[Text], arguments: SequenceLength, taught: Taught) -> list[Column]:
    """Bytes, the learned vocabularies by size, and the given tokenizers."""
    pattern, sizes = arguments.pattern, taught.sizes(arguments.vocab_sizes)
    found = [_given(texts, "bytes", ByteTokenizer())]
    with progress("counting tokens", total=len(texts), unit="slices") as bar:
        encoded, learned = [], []
        for text in texts:
            encoded.append(_encoded(text, taught, pattern))
            learned.append(_swapped(text, encoded[-1], sizes))
            bar.advance()
    for row, size in enumerate(sizes):
        first, second = taught.truncated(size)
        found.append(
            Column(
                name=f"bpe-{size}",
                vocabulary=size,
                by_half=(second, first),
                counts=tuple(count["unseen"][row] for count in learned),
                encoded=tuple((two, one) for one, two in encoded),
                seen=tuple(count["seen"][row] for count in learned),
            )
        )
    for name, tokenizer in tokenizers_beside_learned(arguments.tokenizer).items():
        found.append(_given(texts, name, tokenizer))
    return found


def _given(texts: Sequence[Text], name: str, tokenizer: ByteLevelTokenizer) -> Column:
    size, encoded = tokenizer.text_vocab_size, []
    with progress(f"counting {name} tokens", total=len(texts), unit="slices") as bar:
        for text in texts:
            encoded.append(text.pretokens(tokenizer.pattern or "words").encode(tokenizer))
            bar.advance()
    counts = tuple(one.tokens([size])[0] for one in encoded)
    return Column(name, size, (tokenizer, tokenizer), counts, tuple((one, one) for one in encoded))


def vocabulary_rows(taught: Taught, requested: int, pattern: str, of: str) -> list[Row]:
    """Requested and reached size of each half's vocabulary, and what it learned from."""
    rows = []
    for half, tokenizer in enumerate(taught.tokenizers):
        factors: dict[str, Factor] = {
            "vocabulary_of": of,
            "half": half,
            "requested": requested,
            "pattern": pattern,
            "stop_reason": tokenizer.stop_reason,
        }
        rows.append(Row("vocabulary_reached", tokenizer.text_vocab_size, "tokens", "exact", "count", factors))
        rows.append(Row("training_bytes", taught.bytes[half], "bytes", "exact", "count", factors))
    return rows


def shown(found: Sequence[Column]) -> list[Column]:
    """The columns that tables show: all that were not learned here, the smallest and the largest learned."""
    learned = [column for column in found if column.learned]
    ends = {learned[0].name, learned[-1].name}
    return [column for column in found if not column.learned or column.name in ends]
