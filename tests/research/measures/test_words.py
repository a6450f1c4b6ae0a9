"""Words are found whatever stands around them, and their tokens are those that hold some of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ShapeError
from research.measures import pretokens, word_places, words_kept
from research.measures.words import byte_offsets, word_spans
from research.text import aligned_sentences
from research.tokenizers import BPETokenizer, ByteTokenizer
from research.tokenizers.pretokenize import pretokenizer

UNITS = st.lists(st.text(alphabet="ab 가é\n.'(", max_size=12), min_size=1, max_size=6).filter(any)
TRAINED = BPETokenizer.train(["aba abab 가가 é.é. bab", "abba a'b 가a가a (ab) éé"] * 3, 300)


def kept(units, tokenizer, joiner=" "):
    text = pretokens(units, joiner, pretokenizer(tokenizer.pattern or "words"))
    return words_kept(word_places(units, joiner), text.encode(tokenizer))


def naive(text, tokenizer):
    """Tokens that each word is spread over, byte by byte."""
    token_of = [index for index, (_, token, _) in enumerate(tokenizer.pieces(text)) for _ in token]
    spans = [(len(text[:start].encode()), len(text[:end].encode())) for start, end in word_spans(text)]
    return [len(set(token_of[start:end])) for start, end in spans]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(yes), he said - don't!", ["yes", "he", "said", "don't"]),
        ("3.14 snake_case… “안녕하세요.”", ["3.14", "snake_case", "안녕하세요"]),
        ("한국어\tहिन्दी की\n", ["한국어", "हिन्दी", "की"]),
        ("... — 😀", []),
        ("", []),
    ],
)
def test_a_word_has_no_white_space_and_no_punctuation_at_its_ends(text, words):
    assert [text[start:end] for start, end in word_spans(text)] == words


@given(UNITS)
def test_words_and_their_tokens_are_those_of_a_count_byte_by_byte(units):
    pieces = naive(" ".join(units), TRAINED)
    found = kept(units, TRAINED)
    assert found.words.sum() == len(pieces)
    assert found.pieces.sum() == sum(pieces)
    assert found.whole.sum() == pieces.count(1)


def test_a_token_that_holds_a_space_and_a_word_keeps_the_word_whole():
    tokenizer = BPETokenizer.train(["the cat the cat"] * 4, 270, pattern="gpt2")
    found = kept(["the cat", "the cab"], tokenizer)
    assert found.words.tolist() == [2, 2]
    assert found.whole.tolist() == [2, 1]


def test_in_bytes_a_word_takes_its_bytes():
    sentences = aligned_sentences("ko")[:50]
    text = " ".join(sentences)
    found = kept(sentences, ByteTokenizer())
    assert found.pieces.sum() == sum(len(text[start:end].encode()) for start, end in word_spans(text))


def test_a_word_belongs_to_the_unit_in_which_it_begins():
    assert kept(["ab", "ba a", "", "b"], TRAINED, joiner="").words.tolist() == [1, 1, 0, 0]


@given(st.text())
def test_byte_offsets_are_the_lengths_of_the_encoded_beginnings(text):
    expected = [len(text[:index].encode()) for index in range(len(text) + 1)]
    assert byte_offsets(text).tolist() == expected


def test_tokens_of_another_text_are_refused():
    encoded = pretokens(["ab"], " ", pretokenizer("words")).encode(TRAINED)
    with pytest.raises(ShapeError, match="2 bytes of tokens for a text of 3 bytes"):
        words_kept(word_places(["abc"], " "), encoded)


def test_the_tokens_of_a_text_end_where_the_tokenizer_says():
    text = "aba 가각 é. abab"
    encoded = pretokens([text], " ", pretokenizer("words")).encode(TRAINED)
    expected = np.cumsum([len(token) for _, token, _ in TRAINED.pieces(text)])
    assert encoded.ends().tolist() == expected.tolist()
