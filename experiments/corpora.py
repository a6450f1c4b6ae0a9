"""Which text an experiment runs on, cut into slices: a language or a format of the embedded corpus, or a person's file.

Slices of one group are parallel where their units (sentences or lines) are aligned one to one; only there can parity
between languages be stated with an interval.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from contracts.errors import InputError
from contracts.results import Corpus
from research.text import FORMATS, LANGUAGES, corpus_digest, embedded_texts, formatted_documents, read_documents

_ENGLISH = {"en", "eng", "english"}


@dataclass(frozen=True)
class Slice:
    """A named text: its units (sentences, lines or whole documents) and the string that joins them."""

    name: str
    group: str
    """slices of one group belong together: one folder, the languages, the formats"""
    units: tuple[str, ...]
    joiner: str
    documents: tuple[str, ...]
    aligned: bool
    """unit i of every aligned slice of the group says the same"""

    @cached_property
    def text(self) -> str:
        """The whole slice as one string: units joined by `joiner`."""
        return self.joiner.join(self.units)

    @property
    def is_english(self) -> bool:
        """Whether the name says so: `en`, `eng_Latn`, `pydocs.en`, `english-web`."""
        return bool(_ENGLISH & set(re.split(r"[^a-z]+", self.name.lower())))

    def corpus(self) -> Corpus:
        """Name, digest and size, for a manifest."""
        size = sum(len(document.encode()) for document in self.documents)
        return Corpus(self.name, corpus_digest(self.documents), len(self.documents), size)


def slices(paths: Sequence[str] = ()) -> list[Slice]:
    """The slices of the files and folders at `paths`, one a file; of the embedded corpus if there are none."""
    return [cut for path in paths for cut in _path_slices(Path(path))] if paths else _embedded()


def english_of(group: Sequence[Slice]) -> Slice | None:
    """The English slice among `group`, the yardstick of parity."""
    return next((cut for cut in group if cut.is_english), None)


def groups(cuts: Sequence[Slice]) -> dict[str, list[Slice]]:
    """Slices by group, in order."""
    found: dict[str, list[Slice]] = {}
    for cut in cuts:
        found.setdefault(cut.group, []).append(cut)
    return found


def _embedded() -> list[Slice]:
    texts = embedded_texts()
    found = []
    for language in LANGUAGES:
        units = tuple(sentence.text[language] for text in texts for sentence in text.sentences)
        documents = tuple(text.prose(language) for text in texts)
        found.append(Slice(language, "languages", units, " ", documents, aligned=True))
    for name in FORMATS:
        documents = tuple(formatted_documents(name))
        found.append(Slice(name, "formats", documents, "\n", documents, aligned=True))
    return found


def _path_slices(path: Path) -> list[Slice]:
    """One slice a file; the files of a folder that have equally many lines are taken as aligned line by line."""
    texts: dict[Path, list[str]] = {}
    for document in read_documents(path):
        texts.setdefault(Path(document.source), []).append(document.text)
    lines = {file: _lines(documents) for file, documents in texts.items()}
    root = path if path.is_dir() else path.parent
    found = []
    for file, documents in texts.items():
        if not any(documents):
            hint = "remove it, or name the others"
            raise InputError("corpus", expected="text", got="an empty file", where=str(file), hint=hint)
        peers = [len(lines[other]) for other in texts if other.parent == file.parent]
        aligned = len(peers) > 1 and len(set(peers)) == 1 and peers[0] > 1
        units = lines[file] if aligned else tuple(documents)
        name = re.sub(r"(\.txt|\.jsonl|\.parquet)?(\.gz)?$", "", file.relative_to(root).as_posix())
        group = file.parent.resolve().name or "corpus"
        found.append(Slice(name, group, units, " " if aligned else "\n", units, aligned))
    return found


def _lines(documents: list[str]) -> tuple[str, ...]:
    """The lines of a one-document file, or the documents of a file that has several."""
    if len(documents) != 1:
        return tuple(documents)
    return tuple(documents[0].removesuffix("\n").split("\n"))
