"""What a learned model has to beat on the same bytes: xz, and an n-gram model of bytes.

Both are of the text alone and see no boundaries, so they compare with `bpb_text`.
"""

import lzma
import math

import numpy as np
from jaxtyping import Float64, Int64, UInt64

from contracts.core import contract
from contracts.errors import InputError

PerByte = Float64[np.ndarray, "bytes"]
Keys = UInt64[np.ndarray, "keys"]
Counts = Int64[np.ndarray, "keys"]
LONGEST_ORDER = 8
"""bytes of an n-gram that fit into one 64-bit key"""


def xz_bits_per_byte(text: bytes) -> float:
    """Size of the text under `xz -9e`, without the container, in bits a byte of it."""
    _require_text(text)
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]
    return 8 * len(lzma.compress(text, format=lzma.FORMAT_RAW, filters=filters)) / len(text)


class ByteNGram:
    """Interpolated n-grams of bytes with Witten-Bell smoothing: what the last `order` - 1 bytes tell of the next.

    P_k(b | h) = (c(h b) + t(h) P_(k-1)(b | h')) / (c(h) + t(h)), where c counts in the training text, t(h) is the
    number of different bytes seen behind h, h' is h without its first byte, and P_0 is uniform. Source: Chen and
    Goodman 1999, "An empirical study of smoothing techniques for language modeling", section 2.5.
    """

    def __init__(self, training: bytes, order: int = 5) -> None:
        if not 1 <= order <= LONGEST_ORDER:
            raise InputError("n-gram order", expected=f"1 to {LONGEST_ORDER}", got=order)
        _require_text(training)
        self.order = order
        lengths = range(1, min(order, len(training)) + 1)
        self._grams = [np.unique(_keys(training, length), return_counts=True) for length in lengths]

    @contract
    def nats(self, text: bytes) -> PerByte:
        """-ln p of each byte, given up to `order` - 1 bytes of the text before it."""
        probability = np.full(len(text), 1 / 256)
        for length, (grams, counts) in enumerate(self._grams, 1):
            if len(text) < length:
                break
            found = _keys(text, length)
            histories = grams >> np.uint64(8)
            known, first = np.unique(histories, return_index=True)
            total = np.add.reduceat(counts, first)
            kinds = np.diff(np.append(first, len(grams)))
            history = _look_up(known, found >> np.uint64(8))
            seen, after = np.where(history < 0, 0, total[history]), np.where(history < 0, 0, kinds[history])
            gram = _look_up(grams, found)
            count = np.where(gram < 0, 0, counts[gram])
            shorter = probability[length - 1 :]
            longer = (count + after * shorter) / np.maximum(seen + after, 1)
            probability[length - 1 :] = np.where(history < 0, shorter, longer)
        return -np.log(probability)

    def bits_per_byte(self, text: bytes) -> float:
        """The mean over the bytes of the text, in bits."""
        _require_text(text)
        return float(self.nats(text).mean() / math.log(2))


@contract
def _keys(text: bytes, length: int) -> Keys:
    """Every run of `length` bytes, its first byte the most significant."""
    values = np.frombuffer(text, np.uint8).astype(np.uint64)
    keys = np.zeros(max(len(values) - length + 1, 0), np.uint64)
    for place in range(length):
        keys = keys << np.uint64(8) | values[place : place + len(keys)]
    return keys


def _look_up(known: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The index of each key among the sorted ones that are known, of which there is one at least; -1 for others."""
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[place] == keys, place, -1)


def _require_text(text: bytes) -> None:
    if not text:
        raise InputError("text", expected="at least one byte", got="none")
