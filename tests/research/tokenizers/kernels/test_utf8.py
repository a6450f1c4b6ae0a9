"""The kernel accepts what Python decodes, and nothing else."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.tokenizers.kernels.utf8 import is_utf8

#: The first and last byte of every span in Unicode's table of well-formed sequences, and their neighbours.
EDGES = bytes.fromhex("00417f808f909fa0bfc0c1c2dfe0e1ecedeeeff0f1f3f4f5ff")


def decodes(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def accepted(data):
    return bool(is_utf8(np.frombuffer(data, np.uint8)))


@pytest.mark.parametrize("length", [0, 1, 2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_every_short_sequence_of_the_bytes_that_matter_is_judged_as_python_does(length):
    for sequence in product(EDGES, repeat=length):
        assert accepted(bytes(sequence)) == decodes(bytes(sequence)), sequence


@given(st.text(max_size=90), st.integers(0, 200), st.binary(max_size=2), st.text(max_size=90))
def test_a_bad_byte_is_noticed_wherever_it_stands(before, ascii_bytes, bad, after):
    data = before.encode() + b"a" * ascii_bytes + bad + after.encode()
    assert accepted(data) == decodes(data)


def test_every_character_is_accepted_and_no_half_of_one():
    characters = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)])).encode()
    assert accepted(characters)
    assert not accepted(characters[:-1])
