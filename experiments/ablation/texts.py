"""Texts of an ablation: some documents teach, others are held out, none is both, and every text has an equal share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from contracts.errors import InputError
from contracts.results import Corpus
from experiments.corpora import DEFAULT_READING, Reading, Slice, slices
from experiments.sequence_length.texts import spread, text_of

#: One document in so many is held out: the same numbers in all texts, for aligned ones say the same.
HELD_OUT_ONE_IN = 8
#: Of the embedded corpus; the German text is not asked for, and the formats are no languages.
_EMBEDDED = ("en", "ko")
LEAST_DOCUMENTS = 4


@dataclass(frozen=True, eq=False)
class Texts:
    """Documents by text, for training and held out."""

    cuts: tuple[Slice, ...]
    train: Mapping[str, tuple[str, ...]]
    held_out: Mapping[str, tuple[str, ...]]
    repeated: int
    """documents of the held-out part that were left out because they are also trained on"""
    too_long: int
    """documents that were left out for their length"""

    @property
    def names(self) -> tuple[str, ...]:
        """The texts."""
        return tuple(self.train)

    @cached_property
    def mixed(self) -> tuple[str, ...]:
        """All training documents in one fixed order, so that neighbours say nothing of each other's language."""
        documents = [document for texts in self.train.values() for document in texts]
        return tuple(documents[index] for index in np.random.default_rng(0).permutation(len(documents)))

    @cached_property
    def train_bytes(self) -> int:
        """UTF-8 bytes that teach."""
        return _bytes(self.mixed)

    def corpora(self) -> list[Corpus]:
        """What the texts are cut from."""
        return [cut.corpus() for cut in self.cuts]


def split_texts(
    corpus: Sequence[str],
    reading: Reading = DEFAULT_READING,
    *,
    train_bytes: int,
    held_out_bytes: int,
    longest: int | None = None,
    lines: bool = False,
) -> Texts:
    """Every text of `corpus`, or English and Korean of the embedded one, with an equal share of both limits.

    Args:
        corpus: Files and folders.
        reading: How they become documents.
        train_bytes: At most so many bytes teach, of all texts together.
        held_out_bytes: About so many are held out.
        longest: Documents of more bytes are left out.
        lines: Units (sentences, lines) are documents, not whole texts.

    Raises:
        InputError: for a text with too few documents to hold some out.
    """
    cuts = tuple(cut for cut in slices(corpus, reading) if corpus or cut.name in _EMBEDDED)
    train: dict[str, tuple[str, ...]] = {}
    held_out: dict[str, tuple[str, ...]] = {}
    repeated = too_long = 0
    for cut in cuts:
        documents = _documents(cut, lines)
        sizes = np.array([len(document.encode()) for document in documents], np.int64)
        is_short = sizes <= (longest or sizes.max())
        too_long += int((~is_short).sum())
        is_usable = is_short & np.array([bool(document.strip()) for document in documents])
        is_held_out = np.arange(len(documents)) % HELD_OUT_ONE_IN == HELD_OUT_ONE_IN - 1
        teaching = spread(sizes, ~is_held_out & is_usable, train_bytes // len(cuts))
        measured = spread(sizes, is_held_out & is_usable, held_out_bytes // len(cuts))
        train[cut.name] = tuple(documents[index] for index in np.flatnonzero(teaching).tolist())
        known = set(train[cut.name])
        candidates = [documents[index] for index in np.flatnonzero(measured).tolist()]
        held_out[cut.name] = tuple(document for document in candidates if document not in known)
        repeated += len(candidates) - len(held_out[cut.name])
        if min(len(train[cut.name]), len(held_out[cut.name])) < LEAST_DOCUMENTS:
            got = f"{len(train[cut.name])} to train on and {len(held_out[cut.name])} held out"
            expected = f"at least {LEAST_DOCUMENTS} documents or lines of each kind"
            raise InputError("corpus", expected=expected, got=got, where=cut.name)
    return Texts(cuts, train, held_out, repeated, too_long)


def _documents(cut: Slice, lines: bool) -> Sequence[str]:
    """The documents; a text that is a single one is cut into its lines."""
    return cut.documents if not lines and len(cut.documents) > 1 else text_of(cut).units


def _bytes(documents: Sequence[str]) -> int:
    return sum(len(document.encode()) for document in documents)
