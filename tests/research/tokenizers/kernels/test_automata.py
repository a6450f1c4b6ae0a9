"""An automaton makes the pieces that the `regex` module makes: of published regexes, of random ones, on any page."""

import functools
import itertools
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pieces import TRICKY, as_documents, kernel_ends, regex_ends, split, texts
from regexes import REAL, regexes

from research.tokenizers.kernels import patterns as patterns_module
from research.tokenizers.kernels.encoder import Encoder
from research.tokenizers.kernels.patterns import scanned
from research.tokenizers.kernels.shares import encode_on_threads
from research.tokenizers.pretokenize import RegexPattern

real = pytest.mark.parametrize("name", REAL)

#: Few characters, so that alternatives meet; among them U+017F and U+212A, which are s and k where case is ignored.
close_texts = st.text("aabbsS1 '\n", max_size=14) | st.text(TRICKY + "kK\u212aIİıǆǅ/", max_size=14)

#: Regexes that only the module follows, and why.
OUTSIDE = {
    "looks back": r"(?<=a)b|\s",
    "looks two characters ahead": r"\w(?!ab)|\s",
    "refers to a group": r"(a|b)\1|.",
    "word border": r"\b\w+|.",
    "begin of text": r"^\w|.",
    "atomic group": r"(?>a|ab)c|.",
    "possessive group": r"(?:ab|a)++b|.",
    "set of another version": r"(?V1)[[a-z]--[b]]+|.",
    "flag": r"(?s).+?b|.",
    "empty rounds": r"(?:a|\b)*b|(?:a?)*b|.",
    "end before a line feed": r"\s+$|\S+|\s",
    "thousands of states": r"[ab]*a[ab]{13}|.",
    "thousands of characters ahead": r"a{2000}b|a",
    "fuzzy": r"(?:abc){e<=1}|.",
    "any character, or a cluster": r"\X",
    "no property": r"\pl+|\p{,3}|.",
    "negations that the module joins": r"[^a]|[^b]",
    "other cases that the module joins": r"(?i:\p{L}|\p{Lt})",
    "a beginning that the module does not find": r"(?i:'s)|\P{Lu}",
    "hundreds of letters in any case": "(?i:" + "|".join(map(chr, range(0xAC00, 0xACFA))) + ")",
}


def own(regex):
    return RegexPattern(regex, "installed")


@real
@given(st.lists(texts | close_texts, max_size=4), st.sampled_from([3, 16, 1 << 10]))
def test_published_regexes_cut_any_texts_as_the_module_does_on_pages_of_any_size(name, texts, size):
    pattern = own(REAL[name])
    assert split(texts, pattern, size) == [pattern.split(text) for text in texts]


@pytest.mark.parametrize("examples", [50, pytest.param(3000, marks=pytest.mark.slow)])
def test_any_regex_cuts_any_texts_as_the_module_does_on_pages_of_any_size(examples):
    followed = 0

    @settings(max_examples=examples)
    @given(regexes, st.lists(close_texts, min_size=1, max_size=3), st.sampled_from([3, 8, 1 << 10]))
    def check(regex, texts, size):
        nonlocal followed
        pattern = own(regex)
        followed += scanned(pattern) is not None
        assert split(texts, pattern, size) == [pattern.split(text) for text in texts]

    check()
    assert followed > examples // 2


@pytest.mark.parametrize("examples", [50, pytest.param(3000, marks=pytest.mark.slow)])
def test_where_any_regex_allows_a_cut_the_module_splits_the_parts_as_the_whole(examples):
    cuts = 0

    @settings(max_examples=examples)
    @given(regexes, close_texts, close_texts)
    def check(regex, left, right):
        nonlocal cuts
        pattern, scanner = own(regex), scanned(own(regex))
        if scanner and left and right and scanner.cuts[tuple(scanner.classes[[ord(left[-1]), ord(right[0])]])]:
            cuts += 1
            assert pattern.split(left + right) == pattern.split(left) + pattern.split(right)

    check()
    assert cuts > examples // 20


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        *(
            (name, "a", " ")
            for name in ("qwen2", "llama3", "o200k", "cl100k, possessive", "gpt2, possessive", "korean")
        ),
        ("words and what follows", " ", "a"),
        ("digits from the left", "a", "1"),
        ("lines", "\n", "a"),
        ("letters alone", "1", "a"),
    ],
)
def test_ordinary_text_can_be_cut(name, before, after):
    scanner = scanned(own(REAL[name]))
    assert scanner.cuts[scanner.classes[ord(before)], scanner.classes[ord(after)]]


@real
def test_where_a_published_regex_allows_a_cut_every_short_text_is_split_as_its_parts(name):
    pattern, scanner = own(REAL[name]), scanned(own(REAL[name]))
    by_module = functools.cache(pattern.split)
    alphabet = "aSsé1 \n'/\""
    for left, right in itertools.product(alphabet, repeat=2):
        if scanner.cuts[scanner.classes[ord(left)], scanner.classes[ord(right)]]:
            for before, after, next_one in itertools.product(["", *alphabet], repeat=3):
                first, second = before + left, right + after + next_one
                assert by_module(first + second) == by_module(first) + by_module(second)


@pytest.mark.slow
@pytest.mark.parametrize("around", [("", "a"), ("1", "1"), (" ", " "), ("'", "s")])
@pytest.mark.parametrize("name", ["qwen2", "o200k", "cl100k, possessive", "korean"])
def test_every_code_point_is_split_as_by_the_module_between_others(name, around):
    before, after = around
    codes = (code for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    text = "".join([before + chr(code) + after for code in codes])
    assert np.array_equal(kernel_ends(text, own(REAL[name])), regex_ends(text, own(REAL[name])))


@real
def test_a_long_text_is_split_as_by_the_module_on_pages_of_any_size(name, sample_text):
    pattern = own(REAL[name])
    for size in (1 << 6, 1 << 9, 1 << 17):
        once = pattern.split(sample_text)
        assert split([sample_text, "", sample_text], pattern, size) == [once, [], once]


@pytest.mark.slow
@real
@pytest.mark.parametrize("folder", ["flores", "udhr", "logs", "json", "english"])
def test_real_files_are_split_as_by_the_module(name, folder, shared_path):
    for path in sorted(shared_path(f"corpora/{folder}").iterdir()):
        text = path.read_bytes().decode()
        assert np.array_equal(kernel_ends(text, own(REAL[name])), regex_ends(text, own(REAL[name]))), path.name


@pytest.mark.parametrize("name", OUTSIDE)
@given(st.lists(close_texts, max_size=3))
def test_what_no_automaton_follows_exactly_is_left_to_the_module(name, texts):
    pattern = own(OUTSIDE[name])
    assert scanned(pattern) is None
    assert split(texts, pattern) == [pattern.split(text) for text in texts]


@real
@given(st.lists(texts, max_size=3), st.integers(1, 30))
def test_two_threads_make_the_ids_that_one_makes(name, texts, size):
    pattern, documents = own(REAL[name]), as_documents(texts)
    merges = np.array([(97, 97), (32, 97), (39, 115), (10, 10), (49, 49)], np.int32)

    @contextmanager
    def lend():
        yield Encoder(merges, pattern)

    expected = Encoder(merges, pattern).encode_batch(documents)
    tokens, offsets = encode_on_threads(documents, pattern, 2, lend, size)
    assert tokens.tolist() == expected[0].tolist()
    assert offsets.tolist() == expected[1].tolist()


@pytest.mark.parametrize("regex", ["a*b|a", "(?:aaa)*b|a", "a*b", r"(?:aa)*b|(?:aaa)*c|a\Z", '"[^"]*"|a'])
def test_what_is_read_in_vain_is_not_read_again_for_every_character(regex):
    """A million characters: read anew for each, they would take minutes."""
    for text in ("a" * 1_000_000, '"' + "a" * 999_999):
        ends = kernel_ends(text, own(regex))
        assert ends[-1] == len(text)
        assert split([text[:50]], own(regex)) == [own(regex).split(text[:50])]


def test_what_was_in_vain_in_one_document_or_page_is_none_in_the_next():
    pattern = own("a*b|a")
    documents = ["a" * 9, "a" * 8 + "b", "a" * 9, "aab"] * 3
    for size in (10, 24, 1 << 10):
        assert split(documents, pattern, size) == [pattern.split(text) for text in documents]


@pytest.mark.parametrize("regex", ["a*b", "(?:aaa)*b|a", "(?:aa)*b|(?:aaa)*c|a", "(?:aaa)*b|ca"])
def test_what_was_in_vain_for_one_way_to_a_place_is_not_for_another(regex):
    texts = [before + "a" * length + after for before in ("", "c", "ca") for length in range(9) for after in "abc"]
    assert split(texts, own(regex)) == [own(regex).split(text) for text in texts]


def test_few_automata_are_kept():
    for number in range(40):
        scanned(own(f"a{{{number + 1}}}|."))
    assert scanned(own("a{40}|.")) is scanned(own("a{40}|."))
    assert patterns_module._runner.cache_info().currsize <= 16
