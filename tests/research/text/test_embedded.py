"""The embedded corpus is what the documentation says: parallel, clean, of the stated size, and there once installed."""

import re
import unicodedata
from datetime import UTC

import pytest

from contracts.errors import InputError
from research.text import LANGUAGES, aligned_sentences, embedded_texts, parallel_documents

TEXTS = embedded_texts()
STRINGS = [
    string
    for text in TEXTS
    for parallel in (text.title, *(sentence.text for sentence in text.sentences))
    for string in (parallel.en, parallel.ko, parallel.de)
]


def test_there_are_at_least_forty_texts_in_the_order_of_their_names():
    names = [text.name for text in TEXTS]
    assert len(names) >= 40
    assert names == sorted(set(names))


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_a_text_has_about_six_hundred_english_characters_in_five_to_seven_sentences(text):
    assert 5 <= len(text.sentences) <= 7
    assert 550 <= len(text.prose("en")) <= 700


def test_texts_are_normalised_trimmed_lines_without_control_characters():
    assert [string for string in STRINGS if string != unicodedata.normalize("NFC", string)] == []
    assert [string for string in STRINGS if string != " ".join(string.split()) or not string] == []
    assert [s for s in STRINGS if any(unicodedata.category(c) in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp") for c in s)] == []


def test_each_language_is_written_in_its_script():
    english, korean, german = (" ".join(aligned_sentences(language)) for language in LANGUAGES)
    hangul = re.compile("[가-힣]")
    assert not hangul.search(english + german)
    assert len(hangul.findall(korean)) > 0.5 * len(korean)
    assert all(letter in german for letter in "äöüßÄÜ")
    assert all(hangul.search(sentence) for sentence in aligned_sentences("ko"))


def test_no_sentence_was_left_untranslated_or_written_twice():
    for language in LANGUAGES:
        sentences = aligned_sentences(language)
        assert len(set(sentences)) == len(sentences)
    for english, korean, german in zip(*map(aligned_sentences, LANGUAGES), strict=True):
        assert len({english, korean, german}) == 3


def test_documents_and_sentences_of_all_languages_are_aligned():
    for language in LANGUAGES:
        assert parallel_documents(language) == [
            " ".join(sentence.text[language] for sentence in text.sentences) for text in TEXTS
        ]
        assert len(aligned_sentences(language)) == sum(len(text.sentences) for text in TEXTS)
    assert aligned_sentences("ko")[0] == TEXTS[0].sentences[0].text.ko


def test_what_the_formats_need_is_there():
    for text in TEXTS:
        assert re.fullmatch("[a-z]+", text.place)
        assert text.start.tzinfo == UTC
        assert len(set(text.people)) == 2
        for sentence in text.sentences:
            assert sentence.emoji
            assert not any(character.isalpha() or character.isspace() for character in sentence.emoji)
            assert isinstance(sentence.value, int | float)
            assert re.fullmatch("[a-z]+", sentence.unit)


def test_the_emoji_cover_the_sequences_that_are_dear_in_bytes():
    emoji = "".join(sentence.emoji for text in TEXTS for sentence in text.sentences)
    for what in ("\u200d", "\ufe0f", "[\U0001f3fb-\U0001f3ff]", "[\U0001f1e6-\U0001f1ff]{2}"):
        assert re.search(what, emoji), f"no {what!r}"


def test_an_unknown_language_is_refused():
    with pytest.raises(InputError, match=r"language: expected one of en, ko, de, got 'fr'"):
        parallel_documents("fr")


def test_the_texts_are_read_once():
    assert embedded_texts() is TEXTS
