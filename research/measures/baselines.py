"""The two vocabularies that bytes replace: words with `<unk>`, which lose text, and characters with bytes behind them,
which lose nothing but put two kinds of token into one sequence.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contracts.errors import InputError
from research.tokenizers.pretokenize import PATTERNS

UNKNOWN = "<unk>"


@dataclass(frozen=True)
class WordLoss:
    """What a word vocabulary can't give back of a text."""

    words: int
    """occurrences of what is not white space"""
    lost_words: int
    characters: int
    """code points of the whole text"""
    lost_characters: int


@dataclass(frozen=True)
class WordVocabulary:
    """Whole words, numbers, punctuation and runs of white space (the pattern `words`); any other word is `<unk>`."""

    words: tuple[str, ...]

    @classmethod
    def learn(cls, word_counts: Mapping[str, int], size: int) -> "WordVocabulary":
        """The `size - 1` most frequent words and `<unk>`; ties go to the word that sorts first."""
        ranked = sorted(word_counts, key=lambda word: (-word_counts[word], word))
        return cls((UNKNOWN, *ranked[: size - 1]))

    def encode(self, text: str) -> list[int]:
        """The id of each word, 0 for one that is not in the vocabulary."""
        index = {word: number for number, word in enumerate(self.words)}
        return [index.get(word, 0) for word in PATTERNS["words"].split(text)]

    def decode(self, ids: Sequence[int]) -> str:
        """The words joined; `<unk>` where the word is gone."""
        return "".join(self.words[number] for number in ids)

    def loss(self, word_counts: Mapping[str, int]) -> WordLoss:
        """The share of a text, given as counted pre-tokens, that would decode to `<unk>`."""
        known = set(self.words[1:])
        lost = {word: count for word, count in word_counts.items() if word not in known}
        return WordLoss(
            words=_words(word_counts),
            lost_words=_words(lost),
            characters=_characters(word_counts),
            lost_characters=_characters(lost),
        )


def _words(counts: Mapping[str, int]) -> int:
    return sum(count for word, count in counts.items() if not word.isspace())


def _characters(counts: Mapping[str, int]) -> int:
    return sum(count * len(word) for word, count in counts.items())


@dataclass(frozen=True)
class CharacterTokens:
    """A text's tokens under a character vocabulary, by the space that they come from."""

    characters: int
    fallback_bytes: int

    @property
    def tokens(self) -> int:
        """Both spaces together: the length of the sequence."""
        return self.characters + self.fallback_bytes


@dataclass(frozen=True)
class CharacterVocabulary:
    """256 bytes, then the characters seen most often; a character that is not among them becomes its UTF-8 bytes."""

    characters: tuple[str, ...]

    @classmethod
    def learn(cls, word_counts: Mapping[str, int], size: int) -> "CharacterVocabulary":
        """The `size - 256` most frequent characters of counted pre-tokens; ties go to the smallest code point."""
        if size < 256:
            raise InputError("vocabulary size", expected="at least 256 (the bytes)", got=size)
        counts = character_counts(word_counts)
        return cls(tuple(sorted(counts, key=lambda character: (-counts[character], character))[: size - 256]))

    def encode(self, text: str) -> list[int]:
        """Ids from 256 for the characters of the vocabulary, byte values for the others."""
        index = {character: number for number, character in enumerate(self.characters, 256)}
        return [
            token for character in text for token in ([index[character]] if character in index else character.encode())
        ]

    def decode(self, ids: Sequence[int]) -> str:
        """The text, exactly."""
        return b"".join(bytes([i]) if i < 256 else self.characters[i - 256].encode() for i in ids).decode()

    def count(self, word_counts: Mapping[str, int]) -> CharacterTokens:
        """The tokens of a text given as counted pre-tokens."""
        known, counts = set(self.characters), character_counts(word_counts)
        whole = sum(count for character, count in counts.items() if character in known)
        pieces = sum(count * len(character.encode()) for character, count in counts.items() if character not in known)
        return CharacterTokens(whole, pieces)


def character_counts(word_counts: Mapping[str, int]) -> Counter[str]:
    """How often each character occurs in counted pre-tokens."""
    counts: Counter[str] = Counter()
    for word, count in word_counts.items():
        for character in word:
            counts[character] += count
    return counts
