"""One training and one count of every held-out text: what the text takes at each size, and what each row saves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contracts.errors import InputError
from contracts.measures import IdCounts, LengthsByMerges
from contracts.tokenizer import Merges
from experiments.sequence_length.texts import HELD_OUT, TAUGHT, Text, training_counts, utf8_bytes
from experiments.vocabulary_curve.question import VocabularyCurve
from research.measures import lengths_by_merges, split_back, used_share
from research.progress import progress
from research.tokenizers import BPETokenizer

TOGETHER = "all"


@dataclass(frozen=True, eq=False)
class Curve:
    """A held-out text, or all of them together, under a vocabulary and everything inside it."""

    name: str
    characters: int
    lengths: LengthsByMerges
    """tokens under the first 0, 1, 2, ... merges"""
    used: dict[int, float]
    """share of the rows that stand in the text, by size"""

    @property
    def bytes(self) -> int:
        """UTF-8 bytes: the tokens without any merge."""
        return self.tokens(256)

    def tokens(self, size: int) -> int:
        """Tokens under the first `size` text ids."""
        return int(self.lengths[size - 256])

    def tokens_per_character(self, size: int) -> float:
        """Tokens that a character takes in the mean."""
        return self.tokens(size) / self.characters

    def context_tokens(self, size: int, context: int) -> int:
        """Tokens of a context of `context` characters, to the nearest one."""
        return max(1, round(context * self.tokens_per_character(size)))

    def saved_by_a_row(self, smaller: int, size: int) -> float:
        """Tokens of a million characters that each row from `smaller` to `size` saves, in the mean."""
        return 1e6 * (self.tokens(smaller) - self.tokens(size)) / (size - smaller) / self.characters


def train(teaching: Sequence[Text], arguments: VocabularyCurve) -> tuple[BPETokenizer, int]:
    """The vocabulary, as large as asked or as the text gives, and the bytes that taught it."""
    counts = training_counts([(text, arguments.train_bytes) for text in teaching], TAUGHT, arguments.pattern)
    tokenizer = BPETokenizer.train_counts(counts, arguments.vocab_size, arguments.pattern)
    return tokenizer, utf8_bytes(counts)


def sizes_up_to(largest: int, steps: int) -> list[int]:
    """From bytes to the largest size, `steps` to a doubling; powers of two are among them."""
    octaves = int(np.ceil(np.log2(largest / 256)))
    between = (round(256 * 2 ** (step / steps)) for step in range(octaves * steps + 1))
    return [*dict.fromkeys(size for size in between if size < largest), largest]


def curves(held_out: Sequence[Text], tokenizer: BPETokenizer, sizes: Sequence[int]) -> list[Curve]:
    """One for each held-out text; if there are several, first one for all of them together."""
    counted: dict[str, tuple[int, IdCounts]] = {}
    with progress("counting tokens", total=len(held_out), unit="slices") as bar:
        for text in held_out:
            counted[text.name] = _count(text, tokenizer)
            bar.advance()
    if len(counted) > 1:
        characters, occurrences = zip(*counted.values(), strict=True)
        counted = {TOGETHER: (sum(characters), np.sum(occurrences, axis=0)), **counted}
    return [_curve(name, *counts, tokenizer.merges, sizes) for name, counts in counted.items()]


def _count(text: Text, tokenizer: BPETokenizer) -> tuple[int, IdCounts]:
    """Characters of the held-out units, and how often each id stands in them."""
    pretokens, chosen = text.pretokens(tokenizer.pattern or "words"), text.half == HELD_OUT
    characters = int(pretokens.characters[chosen].sum())
    if not characters:
        raise InputError("corpus", expected="text to measure on", got="none", where=text.name, hint="give --test")
    return characters, pretokens.encode(tokenizer).occurrences(chosen)


def _curve(name: str, characters: int, occurrences: IdCounts, merges: Merges, sizes: Sequence[int]) -> Curve:
    """`sizes` are visited from the largest down: each is split back from the one above it."""
    lengths, used = lengths_by_merges(occurrences, merges), {}
    for size in sorted(sizes, reverse=True):
        occurrences = split_back(occurrences, merges[: len(occurrences) - 256], size)[:size]
        used[size] = used_share(occurrences)
    return Curve(name, characters, lengths, used)
