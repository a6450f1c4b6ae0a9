"""Classes of code points: what no atom tells apart, and nothing else; what an atom matches is the module's to say."""

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from research.tokenizers.automaton.classes import END, alphabet, can_be_asked, matches

ATOMS = ("a", ".", r"\s", r"\w", r"\p{L}", r"\p{Lu}", r"\P{N}", r"[^\s\p{L}]", "(?i:s)", "(?i:K)", r"(?i:\p{Lu})", "가")
LETTERS = alphabet(ATOMS)

characters = st.characters(exclude_categories=["Cs"]) | st.sampled_from(
    "aAsSſkK\u212a \n\x85\u2028가힣１½ǅ\U0010ffff\ud7ff\ue000"
)


def matching(character):
    return tuple(regex.fullmatch(atom, character) is not None for atom in ATOMS)


@given(characters)
def test_an_atom_has_the_classes_of_the_characters_that_the_module_matches(character):
    kind = int(LETTERS.classes[ord(character)])
    assert tuple(bool(LETTERS.members[atom] >> kind & 1) for atom in ATOMS) == matching(character)


@given(characters, characters)
def test_two_characters_are_of_one_class_exactly_if_every_atom_matches_both_or_neither(one, other):
    same = LETTERS.classes[ord(one)] == LETTERS.classes[ord(other)]
    assert same == (matching(one) == matching(other))


def test_case_is_ignored_as_the_module_ignores_it():
    for atom, folded in (("(?i:s)", "sSſ"), ("(?i:K)", "kK\u212a")):
        kinds = {int(LETTERS.classes[ord(character)]) for character in folded}
        assert sum(1 << kind for kind in kinds) == LETTERS.members[atom]


def test_no_character_is_of_the_class_of_the_end():
    assert LETTERS.classes.shape == (0x110000,)
    assert LETTERS.classes.min() > END
    assert LETTERS.classes.max() == LETTERS.size - 1
    assert not any(members >> END & 1 for members in LETTERS.members.values())


def test_there_are_as_many_classes_as_a_byte_can_number():
    many = [chr(code) for code in range(0x4E00, 0x4E00 + 253)]
    assert alphabet(many).size == 255
    assert alphabet([*many, "a"]) is None
    assert alphabet([f"[{character}a]" for character in many] + ["b", "c", "d"]) is None


@pytest.mark.parametrize("atom", ["a", ".", r"\s", "[^a]", "[\ud7fe-\ue001]", "[\U0010fffe-\U0010ffff]"])
def test_what_an_atom_matches_is_known_of_every_character(atom):
    found = matches(atom)
    codes = (0, 9, 97, 98, 0xD7FF, 0xE000, 0xE001, 0xE002, 0x10FFFD, 0x10FFFE, 0x10FFFF)
    assert [bool(found[code]) for code in codes] == [bool(regex.fullmatch(atom, chr(code))) for code in codes]
    assert np.count_nonzero(found[:256]) == sum(bool(regex.fullmatch(atom, chr(code))) for code in range(256))


def test_the_module_is_asked_about_few_atoms():
    hangul = [chr(code) for code in range(0xAC00, 0xAC00 + 250)]
    assert can_be_asked(hangul)
    assert can_be_asked(f"(?i:{letter})" for letter in hangul[:52])
    assert can_be_asked(["[" + "".join(hangul) + "]", *hangul])
    assert not can_be_asked(f"(?i:{letter})" for letter in hangul)
    assert not can_be_asked(["[" + "".join(hangul * 10) + "]"])
