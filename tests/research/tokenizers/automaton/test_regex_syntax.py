"""A regex is read as the tree it stands for, or not at all."""

import pytest

from research.tokenizers.automaton.syntax import Ahead, Atom, Choice, End, Repeat, Sequence, can_be_empty, parse

A, B, SPACES = Atom("a"), Atom("b"), Atom(r"\s")


@pytest.mark.parametrize(
    ("regex", "tree"),
    [
        ("", Sequence(())),
        ("ab|b", Choice((Sequence((A, B)), B))),
        ("a*b+?", Sequence((Repeat(A, 0, None, ""), Repeat(B, 1, None, "?")))),
        ("a{2}b{,3}", Sequence((Repeat(A, 2, 2, ""), Repeat(B, 0, 3, "")))),
        ("a{2,}+", Repeat(A, 2, None, "+")),
        ("(a|(?:b))?", Repeat(Choice((A, B)), 0, 1, "")),
        ("(?i:a[b-d])b", Sequence((Sequence((Atom("(?i:a)"), Atom("(?i:[b-d])"))), B))),
        (r"\s+(?!\S)", Sequence((Repeat(SPACES, 1, None, ""), Ahead((Atom(r"\S"),), wanted=False)))),
        (r"a(?=b|\s)", Sequence((A, Ahead((B, SPACES), wanted=True)))),
        (r"a\Z|b$", Choice((Sequence((A, End(False))), Sequence((B, End(True)))))),
        (r"\pN\p{^Lu}\P{gc=L_}", Sequence(tuple(map(Atom, [r"\pN", r"\p{^Lu}", r"\P{gc=L_}"])))),
        (r"[^\r\n\p{L}]\x41\u00e9\.-", Sequence(tuple(map(Atom, [r"[^\r\n\p{L}]", r"\x41", r"\u00e9", r"\.", "-"])))),
    ],
)
def test_a_regex_is_read_as_its_tree(regex, tree):
    assert parse(regex) == tree


@pytest.mark.parametrize(
    "regex",
    [
        r"(?<=a)b",
        r"(?<!a)b",
        r"(?>a)",
        r"(?P<n>a)",
        r"(?i)a",
        r"(?s:.)",
        r"(a)\1",
        r"\ba",
        r"^a",
        r"\Ka",
        r"\X",
        r"\R",
        r"\N{DIGIT ONE}",
        r"\pl",
        r"\PA",
        r"\p{,3}",
        r"\p{e<=1}",
        r"\p{L!}",
        r"\p{Script= }",
        r"[\p{]}]",
        r"\L<words>",
        r"(?!ab)a",
        r"(?!a+)a",
        r"(?=)a",
        r"[[:alpha:]]",
        r"[a-z--[b]]",
        r"[a||b]",
        r"[]a]",
        r"[^]a]",
        r"a{e<=1}",
        r"a{}",
        r"a{0}",
        r"a{,}",
        r"a+*",
        r"a{2}{3}",
        r"(?:ab)++",
        r"(?:a*)+",
        r"(?:a|)?",
        r"(?=a)*",
        r"\Z?",
        r"a]",
        r"a}",
        "(?:" * 51 + "a" + ")" * 51,
    ],
)
def test_what_is_outside_or_in_doubt_is_not_read(regex):
    assert parse(regex) is None


def test_groups_are_read_to_a_bounded_depth():
    assert parse("(?:" * 50 + "a" + ")" * 50) == A


@pytest.mark.parametrize(
    ("regex", "empty"),
    [
        ("a", False),
        ("", True),
        ("a*", True),
        ("a+", False),
        ("a*b", False),
        ("a*b*", True),
        ("a|b?", True),
        (r"\Z", True),
    ],
)
def test_whether_nothing_can_be_matched_is_known(regex, empty):
    assert can_be_empty(parse(regex)) is empty
