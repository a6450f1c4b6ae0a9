"""Counting: what `Counter` counts, whatever the parts, in 64 bits."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pieces import as_documents, texts

from research.tokenizers.kernels.count import WordCounter, WordCounts
from research.tokenizers.pretokenize import PATTERNS, pretokenizer


def counted(texts, pattern="words"):
    counter = WordCounter()
    counter.add(as_documents(texts), pretokenizer(pattern))
    return counter.result()


def expected(texts, pattern="words"):
    return Counter(piece.encode() for text in texts for piece in pretokenizer(pattern).split(text))


@pytest.mark.parametrize("pattern", [*PATTERNS, r"\w+", r"(?<=\w)\w+"])
@given(st.lists(texts, max_size=4))
def test_the_counts_are_those_of_a_counter(pattern, texts):
    assert dict(counted(texts, pattern).items()) == expected(texts, pattern)


def test_words_of_every_length_are_told_apart_by_their_first_and_last_byte():
    words = ["x" * length for length in range(1, 70)]
    words += ["y" + word for word in words] + [word + "y" for word in words]
    assert dict(counted(words).items()) == expected(words)


def test_many_words_are_all_kept():
    words = [str(number) for number in range(20_000)]
    assert dict(counted([" ".join(words)]).items()) == {b" ": 19_999, **{word.encode(): 1 for word in words}}


@given(st.lists(texts, max_size=4), st.lists(texts, max_size=4))
def test_counts_of_parts_add_up(first, second):
    counter = WordCounter()
    counter.add(as_documents(first), PATTERNS["words"])
    counter.add_counts(counted(second))
    assert dict(counter.result().items()) == expected(first + second)


def test_counts_have_64_bits():
    counter = WordCounter()
    for _ in range(3):
        counter.add_counts(WordCounts.of({b"the": 2**40, b"cat": 1}))
    assert dict(counter.result().items()) == {b"the": 3 * 2**40, b"cat": 3}


def test_a_result_does_not_change_when_counting_goes_on():
    counter = WordCounter()
    counter.add(as_documents(["a b"]), PATTERNS["words"])
    before = counter.result()
    counter.add(as_documents(["a c d"]), PATTERNS["words"])
    assert dict(before.items()) == {b"a": 1, b" ": 1, b"b": 1}


@given(st.dictionaries(st.binary(min_size=1, max_size=20), st.integers(0, 2**50), max_size=8))
def test_words_given_as_bytes_come_back(words):
    assert dict(WordCounts.of(words).items()) == words


def test_numbers_follow_first_occurrence():
    result = counted(["b a b c"])
    assert [word for word, _ in result.items()] == [b"b", b" ", b"a", b"c"]
    assert result.counts.dtype == np.int64
