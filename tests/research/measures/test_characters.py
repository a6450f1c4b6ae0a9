"""Code points, bytes, emoji and normal forms, by value and by law."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ContractError
from research.measures import EMOJI, check_length_law, normalized
from research.tokenizers import ByteTokenizer


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",))), max_size=5))
def test_bytes_lie_between_one_and_four_times_the_characters(documents):
    assert check_length_law(documents) == len(documents)


class Merging(ByteTokenizer):
    """Breaks the law from below: one token whatever the text."""

    def encode(self, text):
        return super().encode(text[:1])


def test_a_document_that_breaks_the_law_is_an_error_with_its_number():
    with pytest.raises(ContractError, match="document 1: 1 byte tokens for 2 characters"):
        check_length_law(["a", "ab"], Merging())


def test_annyeong_is_two_characters_and_six_bytes():
    assert len("안녕") == 2
    assert len(ByteTokenizer().encode("안녕")) == 6


@pytest.mark.parametrize(
    ("kind", "code_points", "size"),
    [
        ("one code point", 1, 4),
        ("heart with a variation selector", 2, 6),
        ("keycap", 3, 7),
        ("skin tone", 2, 8),
        ("flag of two letters", 2, 8),
        ("family of four, joined", 7, 25),
    ],
)
def test_an_emoji_is_several_code_points_and_more_bytes(kind, code_points, size):
    assert len(EMOJI[kind]) == code_points
    assert len(ByteTokenizer().encode(EMOJI[kind])) == size


def test_the_grinning_face_is_the_four_bytes_of_the_standard():
    assert ByteTokenizer().encode(EMOJI["one code point"]).tolist() == [240, 159, 152, 128]


def test_a_syllable_is_three_bytes_composed_and_a_letter_each_decomposed():
    (composed,), (apart,) = normalized(["가"], "NFC"), normalized(["가"], "NFD")
    assert composed.encode().hex() == "eab080"
    assert [f"U+{ord(c):04X}" for c in apart] == ["U+1100", "U+1161"]
    assert normalized([apart], "NFC") == (composed,)


def test_korean_flores_in_nfd_is_2_26_times_its_nfc_bytes(shared_path):
    text = shared_path("corpora/flores/kor_Hang.txt").read_text(encoding="utf-8")
    (composed,), (apart,) = normalized([text], "NFC"), normalized([text], "NFD")
    assert len(apart.encode()) / len(composed.encode()) == pytest.approx(2.26, abs=0.005)
