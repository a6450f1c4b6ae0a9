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
