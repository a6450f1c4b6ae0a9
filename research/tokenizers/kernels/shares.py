"""Encoding on several threads: a share is some megabytes of text between two safe cuts, and depends on no other.

texts    aaaaaaaaaaaaaaaaaa|bbb|ccc|dddd      share 0: aaaaaa    share 1: aaaaaa    share 2: aaaaaabbb ...
tokens   000011112222333                       each thread encodes a share; here they are put one behind another
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Int64

from contracts.tokenizer import TokenIds
from research.tokenizers.kernels.encoder import Encoder
from research.tokenizers.kernels.pages import last_cut
from research.tokenizers.pretokenize import Pretokenizer

SIZE = 1 << 20
"""1 MB: what a thread allocates for it, it gets back from the last one; twice as much comes anew from the system."""


@dataclass
class Share:
    """Texts and parts of texts, one after another."""

    size: int = 0
    """bytes"""
    texts: list[np.ndarray] = field(default_factory=list)
    closed: list[bool] = field(default_factory=list)
    """whether a text ends with this part of it"""

    def add(self, text: np.ndarray, closed: bool) -> None:
        """Append a text, or a part of one."""
        self.texts.append(text)
        self.closed.append(closed)
        self.size += len(text)


def shares(texts: Sequence[np.ndarray], pretokenizer: Pretokenizer, size: int = SIZE) -> Iterator[Share]:
    """All texts in shares of about `size` bytes, or more where no cut is allowed."""
    share = Share()
    for text in texts:
        rest = text
        while share.size + len(rest) > size and (cut := _cut(rest, size - share.size, pretokenizer)):
            share.add(rest[:cut], closed=False)
            rest = rest[cut:]
            yield share
            share = Share()
        share.add(rest, closed=True)
        if share.size >= size:
            yield share
            share = Share()
    yield share


def _cut(text: np.ndarray, end: int, pretokenizer: Pretokenizer) -> int:
    """The last place in the first `end` bytes where `text` may be cut; without one there, in twice as many, and so
    on: behind a long run, threads share what follows. 0 if there is none at all."""
    end = max(end, 1)
    while end < len(text):
        if cut := last_cut(text, end, pretokenizer):
            return cut
        end *= 2
    return last_cut(text, len(text), pretokenizer)


def encode_on_threads(
    texts: Sequence[np.ndarray],
    pretokenizer: Pretokenizer,
    threads: int,
    encoder: Callable[[], AbstractContextManager[Encoder]],
    size: int = SIZE,
) -> tuple[TokenIds, Int64[np.ndarray, "texts+1"]]:
    """What `Encoder.encode_batch` gives, by several encoders, which `encoder` lends."""

    def encode(share: Share) -> tuple[Share, TokenIds, np.ndarray]:
        with encoder() as own:
            return share, *own.encode_batch(share.texts)

    tokens = np.empty(sum(map(len, texts)), np.int32)  # never fewer bytes than tokens; untouched pages cost nothing
    end, ends = 0, [np.zeros(1, np.int64)]
    with ThreadPoolExecutor(threads) as pool:
        for share, part, offsets in pool.map(encode, shares(texts, pretokenizer, size)):
            tokens[end : end + len(part)] = part
            ends.append(end + offsets[1:][share.closed])
            end += len(part)
    tokens.resize(end, refcheck=False)
    return tokens, np.concatenate(ends)
