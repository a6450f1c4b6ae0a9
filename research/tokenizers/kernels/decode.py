"""Stage 5: ids to bytes. The bytes of all tokens lie in one array, and eight of them are copied at a time.

text    00 | 01 | ... | FF | the | he | ...      starts    0  1 ... 256 259
"""

import numpy as np

from contracts.tokenizer import Merges, TokenIds
from research.tokenizers.kernels.jit import kernel
from research.tokenizers.kernels.pages import PADDING, eights

_ONE, _STEP = np.uint64(1), np.uint64(8)


def token_lengths(merges: Merges) -> np.ndarray:
    """int64: bytes of each text id; `vocabulary.checked_merges` bounds them."""
    lengths = np.ones(256 + len(merges), np.int64)
    _measure(merges, lengths)
    return lengths


class Spelling:
    """The bytes of every token."""

    def __init__(self, merges: Merges) -> None:
        self.starts = np.cumsum(np.append(0, token_lengths(merges))).astype(np.uint32)
        self.text = np.zeros(self.starts[-1] + PADDING, np.uint8)
        self.text[:256] = np.arange(256)
        _spell(merges, self.starts, self.text)

    def decode(self, ids: TokenIds) -> bytes:
        """The bytes of text ids, which are known to be in range."""
        ids = ids.view(np.uint32)
        out = np.empty(_size(ids, self.starts) + PADDING, np.uint8)
        return out[: _join(ids, self.starts, eights(self.text), eights(out))].tobytes()


@kernel
def _measure(merges, lengths):
    for index in range(len(merges)):
        lengths[256 + index] = lengths[merges[index, 0]] + lengths[merges[index, 1]]


@kernel
def _spell(merges, starts, text):
    for index in range(len(merges)):
        at = starts[256 + index]
        for part in merges[index]:
            for source in range(starts[part], starts[part + 1]):
                text[at] = text[source]
                at += _ONE


@kernel
def _size(ids, starts):
    size = 0
    for token in ids:
        size += starts[token + _ONE] - starts[token]
    return size


@kernel
def _join(ids, starts, text8, out8):
    """Write the bytes of `ids`; how many they are. What a copy writes too much, the next one overwrites.

    All indices are unsigned, or each costs a test for counting from the end: 1.7 times the speed.
    """
    at = np.uint64(0)
    for token in ids:
        start = np.uint64(starts[token])
        length = starts[token + _ONE] - start
        out8[at] = text8[start]
        done = _STEP
        while done < length:
            out8[at + done] = text8[start + done]
            done += _STEP
        at += length
    return at
