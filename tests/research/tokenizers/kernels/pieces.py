"""What the tests of the kernels share: texts that are hard to split, and the way through pages and back."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from research.tokenizers.kernels.pages import Pages
from research.tokenizers.pretokenize import Pretokenizer

#: Contractions, digits of several scripts, every kind of space, combining marks, joiners, each length of UTF-8.
TRICKY = (
    "aAsStTmMdDlLvVeErRſéß字가ㅏ'’\"!.-_1٣²Ⅷ \t\n\r\x0b\x0c\x1c\x1f\x00\x85\u00a0\u2028\u3000"
    "\u0301\u200d😀🇰\U00010400\U000e0100\U0010ffff"
)

texts = st.text(st.sampled_from(TRICKY), max_size=40) | st.text(max_size=40)


def as_documents(texts: Iterable[str]) -> list[np.ndarray]:
    return [np.frombuffer(text.encode(), np.uint8) for text in texts]


def split(texts: Iterable[str], pretokenizer: Pretokenizer, size: int = 1 << 17) -> list[list[str]]:
    """The pieces of each text as the kernels see them, with pages of `size` bytes."""
    split: list[list[str]] = []
    pieces: list[str] = []
    for page in Pages(pretokenizer, size).of(as_documents(texts)):
        data, borders, closed = page.data.tobytes(), page.borders[: page.pieces + 1].tolist(), iter(page.closed[1:])
        for start, stop in pairwise(borders[1:]):
            if data[start] != 0xFF:
                pieces.append(data[start:stop].decode())
            elif next(closed):
                split.append(pieces)
                pieces = []
    assert not pieces
    return split


def kernel_ends(text: str, pretokenizer: Pretokenizer) -> np.ndarray:
    """Where the pieces of a long text end, in bytes, as the kernels see it: arrays compare faster than pieces."""
    ends, offset = [np.zeros(0, np.int64)], -1  # a page begins with a mark
    for page in Pages(pretokenizer).of(as_documents([text])):
        ends.append(page.borders[2 : page.pieces].astype(np.int64) + offset)
        offset += int(page.borders[page.pieces - 1]) - 1
    return np.concatenate(ends)


def regex_ends(text: str, pretokenizer: Pretokenizer) -> np.ndarray:
    """The same as the regex sees it."""
    ends = np.cumsum([len(piece) for piece in pretokenizer.split(text)], dtype=np.int64)
    data = np.frombuffer(text.encode(), np.uint8)
    return np.append(np.flatnonzero(data & 0xC0 != 0x80), len(data))[ends]
