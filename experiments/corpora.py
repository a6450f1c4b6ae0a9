"""Which text an experiment runs on, cut into slices: a language or a format of the embedded corpus, or a person's file.

Slices of one group are parallel where their units (sentences or lines) are aligned one to one; only there can parity
between languages be stated with an interval.
"""

import os
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from contracts.errors import InputError
from contracts.results import Corpus
from experiments.names import distinguished, printable
from research.text import (
    FORMATS,
    LANGUAGES,
    corpus_digest,
    embedded_texts,
    formatted_documents,
    read_documents,
    source_files,
)

_ENGLISH = {"en", "eng", "english"}

#: What rows call several slices together, so no slice or group may be called so.
_TAKEN = ("all", "both", "constructed")


@dataclass(frozen=True)
class Reading:
    """How files become documents, and whether they are taken as translations of each other."""

    separator: str | None = None
    """text between the documents of a file, such as '<|endoftext|>'"""
    per_line: bool = False
    """each line of a text file is a document"""
    parallel: Literal["auto", "yes", "no"] = "auto"
    """whether line i of every file of a folder says the same; auto takes it so where the files have equally many lines,
    one of them is English by its name (en, eng, english) and no line ends in CR; yes refuses files that differ in
    lines; no takes every file as it is"""


DEFAULT_READING = Reading()


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
    decision: str = ""
    """a sentence on why the files of the group are aligned or not, where equal counts left that open"""

    @cached_property
    def text(self) -> str:
        """The whole slice as one string: units joined by `joiner`. An unaligned file of one document is its text."""
        return self.joiner.join(self.units)

    @property
    def is_english(self) -> bool:
        """Whether the file's own name says so: `en`, `eng_Latn`, `pydocs.en`, `english-web`; folders don't count."""
        return _is_english(self.name.rsplit("/", 1)[-1])

    def corpus(self) -> Corpus:
        """Name, digest, documents, and the bytes of the text as it is measured, joiners included."""
        return Corpus(self.name, corpus_digest(self.documents), len(self.documents), len(self.text.encode()))


def slices(paths: Sequence[str] = (), reading: Reading = DEFAULT_READING) -> list[Slice]:
    """The slices of the files and folders at `paths`, one a file; of the embedded corpus if there are none.

    Every slice and every group has a name of its own: a file's own, with as many folders in front as tell it from the
    others. What was decided on alignment is told once on standard error.

    Raises:
        InputError: an unreadable, empty or repeated file; files that `reading` demands to be parallel and are not.
    """
    if paths:
        found = _files(paths, reading)
    elif reading == DEFAULT_READING:
        found = _embedded()
    else:
        hint = "the embedded corpus is read as it is"
        expected = "files or folders beside --separator, --per-line and --parallel"
        raise InputError("--corpus", expected=expected, got="none", hint=hint)
    for sentence in decisions(found):
        _tell(sentence)
    return found


def decisions(cuts: Sequence[Slice]) -> list[str]:
    """What was decided on which groups are aligned, a sentence a group; empty for the embedded corpus."""
    return list(dict.fromkeys(cut.decision for cut in cuts if cut.decision))


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


def _files(paths: Sequence[str], reading: Reading) -> list[Slice]:
    """One slice a file; the files of one folder are one group, named as a folder or one by one."""
    depths = _depths(paths)
    documents = {file: _documents(file, reading) for file in depths}
    named = dict(zip(depths, _names(depths), strict=True))
    folders = list(dict.fromkeys(file.parent for file in depths))
    titles = distinguished([Path(printable(str(folder))) for folder in folders], [1] * len(folders), _TAKEN)
    found = {}
    for folder, group in zip(folders, titles, strict=True):
        members = {file: documents[file] for file in depths if file.parent == folder}
        lines = {file: _lines(texts) for file, texts in members.items()}
        aligned, decision = _alignment(group, lines, reading)
        joiner = " " if aligned else reading.separator or "\n"
        for file in members:
            units = tuple(line.removesuffix("\r") for line in lines[file]) if aligned else members[file]
            found[file] = Slice(named[file], group, units, joiner, units, aligned, decision)
    return [found[file] for file in depths]


def _depths(paths: Sequence[str]) -> dict[Path, int]:
    """Every file, in order, and how many of its last parts lie below the path that was named."""
    depths: dict[Path, int] = {}
    for path in map(Path, paths):
        above = len(Path(os.path.abspath(path)).parts) - (not path.is_dir())
        for source in source_files(path):
            file = Path(os.path.abspath(source))
            if file in depths:
                raise InputError("--corpus", expected="each file once", got=f"{printable(str(source))} twice")
            depths[file] = len(file.parts) - above
    return depths


def _documents(file: Path, reading: Reading) -> tuple[str, ...]:
    found = read_documents(file, separator=reading.separator, per_line=reading.per_line)
    documents = tuple(document.text for document in found)
    if not any(documents):
        hint = "remove it, or name the others"
        raise InputError("corpus", expected="text", got="an empty file", where=printable(str(file)), hint=hint)
    return documents


def _names(depths: Mapping[Path, int]) -> list[str]:
    """Each file's name without its ending, unless the ending alone tells two files apart."""
    plain = [_without_ending(file) for file in depths]
    counts = Counter(plain)
    paths = [short if counts[short] == 1 else file for short, file in zip(plain, depths, strict=True)]
    return distinguished([Path(printable(str(path))) for path in paths], list(depths.values()), _TAKEN)


def _without_ending(file: Path) -> Path:
    return file.with_name(re.sub(r"(?s)(?<=.)(\.txt|\.jsonl|\.parquet)?(\.gz)?$", "", file.name))


def _alignment(group: str, lines: Mapping[Path, tuple[str, ...]], reading: Reading) -> tuple[bool, str]:
    """Whether the files of one folder are aligned, and the sentence that says so where it was a decision."""
    counts = {file: len(units) for file, units in lines.items()}
    if reading.parallel == "yes":
        _demand_parallel(counts)
    count = next(iter(counts.values()))
    if reading.parallel == "no" or len(counts) < 2 or set(counts.values()) != {count} or count < 2:
        return False, ""
    those = f"{group}: {len(counts)} files of {count:,} lines"
    if reading.parallel == "yes":
        return True, f"{those} taken as translations of each other, joined by spaces (--parallel yes)"
    if not any(_is_english(_without_ending(file).name) for file in counts):
        return False, f"{those} not taken as translations, for none is English by its name (--parallel yes to do so)"
    if any(unit.endswith("\r") for units in lines.values() for unit in units):
        return False, f"{those} not taken as translations, for some end in CR (--parallel yes to do so)"
    return True, f"{those} taken as translations of each other, joined by spaces (--parallel no to stop that)"


def _demand_parallel(counts: Mapping[Path, int]) -> None:
    """Refuse files that are not aligned, by the name of the one whose count most others don't share."""
    usual = Counter(counts.values()).most_common(1)[0][0]
    expected = f"files of equally many lines (--parallel yes), here {usual:,}"
    for file, count in counts.items():
        where = printable(str(file))
        if count != usual:
            raise InputError("corpus", expected=expected, got=f"{count:,}", where=where)
        if len(counts) < 2 or count < 2:
            expected = "at least two files of at least two lines in its folder (--parallel yes)"
            got = f"{len(counts)} file(s) of {count:,}"
            raise InputError("corpus", expected=expected, got=got, where=where)


def _lines(documents: tuple[str, ...]) -> tuple[str, ...]:
    """The lines of a one-document file, or the documents of a file that has several."""
    if len(documents) != 1:
        return documents
    return tuple(documents[0].removesuffix("\n").split("\n"))


def _is_english(name: str) -> bool:
    return bool(_ENGLISH & set(re.split(r"[^a-z]+", name.lower())))


@cache
def _tell(sentence: str) -> None:
    """Print once a process, however many experiments read the same corpus."""
    print(sentence, file=sys.stderr, flush=True)
