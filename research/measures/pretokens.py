"""Counts tokens quickly: no token crosses a pre-token, so each distinct pre-token is encoded once and then counted.

One encoding serves every size of a nested vocabulary: taking back the merges learned last leaves the smaller one's
tokens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from contracts.core import contract
from contracts.measures import CountsBySize, DistinctCounts, PartCounts, UnitCounts, UnitMask
from contracts.tokenizer import Merges
from research.tokenizers.pretokenize import Pretokenizer, WholeText
from research.tokenizers.tokenizer import ByteLevelTokenizer


@dataclass(frozen=True, eq=False)
class Pretokens:
    """A text of joined units as its distinct pre-tokens, and which of them stands where in which unit."""

    distinct: tuple[str, ...]
    ids: np.ndarray
    """index into `distinct` of each pre-token, in the order of the text"""
    unit_of: np.ndarray
    """the unit in which each pre-token begins"""
    units: int

    @contract
    def by_unit(self, per_distinct: DistinctCounts) -> UnitCounts:
        """The sum over each unit of a quantity that every distinct pre-token has."""
        return np.bincount(self.unit_of, per_distinct[self.ids], self.units).astype(np.int64)

    @property
    def characters(self) -> UnitCounts:
        """Code points of each unit, with the joiner before it."""
        return self.by_unit(np.fromiter(map(len, self.distinct), np.int64, len(self.distinct)))

    @property
    def bytes(self) -> UnitCounts:
        """UTF-8 bytes of each unit, with the joiner before it."""
        return self.by_unit(np.fromiter((len(p.encode()) for p in self.distinct), np.int64, len(self.distinct)))

    @contract
    def tokens(self, tokenizer: ByteLevelTokenizer, sizes: Sequence[int]) -> CountsBySize:
        """Tokens of each unit under `tokenizer`, by whose pattern the text was cut, truncated to each of `sizes`.

        Merges apply in learned order, so the tokens under a truncated vocabulary are the state before the later
        merges, which splitting every later token restores.
        """
        encoded = [tokenizer.vocabulary.encode_piece(piece) for piece in self.distinct]
        tokens = np.fromiter(chain.from_iterable(encoded), np.int32)
        owner = np.repeat(np.arange(len(encoded)), [len(ids) for ids in encoded])
        rows = [
            self.by_unit(np.bincount(owner, parts[tokens], len(encoded)).astype(np.int64))
            for parts in (parts_within(tokenizer.merges, size) for size in sizes)
        ]
        return np.array(rows, np.int64).reshape(len(sizes), self.units)

    # No @contract: it would look at every word of the mapping.
    def occurrences(self, chosen: UnitMask) -> Mapping[str, int]:
        """How often each pre-token occurs in the chosen units; those that don't are left out."""
        counts = np.bincount(self.ids[chosen[self.unit_of]], minlength=len(self.distinct))
        return {self.distinct[index]: int(counts[index]) for index in np.flatnonzero(counts)}


def pretokens(units: Sequence[str], joiner: str, pretokenizer: Pretokenizer) -> Pretokens:
    """The pre-tokens of `joiner.join(units)`; one that crosses a border belongs to the unit in which it begins.

    The joiner belongs to the unit after it. A pre-tokenizer that cuts nothing would give all to the first unit, so
    for it each unit is a piece of its own.
    """
    if isinstance(pretokenizer, WholeText):
        pieces = [joiner * (index > 0) + unit for index, unit in enumerate(units)]
    else:
        pieces = pretokenizer.split(joiner.join(units))
    index: dict[str, int] = {}
    ids = np.fromiter((index.setdefault(piece, len(index)) for piece in pieces), np.int32, len(pieces))
    lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
    ends = np.cumsum([len(unit) + len(joiner) for unit in units]) - len(joiner)
    unit_of = np.searchsorted(ends, np.cumsum(lengths) - lengths, side="right").astype(np.int32)
    return Pretokens(tuple(index), ids, unit_of, len(units))


@contract
def parts_within(merges: Merges, size: int) -> PartCounts:
    """How many of the first `size` ids each id is made of: 1 below `size`, else the parts of its left and right."""
    parts = np.ones(256 + len(merges), np.int64)
    for token, (left, right) in enumerate(merges[size - 256 :].tolist(), size):
        parts[token] = parts[left] + parts[right]
    return parts
