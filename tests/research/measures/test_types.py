"""Kinds of tokens: evenness, use, single bytes and broken characters, against hand counts and known limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from contracts.errors import InputError
from research.measures import broken_share, renyi_efficiency, single_byte_share, used_share
from research.tokenizers import BPETokenizer, ByteTokenizer

COUNTS = st.lists(st.integers(0, 1000), min_size=2, max_size=40).filter(any).map(np.array)


@given(COUNTS, st.floats(0.1, 8))
def test_evenness_lies_between_one_id_alone_and_all_ids_equally_often(counts, alpha):
    assert -1e-9 <= renyi_efficiency(counts, alpha) <= 1 + 1e-9


@given(st.integers(2, 300), st.integers(1, 9), st.floats(0.1, 8))
def test_ids_that_stand_equally_often_are_perfectly_even(size, times, alpha):
    assert renyi_efficiency(np.full(size, times), alpha) == pytest.approx(1)


def test_one_id_alone_has_no_evenness():
    assert renyi_efficiency(np.array([7, 0, 0]), 2.5) == 0


@given(COUNTS)
def test_order_one_is_shannons_entropy_and_the_limit_of_the_orders_around_it(counts):
    shannon = entropy(counts) / np.log(len(counts))
    assert renyi_efficiency(counts, 1) == pytest.approx(shannon, abs=1e-12)
    assert renyi_efficiency(counts, 1 + 1e-7) == pytest.approx(shannon, abs=1e-4)


def test_order_two_counts_how_often_two_tokens_are_the_same():
    counts = np.array([3, 1, 0, 0])
    assert renyi_efficiency(counts, 2) == pytest.approx(-np.log((9 + 1) / 16) / np.log(4))


@pytest.mark.parametrize("alpha", [0, -1, float("inf"), float("nan")])
def test_an_order_that_is_no_positive_number_is_refused(alpha):
    with pytest.raises(InputError, match="alpha"):
        renyi_efficiency(np.array([1, 1]), alpha)


def test_used_and_single_byte_shares_are_counted_by_hand():
    counts = np.zeros(260, np.int64)
    counts[[97, 98, 256]] = 3, 1, 4
    assert used_share(counts) == 3 / 260
    assert single_byte_share(counts) == 0.5


def test_a_token_is_broken_if_it_is_not_text_alone():
    # 가 is ea b0 80: the first merge makes ea b0, which is no character, the second one 가.
    tokenizer = BPETokenizer([(0xEA, 0xB0), (256, 0x80)])
    for text, share in (("가", 0.0), ("a", 0.0), ("각", 2 / 2), ("가각b", 2 / 4)):
        counts = np.bincount(tokenizer.encode(text), minlength=258).astype(np.int64)
        assert broken_share(counts, tokenizer) == share


@given(st.text(min_size=1))
def test_in_bytes_all_but_ascii_is_broken(text):
    counts = np.bincount(ByteTokenizer().encode(text), minlength=256).astype(np.int64)
    ascii_characters = sum(character < "\x80" for character in text)
    assert broken_share(counts, ByteTokenizer()) == pytest.approx(1 - ascii_characters / len(text.encode()))
