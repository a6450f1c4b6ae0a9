"""The same text in other units: the origin's 16, FLORES's 2.39, and laws that every text keeps."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.decoder import DecoderConfig
from contracts.errors import InputError
from experiments.attention_scaling.texts import TextCost, Units, halves, text_costs, text_rows, units_for
from experiments.corpora import Slice, slices
from research.tokenizers import BPETokenizer, ByteTokenizer

TINY = DecoderConfig(vocab_size=257, d_model=16, n_layers=2, n_heads=2, n_kv_heads=1, head_dim=8, d_ff=32)


def cut(*documents: str) -> Slice:
    return Slice("some", "group", documents, "\n", documents, aligned=False)


def units() -> Units:
    return Units(BPETokenizer.train(["the cat sat on the mat, the cat sat"], 270), {"bytes again": ByteTokenizer()})


def test_constructed_texts_mark_1_9_and_16_times_the_pairs():
    costs = {text.name: text for text in text_costs([cut("one", "two")], units())}
    ratios = [costs[name].attention_ratio("characters") for name in ("all ASCII", "all Hangul", "all emoji")]
    assert ratios == [1, 9, 16]


@pytest.mark.slow
@given(documents=st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=2, max_size=5))
def test_bytes_need_between_1_and_16_times_the_pairs_of_characters(documents: list[str]):
    text = TextCost("some", "group", len("".join(documents)), len("".join(documents).encode()))
    assert 1 <= text.attention_ratio("characters") <= 16


def test_a_tokenizer_of_bytes_makes_every_ratio_one():
    cost = text_costs([cut("안녕, world", "the cat")], units())[0]
    assert cost.attention_ratio("bytes again") == 1
    assert cost.decoder_ratio("bytes again", 1000, TINY, units()) == 1


@given(characters=st.integers(1, 100_000))
def test_a_whole_decoder_lies_between_the_first_power_and_the_square(characters: int):
    emoji = text_costs([cut("one", "two")], units())[-1]
    assert 4 <= emoji.decoder_ratio("characters", characters, TINY, units()) < 16


def test_a_whole_decoder_reaches_the_square_only_with_length():
    emoji = text_costs([cut("one", "two")], units())[-1]
    short, long = (emoji.decoder_ratio("characters", n, TINY, units()) for n in (1, 10**7))
    assert short < 4.6
    assert long > 15.99


@given(documents=st.lists(st.text("ab\n", min_size=1), min_size=1, max_size=6))
def test_halves_share_out_every_character_but_the_line_breaks(documents: list[str]):
    try:
        together = "".join(halves(cut(*documents)))
    except InputError:
        return
    assert sorted(together.replace("\n", "")) == sorted("".join(documents).replace("\n", ""))


def test_halves_alternate_so_that_both_speak_of_the_whole_text():
    assert halves(cut("a", "b", "c", "d")) == ("a\nc", "b\nd")
    assert halves(cut("a\nb\nc")) == ("a\nc", "b")
    assert halves(cut("abcd\n")) == ("ab", "cd")


def test_a_text_that_cannot_be_halved_is_refused_by_name():
    with pytest.raises(InputError, match=r"halved.*at some"):
        halves(cut("a\n"))


def test_the_vocabulary_is_learned_from_the_half_that_is_not_counted():
    learned = units_for([cut("ab" * 50, "cd" * 50)], 300, []).learned
    assert len(learned.encode("ab" * 50)) < 10
    assert len(learned.encode("cd" * 50)) == 100


def test_no_folder_enters_the_results_and_equal_names_are_refused(tmp_path: Path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        units().learned.save(tmp_path / folder / "mine.json")
    found = units_for([cut("ab ab", "ab")], 300, [str(tmp_path / "one" / "mine.json"), "bytes"])
    assert list(found.given) == ["mine"]
    with pytest.raises(InputError, match="two called 'mine'"):
        units_for([cut("ab ab", "ab")], 300, [str(tmp_path / folder / "mine.json") for folder in ("one", "two")])


def test_a_text_shorter_than_one_mean_token_costs_one_position():
    cost = TextCost("a", "group", 3_000_000, 3_000_000, 1_500_000, {units().bpe: 2})
    assert cost.decoder_ratio(units().bpe, 500, TINY, units()) > 1


def test_rows_of_a_text_compare_bytes_with_every_other_unit():
    rows = text_rows(text_costs([cut("the cat", "the mat")], units()), units(), {"tiny": TINY})
    of_text = [row for row in rows if row.factors.get("slice") == "some"]
    attention = {row.factors["against"]: row.value for row in of_text if row.quantity == "attention_ratio"}
    assert list(attention) == ["characters", units().bpe, "bytes again"]
    assert attention["characters"] == attention["bytes again"] == 1
    assert attention[units().bpe] > 1


def test_korean_prose_of_flores_has_2_39_bytes_a_character_and_5_7_times_the_pairs(
    shared_path: Callable[[str], Path],
):
    (korean,) = slices([str(shared_path("corpora/flores/kor_Hang.txt"))])
    cost = text_costs([korean], Units(BPETokenizer.train(["ab"], 256), {}))[0]
    assert cost.bytes_per_character == pytest.approx(310_727 / 130_986, abs=0.02)
    assert cost.attention_ratio("characters") == pytest.approx(5.7, abs=0.1)
