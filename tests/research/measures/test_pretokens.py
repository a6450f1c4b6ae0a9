"""Counting through distinct pre-tokens equals encoding the text, whole or unit by unit, at every vocabulary size."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.measures import pretokens
from research.measures.pretokens import parts_within
from research.text import aligned_sentences
from research.tokenizers import BPETokenizer, ByteTokenizer
from research.tokenizers.pretokenize import pretokenizer

TEXTS = st.lists(st.text(alphabet="ab 가é\n.", max_size=12), min_size=1, max_size=8).filter(any)
JOINERS = st.sampled_from([" ", "\n", ""])
TRAINED = BPETokenizer.train(["aba abab 가가 é.é. bab\n\n", "abba aba 가a가a éé"] * 2, 300)


@given(TEXTS, JOINERS)
def test_the_tokens_of_all_units_are_the_tokens_of_the_joined_text(units, joiner):
    text = pretokens(units, joiner, pretokenizer("words"))
    (counts,) = text.tokens(TRAINED, [TRAINED.text_vocab_size])
    assert counts.sum() == len(TRAINED.encode(joiner.join(units)))


@given(TEXTS, JOINERS)
def test_every_size_from_one_encoding_is_what_the_truncated_tokenizer_encodes(units, joiner):
    text = pretokens(units, joiner, pretokenizer("words"))
    sizes = range(256, TRAINED.text_vocab_size + 1)
    totals = text.tokens(TRAINED, sizes).sum(axis=1)
    assert totals.tolist() == [len(TRAINED.truncate(size).encode(joiner.join(units))) for size in sizes]


@given(TEXTS, st.integers(256, TRAINED.text_vocab_size))
def test_a_truncated_encoding_is_that_of_the_truncated_tokenizer(units, size):
    text = pretokens(units, " ", pretokenizer("words"))
    split, expected = text.encode(TRAINED).truncate(size), text.encode(TRAINED.truncate(size))
    assert split.ids.tolist() == expected.ids.tolist()
    assert split.lengths.tolist() == expected.lengths.tolist()
    assert split.ends().tolist() == expected.ends().tolist()


@given(TEXTS, JOINERS)
def test_bytes_and_characters_are_those_of_the_joined_text(units, joiner):
    text, joined = pretokens(units, joiner, pretokenizer("words")), joiner.join(units)
    assert text.bytes.sum() == len(joined.encode())
    assert text.characters.sum() == len(joined)
    assert text.tokens(ByteTokenizer(), [256])[0].tolist() == text.bytes.tolist()


def test_a_unit_has_its_own_tokens_and_the_joiner_before_it():
    text = pretokens(["aba b", "가.", "ab"], " ", pretokenizer("words"))
    alone = [len(TRAINED.encode(unit)) for unit in ("aba b", "가.", "ab")]
    assert text.tokens(TRAINED, [TRAINED.text_vocab_size])[0].tolist() == [alone[0], 1 + alone[1], 1 + alone[2]]


def test_a_pretoken_that_crosses_a_border_belongs_to_the_unit_in_which_it_begins():
    text = pretokens(["ab", "", "cd ef"], "", pretokenizer("words"))
    assert text.distinct == ("abcd", " ", "ef")
    assert text.characters.tolist() == [4, 0, 3]


def test_a_pattern_that_cuts_nothing_cuts_at_units():
    text = pretokens(["a b", "a b", "a b"], " ", pretokenizer("none"))
    assert text.distinct == ("a b", " a b")
    assert text.characters.tolist() == [3, 4, 4]


@given(st.lists(st.tuples(st.text(alphabet="ab가.", min_size=1), st.booleans()), min_size=1, max_size=8))
def test_occurrences_are_those_of_the_chosen_units_alone(units):
    chosen = [(" " if index else "") + unit for index, (unit, kept) in enumerate(units) if kept]
    text = pretokens([unit for unit, _ in units], " ", pretokenizer("words"))
    expected = Counter(piece for unit in chosen for piece in pretokenizer("words").split(unit))
    assert text.occurrences(np.array([kept for _, kept in units])) == expected


def test_parts_of_a_token_are_counted_down_to_the_size():
    merges = np.array([[97, 98], [256, 97], [257, 256]], np.int32)  # ab, aba, abaab
    assert parts_within(merges, 259)[256:].tolist() == [1, 1, 1]
    assert parts_within(merges, 257)[256:].tolist() == [1, 2, 3]
    assert parts_within(merges, 256)[256:].tolist() == [2, 3, 5]


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "words"])
def test_the_embedded_text_is_counted_as_it_is_encoded_under_any_pattern(pattern):
    sentences = aligned_sentences("ko")[:60]
    tokenizer = BPETokenizer.train(sentences, 400, pattern=pattern)
    text = pretokens(sentences, " ", pretokenizer(pattern))
    assert text.tokens(tokenizer, [400]).sum() == len(tokenizer.encode(" ".join(sentences)))
