"""One count under a large vocabulary holds the counts under all smaller ones."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from research.measures import lengths_by_merges, pretokens, split_back
from research.tokenizers import BPETokenizer
from research.tokenizers.pretokenize import pretokenizer

TRAINED = BPETokenizer.train(["aba abab 가가 é.é. bab\n\n", "abba aba 가a가a éé aaaa"] * 2, 300)
TEXTS = st.text(alphabet="ab 가é\n.", max_size=40)


def occurrences(text, size=TRAINED.text_vocab_size):
    ids = TRAINED.truncate(size).encode(text)
    return np.bincount(ids, minlength=size).astype(np.int64)


@given(TEXTS, st.integers(256, TRAINED.text_vocab_size))
def test_splitting_the_last_ids_gives_the_ids_under_the_smaller_vocabulary(text, size):
    split = split_back(occurrences(text), TRAINED.merges, size)
    assert split[:size].tolist() == occurrences(text, size).tolist()


@given(TEXTS)
def test_an_id_saves_as_many_tokens_as_encoding_with_its_row_is_shorter_than_without(text):
    saved = split_back(occurrences(text), TRAINED.merges)[256:]
    lengths = [len(TRAINED.truncate(size).encode(text)) for size in range(256, TRAINED.text_vocab_size + 1)]
    assert saved.tolist() == [before - after for before, after in pairwise(lengths)]
    assert lengths_by_merges(occurrences(text), TRAINED.merges).tolist() == lengths


def test_without_merges_there_is_one_length_the_bytes():
    counts = np.bincount(np.frombuffer(b"abba", np.uint8), minlength=256).astype(np.int64)
    assert lengths_by_merges(counts, np.zeros((0, 2), np.int32)).tolist() == [4]


def test_occurrences_are_those_of_the_chosen_units_alone():
    units, chosen = ["aba b", "가가", "abab é"], np.array([True, False, True])
    encoded = pretokens(units, " ", pretokenizer("words")).encode(TRAINED)
    expected = occurrences("aba b") + occurrences(" abab é")
    assert encoded.occurrences(chosen).tolist() == expected.tolist()
