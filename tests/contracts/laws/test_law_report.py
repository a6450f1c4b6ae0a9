"""The report that laws end in, and the search that they share."""

import json
import pickle
import time

import pytest
from hypothesis import strategies as st

from contracts.errors import ContractError, InputError
from contracts.laws import Effort, LawBroken, Report, assert_laws, from_encode_decode
from contracts.laws.law import Law, NotApplicable, judge
from contracts.laws.search import Search, Skip, shown

QUICK = Effort(examples=50, seconds=30.0, code_points=1024)


def below_five(limit: int, search: Search) -> str:
    """Numbers stay below five."""
    return search.smallest(st.integers(0, limit), lambda number: f"{number} is not" if number >= 5 else "")


def needs_an_even_limit(limit: int, search: Search) -> str:
    """The limit is even, which odd limits have no say in."""
    if limit % 2:
        raise NotApplicable(f"{limit} is odd")
    return search.first([limit], lambda limit: "")


def falls_over(limit: int, search: Search) -> str:
    """Nothing is divided by zero."""
    return str(limit // 0)


LAWS = (Law(below_five), Law(needs_an_even_limit), Law(falls_over, needs=("below-five",)))


def verdicts(limit: int, **names: tuple[str, ...]) -> dict[str, str]:
    return {outcome.law: outcome.verdict for outcome in judge(LAWS, limit, QUICK, **names)}


def test_a_law_is_named_by_its_function_and_stated_by_its_docstring():
    assert (LAWS[0].name, LAWS[0].statement) == ("below-five", "Numbers stay below five.")


def test_a_law_is_kept_broken_or_not_applicable_and_silent_where_what_it_needs_is_broken():
    assert verdicts(4) == {"below-five": "kept", "needs-an-even-limit": "kept", "falls-over": "broken"}
    assert verdicts(9) == {
        "below-five": "broken",
        "needs-an-even-limit": "not applicable",
        "falls-over": "not applicable",
    }


def test_only_and_skip_choose_laws_by_name_and_refuse_a_name_that_none_has():
    assert list(verdicts(4, only=("below-five",))) == ["below-five"]
    assert "below-five" not in verdicts(4, skip=("below-five",))
    with pytest.raises(InputError, match=r"law: expected one of below-five, .* got 'below'"):
        verdicts(4, only=("below",))


def test_a_report_reads_as_lines_and_as_data():
    report = Report("nine", judge(LAWS, 9, QUICK), remark="tried at noon")
    assert str(report).splitlines() == [
        "nine: 1 broken, 2 not applicable (tried at noon)",
        "  broken          below-five                          5 is not",
        "                  the law: Numbers stay below five.",
        "  not applicable  needs-an-even-limit                 9 is odd",
        "  not applicable  falls-over                          presupposes below-five",
    ]
    assert json.loads(json.dumps(report.as_dict()))["outcomes"][0]["detail"] == "5 is not"


@pytest.mark.slow
def test_a_broken_law_fails_a_test_in_one_line_with_the_whole_report():
    shouting = from_encode_decode(lambda text: list(text.upper().encode()), lambda ids: bytes(ids).decode(), 256)
    with pytest.raises(AssertionError, match=r"decode\(encode\('a'\)\) is 'A'") as caught:
        assert_laws(shouting, effort=QUICK)
    assert isinstance(caught.value, LawBroken)
    assert isinstance(caught.value, ContractError)
    assert [outcome.law for outcome in caught.value.report.broken] == ["round-trip"]
    assert pickle.loads(pickle.dumps(caught.value)).report == caught.value.report


def test_two_searches_say_the_same():
    def once() -> list[list[int]]:
        drawn: list[list[int]] = []
        Search(QUICK).smallest(st.lists(st.integers()), lambda example: drawn.append(example) or "")
        return drawn

    assert once() == once()


def test_a_text_that_is_always_tried_is_shortened():
    said = Search(Effort(examples=1)).smallest(
        st.just(""), lambda text: shown(text) if "x" in text and "y" in text else "", first=["a", "abxcdefyghi"]
    )
    assert said == "'xy'"


def test_an_example_that_raises_is_a_counterexample_unless_it_raises_skip():
    def inverse(number: int) -> str:
        if number < 0:
            raise Skip
        return "" if 1 / number else "zero"

    search = Search(QUICK)
    assert search.smallest(st.integers(-5, 5), inverse) == "0 raises ZeroDivisionError: division by zero"
    assert Search(QUICK).smallest(st.integers(-5, -1), inverse) == ""


def test_a_law_that_could_judge_no_example_does_not_apply():
    def about_nothing(subject: None, search: Search) -> str:
        """Of what can't be looked at, everything is true."""

        def skip(number: int) -> str:
            raise Skip

        return search.smallest(st.integers(), skip)

    (outcome,) = judge((Law(about_nothing),), None, QUICK)
    assert (outcome.verdict, outcome.detail) == ("not applicable", "no example could be judged")


def test_a_search_ends_in_time_with_what_it_has_found():
    def slow(number: int) -> str:
        time.sleep(0.01)
        return "nine" if number == 9 else ""

    begun = time.monotonic()
    search = Search(Effort(examples=100_000, seconds=0.3))
    assert search.smallest(st.integers(10), slow, first=[9]) == "nine"
    assert time.monotonic() - begun < 5
    assert "ended after 0.3 s" in search.account()


def test_of_a_block_that_fails_the_shortest_part_is_found_and_what_was_seen_is_counted():
    def has_xy(text: str) -> str:
        return shown(text) if "xy" in text else ""

    assert Search(QUICK).smallest(st.just(""), has_xy, blocks=["abc", "dexyz"]) == "'xy'"
    clean = Search(Effort(examples=1, code_points=4))
    assert clean.smallest(st.just(""), has_xy, blocks=["abc", "def", "ghi"]) == ""
    assert clean.account() == "6 code points, 3 examples"


def test_of_all_texts_that_fail_the_shortest_is_told_and_of_equal_ones_the_first_in_unicode():
    said = Search(QUICK).smallest(
        st.just(" "), lambda text: shown(text) if text != text.strip() else "", first=["ab\t"], blocks=["ab\n"]
    )
    assert said == r"'\t'"


def test_an_effort_of_nothing_is_refused():
    with pytest.raises(InputError, match="at least one example"):
        Effort(examples=0)


def test_what_is_shown_is_one_short_line_of_ascii():
    assert shown("e\u0301\n") == r"'e\u0301\n'"
    assert len(shown("x" * 1000)) == 100
