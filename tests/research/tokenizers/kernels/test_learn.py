"""The merges are those of the plain implementation and of rustbpe, to the last one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pieces import as_documents

from research.tokenizers.kernels import learn
from research.tokenizers.kernels.count import WordCounter, WordCounts
from research.tokenizers.kernels.learn import learn_merges
from research.tokenizers.plain.train import learn_merges as plain_merges
from research.tokenizers.pretokenize import PATTERNS

ties = pytest.mark.parametrize("tie_break", ["smallest-ids", "largest-bytes"])

few_bytes = st.sampled_from([b"a", b"ab", b"abc", b"\x00\xff", bytes(range(256))])
words = few_bytes.flatmap(
    lambda alphabet: st.dictionaries(
        st.lists(st.sampled_from(alphabet), min_size=1, max_size=24).map(bytes),
        st.sampled_from([0, 1, 1, 2, 3, 5, 1000, 2**40]),
        max_size=8,
    )
)


def learned(word_counts, limit, min_count, tie_break):
    merges = learn_merges(WordCounts.of(word_counts), limit, min_count, tie_break)
    assert (merges.dtype, merges.shape[1:]) == (np.int32, (2,))
    return list(map(tuple, merges.tolist()))


@pytest.mark.slow
@ties
@settings(max_examples=120)
@given(words, st.integers(0, 60), st.integers(1, 4))
def test_any_words_teach_what_they_teach_the_plain_implementation(tie_break, words, limit, min_count):
    assert learned(words, limit, min_count, tie_break) == plain_merges(words, limit, min_count, tie_break)


@ties
@pytest.mark.parametrize("unit", [b"a", b"ab", b"aab", b"abcab", b"\x00"])
def test_runs_of_every_length_teach_what_they_teach_the_plain_implementation(tie_break, unit):
    for length in range(1, 70):
        run = {(unit * length)[:length]: 3, (unit * length)[: length // 2 + 1]: 2}
        assert learned(run, 40, 1, tie_break) == plain_merges(run, 40, 1, tie_break)


def test_neither_the_order_nor_the_numbering_of_words_matters(sample_text):
    words = {word.encode(): len(word) for word in sample_text.split()}
    backwards = dict(reversed(words.items()))
    assert learned(words, 100, 1, "smallest-ids") == learned(backwards, 100, 1, "smallest-ids")


@ties
def test_a_real_text_teaches_what_it_teaches_the_plain_implementation(tie_break, sample_text):
    counter = WordCounter()
    counter.add(as_documents([sample_text]), PATTERNS["gpt2"])
    counts = counter.result()
    expected = plain_merges(dict(counts.items()), 400, 2, tie_break)
    assert list(map(tuple, learn_merges(counts, 400, 2, tie_break).tolist())) == expected


def test_stopping_to_look_at_the_time_changes_nothing(monkeypatch, sample_text):
    words = {sample_text.encode(): 1}
    expected = learned(words, 500, 1, "smallest-ids")
    monkeypatch.setattr(learn, "_AT_ONCE", 10)
    assert learned(words, 500, 1, "smallest-ids") == expected


def test_no_words_teach_nothing():
    assert learned({}, 10, 1, "smallest-ids") == []
    assert learned({b"ab": 0}, 10, 1, "smallest-ids") == []


def test_a_limit_beyond_all_reason_costs_no_memory():
    assert learned({b"abab": 1}, 2**40, 1, "smallest-ids") == [(97, 98), (256, 256)]


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["en10.txt", "multi5.txt"])
def test_rustbpe_learns_the_same_32512_merges(corpus, shared_path):
    rustbpe = pytest.importorskip("rustbpe")
    text = shared_path(f"corpora/large/{corpus}").read_text(encoding="utf-8")
    theirs = rustbpe.Tokenizer()
    theirs.train_from_iterator([text], 32_768, pattern=PATTERNS["gpt2"].regex)
    ids = {bytes(token): index for token, index in theirs.get_mergeable_ranks()}
    counter = WordCounter()
    counter.add(as_documents([text]), PATTERNS["gpt2"])
    merges = learn_merges(counter.result(), 32_768 - 256, min_count=1)
    tokens = [bytes([value]) for value in range(256)]
    for left, right in merges.tolist():
        tokens.append(tokens[left] + tokens[right])
    assert {token: index for index, token in enumerate(tokens)} == ids
