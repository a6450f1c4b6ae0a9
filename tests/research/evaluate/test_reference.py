"""What a model has to beat: against xz's command line format, and n-grams against a loop over dictionaries."""

import lzma
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from research.evaluate.reference import ByteNGram, xz_bits_per_byte

TEXTS = st.lists(st.sampled_from(b"abc\xff"), min_size=1, max_size=40).map(bytes)


def naive(training, order, text):
    """-ln p of each byte: the recursion as it is written."""
    counts = Counter(training[i : i + n] for n in range(1, order + 1) for i in range(len(training) - n + 1))
    behind = defaultdict(set)
    for gram in counts:
        behind[gram[:-1]].add(gram[-1:])

    def probability(history, byte):
        shorter = probability(history[1:], byte) if history else 1 / 256
        total, kinds = sum(counts[history + b] for b in behind[history]), len(behind[history])
        return (counts[history + byte] + kinds * shorter) / (total + kinds) if total else shorter

    return [-math.log(probability(text[max(0, i - order + 1) : i], text[i : i + 1])) for i in range(len(text))]


@given(TEXTS, TEXTS, st.integers(1, 5))
def test_an_n_gram_gives_each_byte_the_probability_that_the_recursion_says(training, text, order):
    np.testing.assert_allclose(ByteNGram(training, order).nats(text), naive(training, order, text), rtol=1e-9)


@given(TEXTS, st.integers(1, 5), TEXTS)
def test_the_probabilities_of_all_bytes_add_up_to_one(training, order, history):
    model = ByteNGram(training, order)
    total = sum(math.exp(-model.nats(history + bytes([byte]))[-1]) for byte in range(256))
    assert total == pytest.approx(1.0)


def test_xz_is_what_the_xz_format_makes_of_it_but_for_its_frame():
    text = b"the same again, " * 50 + bytes(np.random.default_rng(0).integers(0, 256, 3000, dtype=np.uint8))
    framed = 8 * len(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME)) / len(text)
    assert 0 < framed - xz_bits_per_byte(text) < 8 * 80 / len(text)


def test_what_can_not_be_measured_is_refused():
    with pytest.raises(InputError, match="at least one byte"):
        xz_bits_per_byte(b"")
    with pytest.raises(InputError, match="1 to 8"):
        ByteNGram(b"a", 9)
