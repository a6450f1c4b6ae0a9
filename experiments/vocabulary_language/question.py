"""The question, the rule by which its answer is judged, and what may be varied."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from contracts.errors import InputError
from contracts.results import Question
from experiments.corpora import DEFAULT_READING, Reading

#: A vocabulary leaves a language in bytes if a token stands for fewer of them than this, at every size.
IN_BYTES = 1.05

QUESTION = Question(
    name="vocabulary_language",
    question="What does a vocabulary that two languages share cost each of them, against one of the same size that "
    "learned as many bytes of one language alone, on text that none of them has seen?",
    hypothesis="The joint vocabulary lies between the two at every size, close to each language's own: it is worth "
    "about half as many merges of English alone, so it costs English some ten per cent more tokens, while an "
    "English-only vocabulary leaves Korean in bytes and a joint one takes less than half of its tokens.",
    decision_rule="The joint vocabulary lies between at a size if on both languages the whole 95 % intervals of the "
    "tokens of the language's own vocabulary over the joint one's, and of the joint one's over the foreign one's, are "
    f"below 1. A vocabulary leaves a language in bytes if a token stands for fewer than {IN_BYTES} bytes of it at "
    "every size. Cost and gain are the tokens under joint over those under English-only at the stated size, or the "
    "largest below it that all three reached. The joint one is better for both together if the whole interval of that "
    "ratio over all aligned units of the two languages is below 1, worse if above 1.",
)


@dataclass(frozen=True)
class VocabularyLanguage:
    """English and another language in one vocabulary, against each language alone.

    Three vocabularies learn from equally many bytes and are cut down to the same sizes: English alone, half English
    and half the other, the other alone. All are measured on text that taught none. Without --train it runs on the
    embedded corpus.
    """

    train: tuple[str, ...] = ()
    """files or folders with an English text and one in the other language, known by their names (en, eng, english;
    see --other)"""
    test: tuple[str, ...] = ()
    """files or folders with the same two languages to measure on; without it, every second document of what --train
    names"""
    reading: Annotated[Reading, tyro.conf.arg(name="")] = DEFAULT_READING
    """how files become documents, and whether they are taken as translations of each other"""
    other: tuple[str, ...] = ("korean", "kor", "ko")
    """words by which the other language's files are known, the first one being its name; for German: german deu de"""
    vocab_sizes: tuple[int, ...] = (512, 1024, 2048, 4096, 8192, 16_384, 32_768)
    """text tokens of the vocabularies; upper bounds"""
    at: int = 8192
    """the size at which cost and gain are stated"""
    pattern: str = "words"
    """how text is cut before merging: words, gpt2, gpt2-digits, cl100k, none, or a regular expression"""
    train_bytes: int = 8_000_000
    """at most so many bytes teach a vocabulary; never more than the smaller of the two languages has"""
    resamples: int = 2000
    """bootstrap draws for an interval"""
    seed: int = 0
    """seed of the draws"""

    def __post_init__(self) -> None:
        if not self.other or not all(word.isalpha() and word.islower() for word in self.other):
            raise InputError("--other", expected="words of lower-case letters", got=self.other)
        if not self.vocab_sizes or min(self.vocab_sizes) < 257:
            raise InputError("--vocab-sizes", expected="at least one size, each at least 257", got=self.vocab_sizes)
        for name, least in (("at", 257), ("train_bytes", 2), ("resamples", 100), ("seed", 0)):
            if getattr(self, name) < least:
                option = "--" + name.replace("_", "-")
                raise InputError(option, expected=f"at least {least}", got=getattr(self, name))


def for_study(
    corpus: tuple[str, ...], tokenizer: tuple[str, ...], reading: Reading = DEFAULT_READING
) -> VocabularyLanguage:
    """The arguments that `bytebound study` runs with; a ready tokenizer learned from one mixture, not from three."""
    return VocabularyLanguage(train=corpus, reading=reading)


def plan(arguments: VocabularyLanguage) -> list[str]:
    """What a run would do and about how long it takes on two cores."""
    from experiments.sequence_length.texts import taught_and_held_out

    teaching, held_out = taught_and_held_out(arguments.train, arguments.test, arguments.reading)
    texts = dict.fromkeys((*teaching, *held_out))
    megabytes = sum(text.cut.corpus().bytes for text in texts) / 1e6
    name = arguments.other[0].title()
    return [
        f"3 vocabularies of up to {max(arguments.vocab_sizes):,} tokens: English, {name}, and half of each",
        f"{len(arguments.vocab_sizes)} sizes each, on {'held-out files' if arguments.test else 'held-out documents'}",
        f"about {4 + 5 * megabytes:.0f} s",
    ]
