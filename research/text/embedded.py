"""The embedded corpus: short original texts in English, Korean and German, aligned sentence by sentence.

It ships with the package, so that every experiment runs on real text without a download. One TOML file a text.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any, Literal, get_args

from contracts.errors import InputError

Language = Literal["en", "ko", "de"]
LANGUAGES: tuple[Language, ...] = get_args(Language)


@dataclass(frozen=True, slots=True)
class Parallel:
    """One text in each language, none of them the translation of record: `parallel["ko"]`."""

    en: str
    ko: str
    de: str

    def __getitem__(self, language: Language) -> str:
        if language not in LANGUAGES:
            raise InputError("language", expected=f"one of {', '.join(LANGUAGES)}", got=repr(language))
        return getattr(self, language)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with what the formats show beside it: one to three emoji, and a quantity from its content."""

    text: Parallel
    emoji: str
    value: int | float
    unit: str


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """A text of five to seven sentences; `place`, `start` and the two `people` serve the formats."""

    name: str
    title: Parallel
    place: str
    start: datetime
    people: tuple[str, ...]
    sentences: tuple[Sentence, ...]

    def prose(self, language: Language) -> str:
        """The sentences joined by spaces; the title is not part of it."""
        return " ".join(sentence.text[language] for sentence in self.sentences)


@cache
def embedded_texts() -> tuple[EmbeddedText, ...]:
    """All texts, in the order of their names."""
    files = resources.files("research.text").joinpath("data").iterdir()
    tomls = sorted((file for file in files if file.name.endswith(".toml")), key=lambda file: file.name)
    return tuple(
        _embedded_text(file.name.removesuffix(".toml"), tomllib.loads(file.read_text(encoding="utf-8")))
        for file in tomls
    )


def parallel_documents(language: Language) -> list[str]:
    """One document a text; the documents of two languages at one index say the same."""
    return [text.prose(language) for text in embedded_texts()]


def aligned_sentences(language: Language) -> list[str]:
    """Every sentence of the corpus; the sentences of two languages at one index say the same."""
    return [sentence.text[language] for text in embedded_texts() for sentence in text.sentences]


def _embedded_text(name: str, content: dict[str, Any]) -> EmbeddedText:
    return EmbeddedText(
        name=name,
        title=Parallel(**content["title"]),
        place=content["place"],
        start=datetime.fromisoformat(content["start"]),
        people=tuple(content["people"]),
        sentences=_sentences(content["sentence"]),
    )


def _sentences(items: Sequence[dict[str, Any]]) -> tuple[Sentence, ...]:
    return tuple(
        Sentence(Parallel(item["en"], item["ko"], item["de"]), item["emoji"], item["value"], item["unit"])
        for item in items
    )
