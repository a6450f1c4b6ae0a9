"""Training: the most frequent pair first, ties by rule, an upper bound on the size, and only counts matter."""

import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_bpe import naive_merges

from research.tokenizers import PATTERNS, BPETokenizer
from research.tokenizers.plain.train import learn_merges

TIE_BREAKS = ["smallest-ids", "largest-bytes"]

# Few letters and many repeats: overlapping runs and ties in nearly every example.
runs = st.lists(st.sampled_from([b"a", b"aa", b"aaaa", b"ab", b"abab", b"ba", b"c", b"\xff"]), max_size=6).map(b"".join)
word_counts = st.dictionaries(runs.filter(len), st.integers(1, 4), max_size=8)


def trained(*documents, size=300, **settings):
    return BPETokenizer.train(documents, size, **settings)


@pytest.mark.parametrize("tie_break", TIE_BREAKS)
@given(word_counts, st.integers(1, 4), st.integers(0, 30))
def test_training_equals_a_recount_at_every_step(tie_break, counts, min_count, limit):
    assert learn_merges(counts, limit, min_count, tie_break) == naive_merges(counts, limit, min_count, tie_break)


@pytest.mark.parametrize("tie_break", TIE_BREAKS)
@given(st.dictionaries(st.binary(min_size=1, max_size=12), st.integers(1, 3), max_size=12))
def test_training_on_random_bytes_equals_a_recount(tie_break, counts):
    assert learn_merges(counts, 60, 1, tie_break) == naive_merges(counts, 60, 1, tie_break)


@pytest.mark.parametrize("tie_break", TIE_BREAKS)
@pytest.mark.parametrize("text", ["aaaa " * 3 + "aaaaaaa", "abab babab " * 2, "안녕 안녕하세요 녕안", "x" * 100])
@pytest.mark.parametrize("pattern", ["words", "gpt2", "none"])
def test_training_on_text_equals_a_recount_of_its_pre_tokens(text, pattern, tie_break):
    counts = Counter(piece.encode() for piece in PATTERNS[pattern].split(text))
    tokenizer = trained(text, size=330, pattern=pattern, tie_break=tie_break)
    assert list(map(tuple, tokenizer.merges.tolist())) == naive_merges(counts, 330 - 256, 2, tie_break)


def test_the_merge_104_101_is_he():
    tokenizer = trained("the he hen", size=257)
    assert tokenizer.merges.tolist() == [[104, 101]]
    assert tokenizer.token_bytes(256) == b"he"
    assert tokenizer.encode("the").tolist() == [116, 256]


def test_hello_has_four_pairs_once_each_and_nothing_to_merge():
    assert len(trained("hello").merges) == 0
    once_is_enough = trained("hello", size=257, min_count=1)
    assert once_is_enough.merges.tolist() == [[101, 108]]  # the smallest of four equal ones
    assert len(once_is_enough.encode("hello")) == 4


def test_four_equal_letters_count_three_pairs():
    assert trained("aaaa", min_count=3, size=257).merges.tolist() == [[97, 97]]
    assert len(trained("aaaa", min_count=4).merges) == 0


def test_a_merge_takes_runs_from_the_left():
    assert trained("aaaaa", size=257).encode("aaaaa").tolist() == [256, 256, 97]


def test_ties_go_to_the_smallest_ids_or_the_largest_bytes():
    text = "ab ab cd cd"
    assert trained(text, size=257).merges.tolist() == [list(b"ab")]
    assert trained(text, size=257, tie_break="largest-bytes").merges.tolist() == [list(b"cd")]


def test_largest_bytes_prefers_the_longer_of_a_token_and_its_prefix():
    # After `ab` -> 256, `ab`+`c` and `a`+`d` stand twice each: `ab` is larger than its prefix `a`.
    merges = learn_merges({b"abc": 2, b"ad": 2, b"ab": 5}, 2, 2, "largest-bytes")
    assert merges == [(97, 98), (256, 99)]


def test_4096_text_tokens_are_3840_merges():
    letters = [chr(0xAC00 + index) for index in range(4000)]
    tokenizer = BPETokenizer.train_counts(dict.fromkeys(letters, 2), 4096)
    assert (tokenizer.text_vocab_size, len(tokenizer.merges), tokenizer.vocab_size) == (4096, 3840, 4097)
    assert tokenizer.stop_reason == "vocab_size reached"


def test_vocabulary_256_learns_nothing():
    tokenizer = trained("aaaa", size=256)
    assert tokenizer.merges.shape == (0, 2)
    assert tokenizer.stop_reason == "vocab_size reached"
    assert tokenizer.identity.version == "byte-bpe-v1"


def test_the_requested_size_is_an_upper_bound():
    tokenizer = trained("the he hen", size=50_000)
    assert tokenizer.requested_vocab_size == 50_000
    assert tokenizer.text_vocab_size < 300
    assert tokenizer.stop_reason == "no pair occurs min_count times"


@given(st.lists(st.text(alphabet="ab \n", min_size=1), min_size=1, max_size=5), st.randoms())
def test_only_the_counts_of_pre_tokens_matter(documents, random):
    counts = Counter(piece for document in documents for piece in PATTERNS["words"].split(document))
    shuffled = list(counts.items())
    random.shuffle(shuffled)
    from_texts = BPETokenizer.train(iter(documents), 290)
    assert BPETokenizer.train_counts(dict(shuffled), 290).identity == from_texts.identity
    assert BPETokenizer.train(reversed(documents), 290).identity == from_texts.identity


def test_a_repeated_text_gives_the_same_merges_at_the_same_cost_of_merging(sample_text):
    counts = Counter(piece.encode() for piece in PATTERNS["words"].split(sample_text))
    thousandfold = {word: 1000 * count for word, count in counts.items()}
    once, once_seconds = timed(learn_merges, counts, 500, 2)
    repeated, repeated_seconds = timed(learn_merges, thousandfold, 500, 2000)
    assert once == repeated
    assert repeated_seconds < 10 * once_seconds + 0.1


def timed(function, *arguments):
    begun = time.perf_counter()
    return function(*arguments), time.perf_counter() - begun


@given(word_counts, st.integers(256, 280))
def test_the_first_merges_of_a_large_training_are_the_small_training(counts, size):
    words = {word.decode("latin-1"): count for word, count in counts.items()}
    if not words:
        words = {"aa": 2}
    large = BPETokenizer.train_counts(words, 280, pattern="none")
    size = min(size, large.text_vocab_size)
    small = BPETokenizer.train_counts(words, size, pattern="none")
    assert large.truncate(size).identity == small.identity
    assert large.truncate(size).requested_vocab_size == size


def test_words_never_merges_across_a_space_and_none_does():
    text = "one World two World " * 20
    across = trained(text, pattern="none").vocabulary.tokens
    assert any(b" W" in token for token in across)
    within = trained(text, pattern="words").vocabulary.tokens
    assert not any(b" " in token and token.strip() for token in within)


def test_english_training_learns_no_merge_with_a_byte_above_ascii(sample_text):
    tokenizer = trained(sample_text.encode("ascii", "ignore").decode(), size=400)
    assert len(tokenizer.merges) == 144
    assert (tokenizer.merges[np.isin(tokenizer.merges, range(128, 256))]).size == 0


def test_english_merges_hardly_help_korean_and_it_comes_back_exactly(sample_text):
    tokenizer = trained(sample_text.encode("ascii", "ignore").decode(), size=600)
    korean = "문서의 경계는 글자가 아니라 토큰이다. 두 언어의 값은 다르다."
    assert len(tokenizer.encode(korean)) > 0.95 * len(korean.encode())
    assert tokenizer.decode_text(tokenizer.encode(korean)) == korean


def test_ten_single_spaces_stay_ten_tokens_whatever_was_learned(sample_text):
    sentence = "Once upon a time, there was a little rabbit named Freddy."
    assert len(sentence) == 57
    for tokenizer in (trained(sample_text, size=600), trained(sentence, size=400)):
        assert tokenizer.encode(sentence).tolist().count(32) == 10


def test_the_same_digest_on_every_interpreter_and_machine(sample_text):
    tokenizer = trained(sample_text, size=700)
    assert tokenizer.identity.vocab_sha256 == "864d454b14dcc9f09566e28fb19c5086f9263d8ed900f5bd4b04515dcefd93cc"


@pytest.mark.parametrize("pattern", ["gpt2", "words"])
def test_merges_equal_those_of_rustbpe(pattern, sample_text):
    rustbpe = pytest.importorskip("rustbpe")
    peer = rustbpe.Tokenizer()
    ascii_text = sample_text.encode("ascii", "ignore").decode()
    peer.train_from_iterator(iter([ascii_text]), 256 + 200, pattern=PATTERNS[pattern].regex)
    theirs = [bytes(token) for token, _ in peer.get_mergeable_ranks()]
    assert list(trained(ascii_text, size=256 + 200, pattern=pattern).vocabulary.tokens) == theirs


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["english/taylorswift.txt", "flores/eng_Latn.txt"])
def test_24_kb_of_english_stop_well_below_the_requested_size(corpus, shared_path):
    text = shared_path(f"corpora/{corpus}").read_text()[:24_000]
    tokenizer = BPETokenizer.train([text], 50_000)
    assert 1_400 <= tokenizer.text_vocab_size <= 1_750
    assert tokenizer.stop_reason == "no pair occurs min_count times"


@pytest.mark.slow
def test_4096_tokens_from_a_megabyte_train_in_seconds(shared_path):
    text = shared_path("corpora/english/tinyshakespeare.txt").read_text()
    tokenizer, seconds = timed(BPETokenizer.train, [text], 4096)
    assert tokenizer.text_vocab_size == 4096
    assert seconds < 20
