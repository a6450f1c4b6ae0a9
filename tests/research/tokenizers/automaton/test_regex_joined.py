"""What the module joins into one set, and so matches otherwise than it says, is known."""

import pytest
import regex

from research.tokenizers.automaton import automaton
from research.tokenizers.automaton.joined import is_as_it_says
from research.tokenizers.automaton.syntax import parse

#: A regex, another that matches what it says, and a text in which the module makes a difference between them.
JOINED = [
    (r"[^a]|[^i]", r"[\s\S]", "ai"),
    (r"x[^a]|x[^i]", r"x[\s\S]", "xaxi"),
    (r"(?=[^a]|[^i])\w", r"\w", "ai"),
    (r"(?i:\p{L}|a)", r"\p{L}", "\u0345"),
    (r"(?i:\p{Lt}|a)", r"[\p{Lu}\p{Ll}\p{Lt}]", "s"),
    (r"(?i:'s)|\P{Lu}", r"'[sS\u017f]|\P{Lu}", "b"),
    (r"(?i:\pN)a|[^\p{Lu}]", r"\pNa|[^\p{Lu}]", "b"),
]


@pytest.mark.parametrize(("pattern", "meant", "text"), JOINED)
def test_what_the_module_joins_into_another_set_has_no_automaton(pattern, meant, text):
    assert regex.findall(pattern, text) != regex.findall(meant, text)
    assert automaton(pattern) is None


@pytest.mark.parametrize(
    "pattern",
    [
        r"""'[^']*'|"[^"]*"|\s""",
        r"[^a]|[ai]|[^a]b",
        r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|[^\s\p{L}\p{N}]+",
        r"(?i:[sdmt]|ll)|\s|\S",
        r"a(?i:\p{N})|[^\p{Lu}]",
        r"(?i:a)?\P{Lu}*",
        "",
    ],
)
def test_what_the_module_joins_as_it_says_is_followed(pattern):
    assert automaton(pattern) is not None


def test_alike_or_unlike_negations_in_the_same_place_are_told_apart():
    assert is_as_it_says(parse("[^a]x|[^b]y|[^a]"), [])
    assert not is_as_it_says(parse("[^a]x|[^b]{1}|(?:y|[^c]a*)*[^a](?=x)"), [])
