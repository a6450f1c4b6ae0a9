"""What a text costs without a neural network, in bits a byte: under xz, and under an n-gram model of bytes.

A decoder that does not beat these has learned less than counting tells.
"""

import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float64, Int64

from contracts.core import contract
from contracts.errors import InputError

#: The symbols: 256 bytes, and the boundary that opens and closes every document.
_SYMBOLS, _BOUNDARY = 257, 256
#: The longest context of which a key still fits 64 bits.
_MOST_ORDER = 7

Symbols = Int64[np.ndarray, "symbols"]
Keys = Int64[np.ndarray, "keys"]
Probabilities = Float64[np.ndarray, "symbols"]
Bits = Float64[np.ndarray, "documents"]


def xz_bits(documents: Sequence[str], known: Sequence[str] = ()) -> int:
    """Bits that xz (LZMA2, preset 9) takes for the documents, joined by line ends.

    With `known` text, the bits by which it grows when they follow that text: what xz makes of them if it has read it,
    as far as its window of 64 MiB goes.
    """
    before = _xz_bytes(tuple(known)) if known else 0
    return 8 * (_xz_bytes((*known, *documents)) - before)


@lru_cache(maxsize=2)
def _xz_bytes(documents: tuple[str, ...]) -> int:
    return len(lzma.compress("\n".join(documents).encode(), preset=9))


@dataclass(frozen=True)
class ByteNGram:
    """An n-gram model of bytes and document ends: the interpolated Witten-Bell estimate.

    With N(h) symbols seen behind a context h, T(h) different ones among them, and h' the context without its first
    symbol,

        P(c | h) = (N(h c) + T(h) P(c | h')) / (N(h) + T(h)),

    down to a uniform guess among 257 symbols (Witten and Bell 1991, method C; Chen and Goodman 1999, section 2.6). A
    document begins behind `order - 1` boundaries and ends with one.
    """

    order: int
    counts: tuple[tuple[Keys, Keys], ...]
    """for each length of context: the keys of context and symbol, sorted, and how often they were seen"""

    @classmethod
    def learn(cls, documents: Sequence[str], order: int = 5) -> "ByteNGram":
        """Count the documents. Order 5: four bytes of context."""
        if not 1 <= order <= _MOST_ORDER:
            raise InputError("order", expected=f"1 to {_MOST_ORDER}", got=order)
        symbols, is_predicted = _laid_out(documents, order)
        counted = (np.unique(_keys(symbols, k)[is_predicted], return_counts=True) for k in range(order))
        return cls(order, tuple((keys, counts.astype(np.int64)) for keys, counts in counted))

    def bits(self, documents: Sequence[str], ends: bool = True) -> Bits:
        """Bits of each document, with the boundary that ends it or without."""
        symbols, is_predicted = _laid_out(documents, self.order)
        cost = -np.log2(self._probabilities(symbols)[is_predicted])
        predicted = symbols[is_predicted]
        document = np.cumsum(predicted == _BOUNDARY) - (predicted == _BOUNDARY)
        kept = np.ones(len(cost), bool) if ends else predicted != _BOUNDARY
        return np.bincount(document[kept], cost[kept], minlength=len(documents))

    def bits_per_byte(self, documents: Sequence[str], ends: bool = True) -> float:
        """All bits over all bytes."""
        return float(self.bits(documents, ends).sum()) / sum(len(document.encode()) for document in documents)

    @contract
    def _probabilities(self, symbols: Symbols) -> Probabilities:
        found = np.full(len(symbols), 1 / _SYMBOLS)
        for k, (keys, counts) in enumerate(self.counts):
            contexts, begins = np.unique(keys // _SYMBOLS, return_index=True)
            seen, kinds = np.add.reduceat(counts, begins), np.diff(np.append(begins, len(keys)))
            asked = _keys(symbols, k)
            together = _looked_up(keys, counts, asked)
            n, t = (_looked_up(contexts, of, asked // _SYMBOLS) for of in (seen, kinds))
            found = np.where(n > 0, (together + t * found) / np.maximum(n + t, 1), found)
        return found


def _laid_out(documents: Sequence[str], order: int) -> tuple[Symbols, np.ndarray]:
    """All documents behind each other, each behind its boundaries, and which symbols are predicted."""
    opening = [_BOUNDARY] * (order - 1)
    parts = [np.array([*opening, *document.encode(), _BOUNDARY], np.int64) for document in documents]
    is_predicted = np.concatenate([np.arange(len(part)) >= order - 1 for part in parts])
    return np.concatenate(parts), is_predicted


@contract
def _keys(symbols: Symbols, k: int) -> Symbols:
    """Each symbol with the `k` before it, as one number, the symbol itself last."""
    key = np.zeros_like(symbols)
    for back in range(k, -1, -1):
        key = key * _SYMBOLS + np.roll(symbols, back)
    return key


def _looked_up(keys: Keys, values: Keys, asked: Symbols) -> Symbols:
    """The value of each key that is asked for, 0 where there is none."""
    place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(keys[place] == asked, values[place], 0)
