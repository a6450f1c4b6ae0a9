"""Three vocabularies from equally many bytes, both languages under each, and the ratios with their intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from contracts.measures import CountsBySize, LengthsByMerges
from experiments.sequence_length.texts import TAUGHT, training_counts, utf8_bytes
from experiments.vocabulary_language.languages import Language, aligned
from experiments.vocabulary_language.question import VocabularyLanguage
from research.measures import Ratio, lengths_by_merges, paired_ratios
from research.progress import progress
from research.tokenizers import BPETokenizer

JOINT, BOTH = "joint", "both"


@dataclass(frozen=True, eq=False)
class Taught:
    """A vocabulary and the bytes that taught it."""

    name: str
    tokenizer: BPETokenizer
    bytes: int


@dataclass(frozen=True, eq=False)
class Measured:
    """A language's held-out text under one vocabulary."""

    counts: CountsBySize
    """tokens of each measured unit at each size"""
    lengths: LengthsByMerges
    """tokens of the text under the first 0, 1, 2, ... merges"""

    @cached_property
    def tokens(self) -> list[int]:
        """Size by size."""
        return self.counts.sum(axis=1).tolist()


Tokens = Mapping[tuple[str, str], Measured]
"""by vocabulary and language"""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Everything that was counted."""

    arguments: VocabularyLanguage
    english: Language
    other: Language
    vocabularies: tuple[Taught, Taught, Taught]
    """English alone, joint, the other alone"""
    sizes: tuple[int, ...]
    measured: Tokens
    over_alone: Mapping[tuple[str, str], list[Ratio]]
    """tokens under joint over tokens under one alone, size by size: by the one and the language, or `BOTH`"""
    parities: Mapping[str, list[Ratio]]
    """tokens of the other language over those of English for the same content, by vocabulary, size by size; empty
    where the languages are not aligned"""

    @property
    def languages(self) -> tuple[Language, Language]:
        """Both."""
        return self.english, self.other

    @property
    def at(self) -> int:
        """Index of the size at which cost and gain are stated."""
        below = [index for index, size in enumerate(self.sizes) if size <= self.arguments.at]
        return below[-1] if below else 0

    def bytes_per_token(self, vocabulary: str, language: Language) -> list[float]:
        """Size by size."""
        return [language.bytes / tokens for tokens in self.measured[vocabulary, language.name].tokens]

    def lies_between(self, index: int) -> bool:
        """Whether at a size the joint vocabulary is longer than each language's own and shorter than the foreign."""
        for language in self.languages:
            for learned in self.languages:
                ratio = self.over_alone[alone(learned), language.name][index]
                if not (ratio.above(1) if learned is language else ratio.below(1)):
                    return False
        return True


def alone(language: Language) -> str:
    """The name of the vocabulary that learned from one language: `English-only`."""
    return f"{language.name}-only"


def compare(english: Language, other: Language, arguments: VocabularyLanguage) -> Comparison:
    """Train the three vocabularies and count both languages under them.

    Each learns from as many bytes as the smaller language has to teach, or from --train-bytes; the joint one takes
    half of them from each language.
    """
    limit = min(arguments.train_bytes, english.teaching_bytes, other.teaching_bytes)
    vocabularies = (
        _teach(alone(english), [(english, limit)], arguments),
        _teach(JOINT, [(english, limit // 2), (other, limit // 2)], arguments),
        _teach(alone(other), [(other, limit)], arguments),
    )
    reached = min(one.tokenizer.text_vocab_size for one in vocabularies)
    sizes = tuple(sorted({size for size in arguments.vocab_sizes if size <= reached} or {reached}))
    measured = {}
    with progress("counting tokens", total=6, unit="texts") as bar:
        for one in vocabularies:
            for language in (english, other):
                measured[one.name, language.name] = _measure(language, one.tokenizer, sizes)
                bar.advance()
    return Comparison(
        arguments,
        english,
        other,
        vocabularies,
        sizes,
        measured,
        over_alone=_over_alone(english, other, measured, arguments),
        parities=_parities(english, other, measured, arguments),
    )


def _over_alone(
    english: Language, other: Language, measured: Tokens, arguments: VocabularyLanguage
) -> dict[tuple[str, str], list[Ratio]]:
    found = {}
    for vocabulary in (alone(english), alone(other)):
        pairs = {
            language.name: [measured[name, language.name].counts for name in (JOINT, vocabulary)]
            for language in (english, other)
        }
        if aligned(english, other):
            pairs[BOTH] = [first + second for first, second in zip(*pairs.values(), strict=True)]
        for name, (joint, one) in pairs.items():
            found[vocabulary, name] = paired_ratios(joint, one, arguments.resamples, arguments.seed)
    return found


def _parities(
    english: Language, other: Language, measured: Tokens, arguments: VocabularyLanguage
) -> dict[str, list[Ratio]]:
    if not aligned(english, other):
        return {}
    return {
        name: paired_ratios(
            measured[name, other.name].counts, measured[name, english.name].counts, arguments.resamples, arguments.seed
        )
        for name in (alone(english), JOINT, alone(other))
    }


def _teach(name: str, parts: Sequence[tuple[Language, int]], arguments: VocabularyLanguage) -> Taught:
    limits = [(language.train, limit) for language, limit in parts]
    counts = training_counts(limits, TAUGHT, arguments.pattern)
    tokenizer = BPETokenizer.train_counts(counts, max(arguments.vocab_sizes), arguments.pattern)
    return Taught(name, tokenizer, utf8_bytes(counts))


def _measure(language: Language, tokenizer: BPETokenizer, sizes: Sequence[int]) -> Measured:
    encoded = language.test.pretokens(language.pattern).encode(tokenizer)
    lengths = lengths_by_merges(encoded.occurrences(language.held_out), tokenizer.merges)
    return Measured(np.ascontiguousarray(encoded.tokens(sizes)[:, language.held_out]), lengths)
