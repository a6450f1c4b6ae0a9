"""Words lose what they don't know; characters lose nothing, at the price of two kinds of token."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from research.measures import CharacterVocabulary, WordVocabulary
from research.tokenizers import ByteTokenizer
from research.tokenizers.pretokenize import PATTERNS

TEXT = st.text(alphabet="ab 가é.\n", max_size=40)


def counts(text):
    return Counter(PATTERNS["words"].split(text))


def test_a_word_that_was_not_learned_is_lost_and_bytes_give_it_back():
    words = WordVocabulary.learn(counts("eine Zahl, eine Zeile"), 100)
    assert words.decode(words.encode("eine Skurrilität, eine Zeile")) == "eine <unk>, eine Zeile"
    assert ByteTokenizer().decode_text(ByteTokenizer().encode("Skurrilität")) == "Skurrilität"


def test_the_most_frequent_words_are_kept_and_ties_go_to_the_first_in_order():
    assert WordVocabulary.learn({"b": 2, "a": 2, "c": 3, "d": 1}, 4).words == ("<unk>", "c", "a", "b")


@given(TEXT, TEXT, st.integers(2, 12))
def test_losses_are_what_encoding_the_text_gives(learned_from, text, size):
    words = WordVocabulary.learn(counts(learned_from), size)
    loss = words.loss(counts(text))
    pieces = PATTERNS["words"].split(text)
    lost = [piece for piece, number in zip(pieces, words.encode(text), strict=True) if number == 0]
    assert loss.lost_words == sum(not piece.isspace() for piece in lost)
    assert loss.lost_characters == sum(map(len, lost))
    assert loss.words == sum(not piece.isspace() for piece in pieces)
    assert loss.characters == len(text)


@given(TEXT, st.text(max_size=20), st.integers(256, 262))
def test_characters_with_byte_fallback_lose_nothing(learned_from, text, size):
    characters = CharacterVocabulary.learn(counts(learned_from), size)
    assert characters.decode(characters.encode(text)) == text


@given(TEXT, TEXT, st.integers(256, 262))
def test_the_two_spaces_are_counted_as_they_are_encoded(learned_from, text, size):
    characters = CharacterVocabulary.learn(counts(learned_from), size)
    ids, tokens = characters.encode(text), characters.count(counts(text))
    assert tokens.fallback_bytes == sum(number < 256 for number in ids)
    assert tokens.characters == sum(number >= 256 for number in ids)
    assert tokens.tokens == len(ids)


def test_without_room_for_characters_all_are_bytes():
    characters = CharacterVocabulary.learn(counts("가가"), 256)
    assert characters.encode("가") == [0xEA, 0xB0, 0x80]


def test_a_vocabulary_without_room_for_the_bytes_is_refused():
    with pytest.raises(InputError, match="expected at least 256"):
        CharacterVocabulary.learn({}, 255)
