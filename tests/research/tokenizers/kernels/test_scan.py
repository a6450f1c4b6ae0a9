"""Borders from class tables are those of the regex: on every short text, every code point, every cut, every corpus."""

import functools
import itertools
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pieces import as_documents, kernel_ends, regex_ends, split, texts

from contracts.errors import InputError, ShapeError
from research.tokenizers.kernels import pages as pages_module
from research.tokenizers.kernels.pages import Pages
from research.tokenizers.kernels.patterns import scanned
from research.tokenizers.pretokenize import PATTERNS, NamedPattern, class_ranges, pretokenizer

named = pytest.mark.parametrize("name", PATTERNS)

#: One character, or a few, for every class and every letter that a rule of the pattern knows.
ALPHABETS = {
    "words": "a_1 \n.é字",
    "gpt2": "asl1 \n.'\u00a0",
    "gpt2-digits": "asl1 \n.'\u00a0",
    "cl100k": "asl1 \t\n.'",
    "none": "a \n.",
}


@named
@pytest.mark.parametrize("length", [*range(5), pytest.param(5, marks=pytest.mark.slow)])
def test_every_short_text_is_split_as_by_the_regex(name, length):
    every = ["".join(text) for text in itertools.product(ALPHABETS[name], repeat=length)]
    assert split(every, PATTERNS[name]) == [PATTERNS[name].split(text) for text in every]


def spread(codes, before, after):
    return "".join([before + chr(code) + after for code in codes if not 0xD800 <= code < 0xE000])


def around_the_edges_of_classes():
    """Where a class begins or ends in any table, and two more on either side; between edges nothing changes."""
    versions = {pattern.version for pattern in PATTERNS.values()} - {PATTERNS["none"].version}
    ranges = [span for version in versions for spans in class_ranges(version).values() for span in spans]
    edges = {edge + near for span in ranges for edge in span for near in range(-2, 3)}
    return sorted(code for code in {*range(0x3000), *edges} if 0 <= code <= sys.maxunicode)


@named
@pytest.mark.parametrize("around", [("", "a"), ("1", "1"), (" ", " "), ("!", "a"), ("\n", "\n"), ("'", "s")])
def test_code_points_at_the_edges_of_every_class_are_split_as_by_the_regex_between_others(name, around):
    text = spread(around_the_edges_of_classes(), *around)
    assert np.array_equal(kernel_ends(text, PATTERNS[name]), regex_ends(text, PATTERNS[name]))


@pytest.mark.slow
@named
def test_every_code_point_is_split_as_by_the_regex(name):
    text = spread(range(sys.maxunicode + 1), "!", "a")
    assert np.array_equal(kernel_ends(text, PATTERNS[name]), regex_ends(text, PATTERNS[name]))


@named
@given(st.lists(texts, max_size=5))
def test_any_texts_are_split_as_by_the_regex(name, texts):
    assert split(texts, PATTERNS[name]) == [PATTERNS[name].split(text) for text in texts]


@named
@given(st.lists(texts, max_size=3), st.integers(3, 24))
def test_no_size_of_page_changes_the_pieces(name, texts, size):
    assert split(texts, PATTERNS[name], size) == [PATTERNS[name].split(text) for text in texts]


@named
def test_where_two_classes_may_be_cut_any_text_splits_into_the_pieces_of_its_parts(name):
    alphabet, split_by_regex = ALPHABETS[name], functools.cache(PATTERNS[name].split)
    tables = scanned(PATTERNS[name])
    for left, right in itertools.product(alphabet, repeat=2):
        if tables.cuts[tables.classes[ord(left)], tables.classes[ord(right)]]:
            for before, after, next_one in itertools.product(["", *alphabet], repeat=3):
                first, second = before + left, right + after + next_one
                assert split_by_regex(first + second) == split_by_regex(first) + split_by_regex(second)


@pytest.mark.parametrize("name", ["words", "gpt2", "gpt2-digits", "cl100k"])
def test_ordinary_text_can_be_cut_at_its_spaces_and_line_ends(name):
    pattern = scanned(PATTERNS[name])
    for text in ("a b", "a\nb", "字。字" if name != "cl100k" else "字 字"):
        kinds = pattern.classes[[ord(character) for character in text]].tolist()
        assert pattern.cuts[kinds[0], kinds[1]]


def test_a_text_that_no_pattern_cuts_makes_its_page_larger():
    long = "a" * 1000 + "\u0301" * 3
    assert split([long, long], PATTERNS["gpt2"], size=16) == [PATTERNS["gpt2"].split(long)] * 2


def test_a_piece_that_no_page_can_hold_is_refused(monkeypatch):
    monkeypatch.setattr(pages_module, "LARGEST", 1 << 10)
    for pattern in (PATTERNS["gpt2"], pretokenizer("a+"), pretokenizer("a+(?<=a)")):
        assert split(["a" * 500], pattern, size=16)
        with pytest.raises(InputError, match="give it in parts"):
            split(["a" * 1100], pattern, size=16)


@given(st.lists(texts, max_size=4))
def test_a_regex_that_looks_back_is_split_by_the_regex_module(texts):
    pattern = pretokenizer(r"[a-z]{2}|\p{Lu}|(?<=1).")
    assert scanned(pattern) is None
    assert split(texts, pattern) == [pattern.split(text) for text in texts]


@named
@pytest.mark.slow
@pytest.mark.parametrize("folder", ["flores", "udhr", "genesis", "logs", "json", "english"])
def test_real_files_are_split_as_by_the_regex(name, folder, shared_path):
    for path in sorted(shared_path(f"corpora/{folder}").iterdir()):
        text = path.read_bytes().decode()
        assert np.array_equal(kernel_ends(text, PATTERNS[name]), regex_ends(text, PATTERNS[name])), path.name


def test_documents_stay_apart():
    assert split(["it'", "s", "", "  ", "x"], PATTERNS["gpt2"]) == [["it", "'"], ["s"], [], ["  "], ["x"]]
    assert [len(document) for document in as_documents(["가", ""])] == [3, 0]


@pytest.mark.parametrize("name", ["words", "cl100k"])
def test_pages_serve_again_after_a_text_that_made_them_larger_and_one_that_was_left_half_way(name):
    pages = Pages(PATTERNS[name], size=16)
    text = "it's 12345 \n\n x"
    once = borders(pages, [text, text])
    assert len(borders(pages, ["a" * 1000])) == 1
    next(pages.of(as_documents([text * 9])))
    assert borders(pages, [text, text]) == once


def borders(pages, texts):
    return [(page.borders[: page.pieces + 1].tolist(), page.pieces) for page in pages.of(as_documents(texts))]


def test_a_named_pattern_without_a_rule_says_where_it_is_missing():
    nameless = NamedPattern("new", r"\s+|\S+", PATTERNS["words"].version, r"[\s]+|[^\s]+")
    with pytest.raises(ShapeError, match=r"expected a rule in kernels\.patterns\._RULES"):
        scanned(nameless)
