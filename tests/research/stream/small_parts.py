"""Constants so small that a document of a line is a long one."""

from contextlib import contextmanager

import pytest

from research.stream import corpus
from research.text import long

WHOLE = 1 << 30


@contextmanager
def small_parts(most=2, part=7, chunk=16, commit=WHOLE, together=25):
    """Documents of more than `most` bytes, if `chunk` bytes do not hold them, are encoded `part` bytes at a time."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("MOST_BYTES", most), ("PART_BYTES", part), ("CHUNK_BYTES", chunk), ("_DECODED", 3)):
            patch.setattr(long, name, value)
        patch.setattr(corpus, "COMMIT_BYTES", commit)
        patch.setattr(corpus, "TOGETHER", together)
        yield
