"""A text of any length to ids, part by part: cut where its pattern allows it, so that the ids are those of the whole.

chunks   |the cat s|at on the |mat       as they are read
parts    [the cat )[sat on the )[mat]    up to the last cut; what is behind it waits for the next chunk
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from contracts.tokenizer import TokenIds
from research.tokenizers import engine
from research.tokenizers.pretokenize import Pretokenizer
from research.tokenizers.text import require_utf8
from research.tokenizers.tokenizer import ByteLevelTokenizer


class EncodedPart(NamedTuple):
    """The ids of a part of a text."""

    ids: TokenIds
    bytes: int
    """of the part; it ends where a character ends"""


def encode_in_parts(tokenizer: ByteLevelTokenizer, chunks: Iterable[bytes]) -> Iterator[EncodedPart]:
    """The ids of the text whose UTF-8 is `chunks`, one after another, cut anywhere, within a character too.

    Joined they are what `encode_bytes` gives of the chunks joined, and so are those of any run of parts for their
    bytes. Holds a chunk and twice what no cut is allowed in. That is the whole text for the pattern `none`, for a
    regex that only the module `regex` can split, and under `BYTEBOUND_ENGINE=python`, as only the kernels know where a
    cut is allowed.

    Raises `InputError` for what is not UTF-8, with the byte, and for more than 1 GiB without a cut.
    """
    vocabulary = tokenizer.vocabulary
    held, done, enough = bytearray(), 0, 1
    for chunk in chunks:
        held += chunk
        if len(held) < enough:
            continue
        whole = _valid(held[: _last_character(held)], done, vocabulary.pretokenizer)
        cut = _last_cut(whole, vocabulary.pretokenizer)
        if cut:
            yield EncodedPart(vocabulary.encode_batch([whole[:cut]])[0], cut)
            del held[:cut]
            done += cut
            enough = 1
        else:
            enough = 2 * len(held)  # or a text without a cut would be searched anew for every chunk
    if held:
        whole = _valid(held, done, vocabulary.pretokenizer)
        yield EncodedPart(vocabulary.encode_batch([whole])[0], len(whole))


def _valid(data: bytearray, offset: int, pretokenizer: Pretokenizer | None) -> bytes:
    """UTF-8 that begins at `offset` of a text."""
    whole, what = bytes(data), f"data from byte {offset} on"
    if pretokenizer is None:
        require_utf8(whole, what)
        return whole
    return engine.valid_utf8(whole, what)


def _last_cut(whole: bytes, pretokenizer: Pretokenizer | None) -> int:
    """The last place where valid UTF-8 may be cut; 0 if there is none."""
    return len(whole) if pretokenizer is None else engine.last_cut(whole, pretokenizer)


def _last_character(data: bytearray) -> int:
    """Where the last character begins, which may not be all there; what is no character at all is for others to say."""
    for at in range(len(data) - 1, max(len(data) - 5, -1), -1):
        if data[at] & 0xC0 != 0x80:
            return at
    return len(data)
