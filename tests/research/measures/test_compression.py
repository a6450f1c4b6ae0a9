"""xz against lzma itself, and the n-gram model against dictionaries and the laws of probability."""

import lzma
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from research.measures import ByteNGram, xz_bits

TEXTS = st.lists(st.text(st.sampled_from("ab가 "), min_size=1, max_size=8), min_size=1, max_size=5)
END = 256


def symbols(document, order):
    return [END] * (order - 1) + list(document.encode()) + [END]


def naive_bits(known, document, order):
    """Witten-Bell by its definition: a dictionary for every context."""
    seen = defaultdict(Counter)
    for each in known:
        row = symbols(each, order)
        for place in range(order - 1, len(row)):
            for k in range(order):
                seen[tuple(row[place - k : place])][row[place]] += 1

    def probability(symbol, context, k):
        shorter = probability(symbol, context, k - 1) if k else 1 / 257
        counts = seen[tuple(context[len(context) - k :])]
        total, kinds = sum(counts.values()), len(counts)
        return (counts[symbol] + kinds * shorter) / (total + kinds) if total else shorter

    row = symbols(document, order)
    places = range(order - 1, len(row))
    return -sum(math.log2(probability(row[p], row[p - order + 1 : p], order - 1)) for p in places)


@given(TEXTS, TEXTS, st.integers(1, 5))
def test_bits_are_those_of_witten_and_bells_formula(known, asked, order):
    found = ByteNGram.learn(known, order).bits(asked)
    assert found.tolist() == pytest.approx([naive_bits(known, document, order) for document in asked])


@pytest.mark.slow
@given(TEXTS, st.binary(max_size=4))
def test_the_probabilities_of_all_symbols_behind_a_context_sum_to_one(known, context):
    model = ByteNGram.learn(known, 3)
    rows = np.array([[END, END, *context, symbol] for symbol in range(257)], np.int64)
    last = [model._probabilities(row)[-1] for row in rows]
    assert sum(last) == pytest.approx(1)


def test_a_model_without_context_codes_its_own_text_by_its_entropy_and_the_unseen():
    text = "abab" * 500
    assert ByteNGram.learn([text], 1).bits_per_byte([text], ends=False) == pytest.approx(1, abs=0.02)
    assert ByteNGram.learn([text], 5).bits_per_byte([text], ends=False) < 0.02


def test_ends_are_counted_or_not():
    model = ByteNGram.learn(["ab", "ba"])
    with_ends, without = (model.bits(["ab", "a"], ends) for ends in (True, False))
    assert (with_ends > without).all()


@pytest.mark.parametrize("order", [0, 8])
def test_an_order_that_no_key_holds_is_refused(order):
    with pytest.raises(InputError, match="1 to 7"):
        ByteNGram.learn(["a"], order)


def test_xz_is_what_lzma_makes_of_the_joined_text_and_known_text_makes_it_shorter():
    text = [f"line {number} of a text" for number in range(200)]
    assert xz_bits(text) == 8 * len(lzma.compress("\n".join(text).encode(), preset=9))
    assert xz_bits(text[100:], text[:100]) < xz_bits(text[100:])
    assert xz_bits(text[:3], text) < 100 * 8
