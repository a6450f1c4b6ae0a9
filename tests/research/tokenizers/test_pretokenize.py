"""Pre-tokens: named patterns mean the same for ever, and equal their reference implementations today."""

import functools
import re
import sys

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from published_patterns import CL100K

from contracts.errors import InputError
from research.tokenizers import PATTERNS, BPETokenizer, ByteTokenizer
from research.tokenizers.pretokenize import class_ranges, pretokenizer

# Letters that fold to ASCII, digits of three kinds, spaces that engines disagree about, marks, joiners, emoji.
NASTY = "aSſ'strevdmlLE_ 1２½Ⅷ²\n\r\t\x1c\x85\u00a0\u2028\u3000.!?가ㅏé\u0301ह\u093f😀\u200d\U0001f1e6\u0558\U00031350"
nasty_texts = st.text(alphabet=NASTY, max_size=24)
NASTY_BYTES = sorted({*b"aSstrevdmlLE' 1.\n\r", *"가ſ２\u00a0".encode()})


def test_words_are_words_spaces_and_signs():
    assert PATTERNS["words"].split("Hallo Welt!") == ["Hallo", " ", "Welt", "!"]


def test_gpt2_attaches_a_space_to_the_word():
    assert PATTERNS["gpt2"].split("Hallo Welt!  it's 42") == ["Hallo", " Welt", "!", " ", " it", "'s", " 42"]


def test_cl100k_cuts_numbers_by_three_and_ignores_case():
    assert PATTERNS["cl100k"].split("12345 IT'S\n\nnew") == ["123", "45", " IT", "'S", "\n\n", "new"]


def test_cl100k_takes_the_long_s_for_an_s_and_the_last_spaces_for_one_piece():
    assert PATTERNS["cl100k"].split("x'ſy") == ["x", "'ſ", "y"]
    assert PATTERNS["cl100k"].split("a\n  ") == ["a", "\n  "]
    assert PATTERNS["cl100k"].split("a\n  b") == ["a", "\n", " ", " b"]


def test_gpt2_digits_sets_each_digit_apart():
    assert PATTERNS["gpt2-digits"].split("in  12 x") == ["in", "  ", "1", "2", " x"]


def test_none_is_one_piece():
    assert PATTERNS["none"].split("a b\nc") == ["a b\nc"]
    assert PATTERNS["none"].split("") == []


@pytest.mark.parametrize("pattern", [*PATTERNS, r"\d", "b*", "(a)(b)?", r"(?<=a)\Kb|c"])
@given(st.one_of(nasty_texts, st.text(alphabet="abc1 ", max_size=12)))
def test_pieces_are_never_empty_and_joined_are_the_text(pattern, text):
    pieces = pretokenizer(pattern).split(text)
    assert "".join(pieces) == text
    assert all(pieces)


def test_text_between_matches_is_a_piece_of_its_own():
    assert pretokenizer(r"\d").split("ab12c") == ["ab", "1", "2", "c"]


@pytest.mark.parametrize(("kind", "count"), [("word", 133_548), ("space", 29)])
def test_words_has_the_classes_of_python_3_11(kind, count):
    ranges = class_ranges("python-re-unicode-14.0")[kind]
    assert sum(high - low + 1 for low, high in ranges) == count


@pytest.mark.parametrize(
    ("table", "kind", "count"),
    [
        ("tiktoken-0.14", "letter", 141_028),
        ("tiktoken-0.14", "number", 1_911),
        ("tiktoken-0.14", "space", 25),
        ("tokenizers-0.23", "letter", 141_028),
        ("tokenizers-0.23", "number", 1_924),
        ("tokenizers-0.23", "space", 25),
    ],
)
def test_the_other_tables_have_the_classes_of_unicode_16(table, kind, count):
    assert sum(high - low + 1 for low, high in class_ranges(table)[kind]) == count


def test_file_and_record_separators_are_spaces_to_words_alone():
    assert PATTERNS["words"].split("\x1c\x1f ") == ["\x1c\x1f "]
    assert PATTERNS["gpt2"].split("\x1c ") == ["\x1c", " "]


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="other interpreters have another Unicode")
@given(st.one_of(nasty_texts, st.text()))
def test_words_equals_re_of_python_3_11(text):
    assert PATTERNS["words"].split(text) == re.findall(PATTERNS["words"].regex, text)


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "gpt2-digits"])
@given(st.one_of(nasty_texts, st.text()))
def test_equals_oniguruma(name, text):
    tokenizers = pytest.importorskip("tokenizers")
    pre = tokenizers.pre_tokenizers
    split = pre.Split(tokenizers.Regex(PATTERNS[name].regex), "isolated")
    if name == "gpt2-digits":
        gpt2 = pre.Split(tokenizers.Regex(PATTERNS["gpt2"].regex), "isolated")
        split = pre.Sequence([pre.Digits(individual_digits=True), gpt2])
    assert PATTERNS[name].split(text) == [piece for piece, _ in split.pre_tokenize_str(text)]


@pytest.mark.parametrize("name", ["gpt2", "cl100k"])
@given(st.one_of(nasty_texts, st.text()))
def test_ids_equal_tiktokens_with_its_own_pattern(name, text):
    ours, both_of_theirs = ours_and_theirs(name)
    for theirs in both_of_theirs:
        assert ours.encode(text).tolist() == theirs.encode_ordinary(text)


@functools.cache
def ours_and_theirs(name):
    """Merges of every two neighbours show a border wherever it falls; theirs by the published pattern and by ours."""
    tiktoken = pytest.importorskip("tiktoken")
    public = pytest.importorskip("tiktoken_ext.openai_public")
    originals = {"gpt2": public.r50k_pat_str, "cl100k": CL100K}
    ours = BPETokenizer([(left, right) for left in NASTY_BYTES for right in NASTY_BYTES], name)
    ranks = {token: token_id for token_id, token in enumerate(ours.vocabulary.tokens)}
    patterns = (originals[name], PATTERNS[name].regex)
    return ours, [tiktoken.Encoding("probe", pat_str=p, mergeable_ranks=ranks, special_tokens={}) for p in patterns]


@given(nasty_texts)
def test_a_regex_has_the_meaning_of_the_regex_module(text):
    pattern = r"\w+|\s+"
    pieces = pretokenizer(pattern).split(text)
    assert [piece for piece in pieces if regex.fullmatch(pattern, piece)] == regex.findall(pattern, text)


@pytest.mark.parametrize("pattern", ["gpt-2", "", "word", "cl100k_base"])
def test_a_misspelled_name_is_refused(pattern):
    with pytest.raises(InputError, match="words, gpt2"):
        pretokenizer(pattern)


NO_REGEXES = {
    "repeated too often to be read as a number": "a{" + "0" * 5000 + "1}",
    "two versions": "(?V0)(?V1)a",
    "two encodings": "(?a)(?u)a",
    "a cost without a limit": "a{1d+i<=}",
    "groups too deep": "(" * 3000 + "a" + ")" * 3000,
    "half a character": "\ud800+",
}


@pytest.mark.parametrize("pattern", ["(", "[a", "(?r)a+", None, 3, *NO_REGEXES.values()])
def test_what_is_no_usable_regex_is_refused(pattern):
    with pytest.raises(InputError, match="pattern: expected"):
        pretokenizer(pattern)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "cl100k"])
def test_the_row_of_all_characters_equals_oniguruma(name):
    tokenizers = pytest.importorskip("tokenizers")
    text = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(PATTERNS[name].regex), "isolated")
    assert PATTERNS[name].split(text) == [piece for piece, _ in split.pre_tokenize_str(text)]


@pytest.mark.parametrize("tokenizer", [BPETokenizer([], "gpt2"), ByteTokenizer()])
def test_a_tokenizer_shows_its_pretokens_and_refuses_what_is_no_text(tokenizer):
    assert "".join(tokenizer.pretokens("it's  here")) == "it's  here"
    assert BPETokenizer([], "gpt2").pretokens("it's  here") == ["it", "'s", " ", " here"]
    with pytest.raises(InputError, match="at character 1"):
        tokenizer.pretokens("a\ud800")
