"""An automaton's tables: what waits, what has matched, how far ahead is read, and where a text can be cut."""

import pytest

from research.tokenizers.automaton import automaton
from research.tokenizers.automaton.classes import END
from research.tokenizers.automaton.tables import DEAD, START


def run(compiled, text):
    """Whether a match ends before each character of `text` and before its end, and whether the run goes on."""
    state, accepted = START, []
    for character in text:
        kind = compiled.classes[ord(character)]
        accepted.append(bool(compiled.tables.accepts[state, kind]))
        state = compiled.tables.follows[state, kind]
        if state == DEAD:
            return accepted, False
    accepted.append(bool(compiled.tables.accepts[state, END]))
    return accepted, True


@pytest.mark.parametrize(
    ("regex", "text", "accepted", "goes_on"),
    [
        (r"\s+(?!\S)|\w", "  ", [False, True, True], True),
        (r"\s+(?!\S)|\w", " a", [False, False], False),
        (r"\s+(?!\S)|\w", "aa", [False, True], False),
        ("a|ab", "ab", [False, True], False),  # the first that matches, though the second is longer
        ("ab|a", "ab", [False, True, True], True),
        ("a+?", "aa", [False, True], False),
        ("a*", "aa", [False, True, True], True),  # no match that is empty
        ("a++|ab", "aab", [False, False, True], False),
        (r"a\Z|ab", "a", [False, True], True),
        (r"a\Z|ab", "ab", [False, False, True], True),
        ("a{2,3}", "aaaa", [False, False, True, True], False),
    ],
)
def test_a_run_reports_matches_in_the_order_of_alternatives(regex, text, accepted, goes_on):
    assert run(automaton(regex), text) == (accepted, goes_on)


@pytest.mark.parametrize(("regex", "nothing"), [("a*", "ab"), ("(?=a)", "a"), ("(?!a)", "b"), ("a", ""), ("b?a", "")])
def test_where_nothing_is_matched_is_known_by_the_next_character(regex, nothing):
    compiled = automaton(regex)
    assert [c for c in "ab" if compiled.tables.nothing[compiled.classes[ord(c)]]] == list(nothing)


@pytest.mark.parametrize(
    "regex", [r"\s+$", "[ab]*a[ab]{13}", "a{5000}", "(?:a{40}){40}b", "a{70}b|a", r"(?:\w{33})*\.|\w"]
)
def test_what_is_not_exact_or_not_small_has_no_automaton(regex):
    assert automaton(regex) is None


def test_a_dollar_is_followed_where_no_line_feed_can_come_before_it():
    assert automaton(r"\s++$|\s") is not None
    assert automaton(r"\w+$|\w") is None


@pytest.mark.parametrize(
    ("regex", "text"), [("a*b|a", "aa"), ('"[^"]*"|.', '"a'), (r"\s*[\r\n]+|\s+(?!\S)|\s+", "\n  ")]
)
def test_a_state_that_can_read_for_ever_in_vain_is_doubtful(regex, text):
    compiled = automaton(regex)
    state = START
    for character in text:
        state = compiled.tables.follows[state, compiled.classes[ord(character)]]
    assert state in compiled.doubtful


@pytest.mark.parametrize("regex", [r"\w+|\s+", r"a{60}b|a", r"\s+(?!\S)|\s+|\S+", "(?:ab)+|.", ".*\n|.+"])
def test_where_every_vain_look_is_short_no_state_is_doubtful(regex):
    assert automaton(regex).doubtful == ()


@pytest.mark.parametrize(
    ("regex", "yes", "no"),
    [
        (r"\w+|\s+|[^\w\s]", ["a ", " a", "!!", "a!"], ["aa", "  "]),
        (r" ?\w+|\s", ["a ", "a\n"], [" a", "aa"]),
        (r"\w+(?=\s)|\w|\s", [" a", "  "], ["a ", "aa"]),  # by a cut the word would come to its end
        (r"\w+(?!\s)|\w|\s", [" a"], ["a ", "aa"]),
        (r"[a-z]+", ["a1", "1a", "a "], ["11", "aa", "1 "]),  # what is unmatched is one piece
        (r"[a-z]{2}|1", ["11", "a1", "1a"], ["aa", " a", "a "]),  # 1 is always matched; what else is not, is one piece
        (r"a(?=b)|b", ["bb", "ba", "b ", " b"], ["ab", " a", "a "]),  # a may be unmatched, after a blank that is
        (r"[a-z]*", ["a1", "11", "1a"], ["aa"]),
        (r'"[^"]*"|\w|\s', [], ["aa", "a ", " a", '"a', 'a"']),
        (r"a(?=b)b|ab|b|c|a", ["bc", "cb", "ca"], ["ab"]),
    ],
)
def test_text_can_be_cut_where_both_sides_decide_alone(regex, yes, no):
    compiled = automaton(regex)
    found = [pair for pair in [*yes, *no] if compiled.cuts[tuple(compiled.classes[[ord(pair[0]), ord(pair[1])]])]]
    assert found == yes
