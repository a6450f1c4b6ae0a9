"""The two languages of a run: which texts teach, which are measured, and what is left of them after that."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from contracts.errors import InputError
from contracts.measures import UnitMask
from experiments.sequence_length.joint import words_of
from experiments.sequence_length.texts import HELD_OUT, TAUGHT, Text, taught_and_held_out
from experiments.vocabulary_language.question import VocabularyLanguage

ENGLISH = "English"
_ENGLISH_WORDS = ("english", "eng", "en")
#: A vocabulary learned from less says nothing about a language, and an interval needs some units.
LEAST_BYTES, LEAST_UNITS = 1_000, 10


@dataclass(frozen=True, eq=False)
class Language:
    """A language with the text that teaches it and the one that it is measured on; without --test they are one."""

    name: str
    train: Text
    test: Text
    pattern: str

    @property
    def teaching_bytes(self) -> int:
        """UTF-8 bytes that may teach."""
        return int(self.train.pretokens(self.pattern).bytes[self.train.half == TAUGHT].sum())

    @property
    def held_out(self) -> UnitMask:
        """The units that are measured."""
        return self.test.half == HELD_OUT

    @cached_property
    def bytes(self) -> int:
        """UTF-8 bytes that are measured."""
        return int(self.test.pretokens(self.pattern).bytes[self.held_out].sum())


def languages(arguments: VocabularyLanguage) -> tuple[Language, Language]:
    """English and the other language, by the names of the texts; the first text of a language is taken.

    Raises `InputError` if one of them is missing or has too little text, or is trained and tested on.
    """
    teaching, held_out = taught_and_held_out(arguments.train, arguments.test, arguments.reading)

    def language(name: str, words: Sequence[str]) -> Language:
        train, test = _known_by(teaching, name, words, "--train"), _known_by(held_out, name, words, "--test")
        return _with_enough(Language(name, train, test, arguments.pattern))

    return language(ENGLISH, _ENGLISH_WORDS), language(arguments.other[0].title(), arguments.other)


def aligned(english: Language, other: Language) -> bool:
    """Whether the measured units say the same, one by one, so that the languages can be drawn together."""
    both = english.test, other.test
    same_group = english.test.group == other.test.group and all(text.cut.aligned for text in both)
    return same_group and np.array_equal(english.held_out, other.held_out)


def _known_by(texts: Sequence[Text], name: str, words: Sequence[str], option: str) -> Text:
    for text in texts:
        if set(words) & set(words_of(text.name.rsplit("/", 1)[-1])):
            return text
    names = ", ".join(text.name for text in texts)
    raise InputError(option, expected=f"a text in {name}, with {' or '.join(words)} in its name", got=names)


def _with_enough(language: Language) -> Language:
    if language.teaching_bytes < LEAST_BYTES:
        got = f"{language.teaching_bytes} bytes"
        raise InputError("--train", expected=f"at least {LEAST_BYTES:,} bytes of {language.name}", got=got)
    units = int(language.held_out.sum())
    if units < LEAST_UNITS or not language.bytes:
        expected = f"at least {LEAST_UNITS} lines or documents of {language.name} with some text"
        raise InputError("--test", expected=expected, got=f"{units} with {language.bytes} bytes")
    return language
