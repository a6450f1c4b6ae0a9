"""Counts tokens quickly: no token crosses a pre-token, so each distinct pre-token is encoded once and then counted.

One encoding serves every size of a nested vocabulary: taking back the merges learned last leaves the smaller one's
tokens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from contracts.core import contract
from contracts.measures import CountsBySize, DistinctCounts, IdCounts, Offsets, UnitCounts, UnitMask
from contracts.tokenizer import Merges, TokenIds
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

    def encode(self, tokenizer: ByteLevelTokenizer) -> "Encoded":
        """Every distinct pre-token under `tokenizer`, by whose pattern the text was cut."""
        encoded = [tokenizer.vocabulary.encode_piece(piece) for piece in self.distinct]
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        ids = np.fromiter(chain.from_iterable(encoded), np.int32, int(lengths.sum()))
        return Encoded(self, tokenizer, ids, lengths)

    @contract
    def tokens(self, tokenizer: ByteLevelTokenizer, sizes: Sequence[int]) -> CountsBySize:
        """Tokens of each unit under `tokenizer`, truncated to each of `sizes`."""
        return self.encode(tokenizer).tokens(sizes)

    # No @contract: it would look at every word of the mapping.
    def occurrences(self, chosen: UnitMask) -> Mapping[str, int]:
        """How often each pre-token occurs in the chosen units; those that don't are left out."""
        counts = np.bincount(self.ids[chosen[self.unit_of]], minlength=len(self.distinct))
        return {self.distinct[index]: int(counts[index]) for index in np.flatnonzero(counts)}


@dataclass(frozen=True, eq=False)
class Encoded:
    """A text under a tokenizer: the tokens of its distinct pre-tokens, one after the other."""

    text: Pretokens
    tokenizer: ByteLevelTokenizer
    ids: TokenIds
    lengths: DistinctCounts
    """tokens of each distinct pre-token"""

    @contract
    def tokens(self, sizes: Sequence[int]) -> CountsBySize:
        """Tokens of each unit under the tokenizer truncated to each of `sizes`.

        Merges apply in learned order, so the tokens under a truncated vocabulary are the state before the later
        merges, which splitting every later token restores.
        """
        rows = [self._by_unit(parts_within(self.tokenizer.merges, size)) for size in sizes]
        return np.array(rows, np.int64).reshape(len(sizes), self.text.units)

    def truncate(self, size: int) -> "Encoded":
        """The same under the tokenizer truncated to `size`: later tokens are split until none is left."""
        ids, owner = self.ids, np.repeat(np.arange(len(self.lengths)), self.lengths)
        while (late := ids >= size).any():
            parts = self.tokenizer.merges[ids[late] - 256]
            after = np.cumsum(1 + late)[late]
            ids, owner = np.repeat(ids, 1 + late), np.repeat(owner, 1 + late)
            ids[after - 2], ids[after - 1] = parts.T
        return Encoded(self.text, self.tokenizer.truncate(size), ids, np.bincount(owner, minlength=len(self.lengths)))

    @contract
    def occurrences(self, chosen: UnitMask) -> IdCounts:
        """How often each text id stands in the chosen units."""
        pretokens = np.bincount(self.text.ids[chosen[self.text.unit_of]], minlength=len(self.lengths))
        times = np.repeat(pretokens, self.lengths)
        return np.bincount(self.ids, times, self.tokenizer.text_vocab_size).astype(np.int64)

    @contract
    def ends(self) -> Offsets:
        """The byte offset at which each token of the whole text ends, in order."""
        first = np.cumsum(self.lengths) - self.lengths
        lengths = self.lengths[self.text.ids]
        before = np.cumsum(lengths) - lengths
        places = np.arange(lengths.sum()) + np.repeat(first[self.text.ids] - before, lengths)
        return np.cumsum(self.tokenizer.token_byte_lengths[self.ids[places]], dtype=np.int64)

    def _by_unit(self, per_id: IdCounts) -> UnitCounts:
        """The sum over each unit of a quantity that every text id has."""
        owner = np.repeat(np.arange(len(self.lengths)), self.lengths)
        return self.text.by_unit(np.bincount(owner, per_id[self.ids], len(self.lengths)).astype(np.int64))


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
    unit_of = unit_at(np.cumsum(lengths) - lengths, units, joiner).astype(np.int32)
    return Pretokens(tuple(index), ids, unit_of, len(units))


# No @contract: it would look at every unit.
def unit_at(characters: Offsets, units: Sequence[str], joiner: str) -> Offsets:
    """The unit to which each character of `joiner.join(units)` belongs; the joiner belongs to the unit after it."""
    ends = np.cumsum([len(unit) + len(joiner) for unit in units]) - len(joiner)
    return np.searchsorted(ends, characters, side="right")


@contract
def parts_within(merges: Merges, size: int) -> IdCounts:
    """How many of the first `size` ids each id is made of: 1 below `size`, else the parts of its left and right."""
    parts = np.ones(256 + len(merges), np.int64)
    for token, (left, right) in enumerate(merges[size - 256 :].tolist(), size):
        parts[token] = parts[left] + parts[right]
    return parts
