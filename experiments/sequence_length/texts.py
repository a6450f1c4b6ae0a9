"""The slices made ready: cut into units, divided into two halves by documents, and split into pre-tokens once."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from contracts.core import contract
from contracts.errors import InputError
from contracts.measures import UnitCounts, UnitMask
from experiments.corpora import DEFAULT_READING, Reading, Slice, slices
from research.measures import Pretokens, WordPlaces, normalized, pretokens, word_places
from research.measures.characters import NormalForm
from research.tokenizers.pretokenize import pretokenizer

HALVES = TAUGHT, HELD_OUT = (0, 1)
_GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True, eq=False)
class Text:
    """A slice to be measured. Unit i belongs to half `half[i]`, as all units of its document do."""

    cut: Slice
    units: tuple[str, ...]
    joiner: str
    half: UnitCounts
    _pretokens: dict[str, Pretokens] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The slice's name."""
        return self.cut.name

    @property
    def group(self) -> str:
        """The slice's group."""
        return self.cut.group

    @cached_property
    def whole(self) -> str:
        """The units joined: for a slice as it came, the slice's text."""
        return self.joiner.join(self.units)

    @property
    def characters(self) -> int:
        """Code points of the whole text."""
        return len(self.whole)

    @cached_property
    def bytes(self) -> int:
        """UTF-8 bytes of the whole text."""
        return len(self.whole.encode())

    @cached_property
    def words(self) -> WordPlaces:
        """Where its words stand."""
        return word_places(self.units, self.joiner)

    def pretokens(self, pattern: str) -> Pretokens:
        """The text under a pre-tokenizer; split once and kept."""
        if pattern not in self._pretokens:
            self._pretokens[pattern] = pretokens(self.units, self.joiner, pretokenizer(pattern))
        return self._pretokens[pattern]

    def part(self, half: int) -> str:
        """The units of one half, joined."""
        return self.joiner.join(unit for unit, own in zip(self.units, self.half, strict=True) if own == half)

    def in_form(self, form: NormalForm) -> "Text":
        """The same units in a Unicode normal form; itself if they are."""
        units = normalized(self.units, form)
        return self if units == self.units else replace(self, units=units, _pretokens={})


def text_of(cut: Slice) -> Text:
    """`cut` in units and halves; a slice of one document is cut into its lines, one line in the middle."""
    if len(cut.units) > 1:
        return Text(cut, cut.units, cut.joiner, _document_of_units(cut) % 2)
    (document,) = cut.units
    units, joiner = tuple(document.split("\n")), "\n"
    if "\n" not in document.rstrip("\n"):
        middle = len(document) // 2
        units, joiner = (document[:middle], document[middle:]), ""
    return Text(cut, units, joiner, np.arange(len(units)) % 2)


def taught_and_held_out(
    train: Sequence[str], test: Sequence[str], reading: Reading = DEFAULT_READING
) -> tuple[list[Text], list[Text]]:
    """Texts whose units of half `TAUGHT` teach, and texts whose units of half `HELD_OUT` are measured.

    With files or folders to test on, both are whole. Without, the documents of the same texts alternate.

    Raises `InputError` for a text to test on that teaches as well.
    """
    if not test:
        texts = [text_of(cut) for cut in slices(train, reading)]
        return texts, texts
    teaching = [text_of(cut) for cut in (slices(train, reading) if train else slices())]
    teachers = {text.cut.corpus().sha256: text.name for text in teaching}
    held_out = [text_of(cut) for cut in slices(test, reading)]
    for text in held_out:
        teacher = teachers.get(text.cut.corpus().sha256)
        if teacher is not None:
            raise InputError("--test", expected="text that is not trained on", got=f"{text.name}, equal to {teacher}")
    return [_all_in(text, TAUGHT) for text in teaching], [_all_in(text, HELD_OUT) for text in held_out]


def _all_in(text: Text, half: int) -> Text:
    return replace(text, half=np.full_like(text.half, half))


def _document_of_units(cut: Slice) -> UnitCounts:
    """The document of each unit: joined, the units and the documents are the same text."""
    documents, units = (
        np.cumsum([0, *(len(part) + len(cut.joiner) for part in parts)])[:-1] for parts in (cut.documents, cut.units)
    )
    return np.searchsorted(documents, units, side="right") - 1


def training_counts(parts: Iterable[tuple[Text, int]], half: int, pattern: str) -> Mapping[str, int]:
    """Pre-token counts of one half of each text, each text with its own limit in bytes."""
    counts: Counter[str] = Counter()
    for text, limit in parts:
        counts.update(text.pretokens(pattern).occurrences(taught(text, half, limit, pattern)))
    return counts


def utf8_bytes(counts: Mapping[str, int]) -> int:
    """UTF-8 bytes of counted pre-tokens."""
    return sum(len(piece.encode()) * count for piece, count in counts.items())


def taught(text: Text, half: int, limit: int, pattern: str) -> UnitMask:
    """Units of `half`, taken evenly from the whole text until `limit` bytes are reached."""
    return spread(text.pretokens(pattern).bytes, text.half == half, limit)


@contract
def spread(sizes: UnitCounts, candidates: UnitMask, limit: int) -> UnitMask:
    """Candidates until their sizes reach `limit`, in an order that leaves no region out.

    The fractional parts of multiples of the golden ratio lie evenly in 0..1 wherever one stops (Weyl).
    """
    order = np.argsort(np.arange(len(sizes)) * _GOLDEN % 1)
    order = order[candidates[order]]
    chosen = np.zeros(len(sizes), bool)
    chosen[order[np.cumsum(sizes[order]) - sizes[order] < limit]] = True
    return chosen
