"""What other ways of counting lose: whole words with `<unk>`, characters with byte fallback, and guesses."""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.results import Row
from experiments.corpora import english_of
from experiments.sequence_length.columns import VIEWS, Column, View
from experiments.sequence_length.lengths import named
from experiments.sequence_length.question import SequenceLength
from experiments.sequence_length.texts import HALVES, Text, training_counts
from research.measures import CharacterVocabulary, WordVocabulary, chunk_characters, chunks, guess_error

CHUNKS_PER_HALF = 25


@dataclass(frozen=True)
class Baselines:
    """Shares and tokens of one text under vocabularies of whole words and of characters."""

    text: Text
    view: View
    lost_words: float
    """share of the words that become `<unk>`"""
    lost_characters: float
    """share of the text's characters in them"""
    whole: int
    """tokens that are characters"""
    fallback: int
    """tokens that are bytes of other characters"""

    @property
    def fallback_share(self) -> float:
        """Of all tokens, those that are bytes."""
        return self.fallback / (self.whole + self.fallback)


def baselines(texts: Sequence[Text], size: int, arguments: SequenceLength) -> list[Baselines]:
    """Both baselines at `size`, learned from each half as the others are."""
    parts = [(text, arguments.train_bytes) for text in texts]
    counts = [training_counts(parts, half, "words") for half in HALVES]
    words = [WordVocabulary.learn(count, size) for count in counts]
    characters = [CharacterVocabulary.learn(count, size) for count in counts]
    found = []
    for text in texts:
        measured = [text.pretokens("words").occurrences(text.half == half) for half in HALVES]
        for view in VIEWS:
            teachers = HALVES if view == "seen" else HALVES[::-1]
            losses = [words[teacher].loss(part) for teacher, part in zip(teachers, measured, strict=True)]
            tokens = [characters[teacher].count(part) for teacher, part in zip(teachers, measured, strict=True)]
            found.append(
                Baselines(
                    text,
                    view,
                    lost_words=_share(sum(loss.lost_words for loss in losses), sum(loss.words for loss in losses)),
                    lost_characters=sum(loss.lost_characters for loss in losses) / text.characters,
                    whole=sum(token.characters for token in tokens),
                    fallback=sum(token.fallback_bytes for token in tokens),
                )
            )
    return found


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def baseline_rows(found: Sequence[Baselines], size: int) -> list[Row]:
    """What words lose, and the tokens of the two spaces of characters."""
    rows = []
    for one in found:
        factors = {**named(one.text), "vocabulary": size, "text": one.view}
        for quantity, value, unit in (
            ("words_lost", one.lost_words, "share of words"),
            ("characters_lost", one.lost_characters, "share of characters"),
            ("character_tokens", one.whole, "tokens"),
            ("fallback_byte_tokens", one.fallback, "tokens"),
        ):
            rows.append(Row(quantity, value, unit, "exact", "count", factors))
    return rows


@dataclass(frozen=True)
class Guess:
    """What the English rule, tokens a character, says of a text under one tokenizer."""

    text: Text
    column: Column
    error: float
    """guessed over actual tokens, minus 1"""
    chunk_characters: int
    chunks: int
    overflowing: int
    """chunks that take more tokens than the limit"""

    @property
    def overflow(self) -> float:
        """Share of the chunks that overflow; 0 where the text is shorter than a chunk."""
        return _share(self.overflowing, self.chunks)


def guesses(texts: Sequence[Text], columns: Sequence[Column], arguments: SequenceLength) -> list[Guess]:
    """Every text under every column, by the rule of the corpus's first English text; none if it has no English."""
    english = next((i for i, text in enumerate(texts) if english_of([text.cut])), None)
    if english is None:
        return []
    found = []
    for column in columns:
        rule = texts[english].characters, int(column.counts[english].sum())
        size = chunk_characters(arguments.chunk_tokens, *rule)
        for text, counts in zip(texts, column.counts, strict=True):
            lengths = _chunk_lengths(text, column, size)
            found.append(
                Guess(
                    text,
                    column,
                    error=guess_error(text.characters, int(counts.sum()), *rule),
                    chunk_characters=size,
                    chunks=len(lengths),
                    overflowing=sum(length > arguments.chunk_tokens for length in lengths),
                )
            )
    return found


def _chunk_lengths(text: Text, column: Column, size: int) -> list[int]:
    return [
        len(column.by_half[half].encode(chunk))
        for half in HALVES
        for chunk in chunks(text.part(half), size, CHUNKS_PER_HALF)
    ]


def guess_rows(found: Sequence[Guess], arguments: SequenceLength) -> list[Row]:
    """Errors of the guess, and the share of chunks that overflow."""
    rows = []
    for guess in found:
        factors = {**named(guess.text), **guess.column.factors}
        limit = {**factors, "chunk_tokens": arguments.chunk_tokens, "chunk_characters": guess.chunk_characters}
        rows.append(Row("guess_error", guess.error, "relative error", "exact", "count", factors))
        if guess.chunks:
            rows.append(
                Row("chunk_overflow", guess.overflow, "share of chunks", "exact", "count", limit, n=guess.chunks)
            )
    return rows
