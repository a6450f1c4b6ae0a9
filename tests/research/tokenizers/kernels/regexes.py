"""Regexes for the automaton: those that models are published with, and random ones of all that its grammar has."""

from hypothesis import strategies as st

QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_CONTRACTED = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _CONTRACTED + "|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _CONTRACTED + "|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
POSSESSIVE = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)

#: What people train and import with, and the ablations of issue 4.
REAL = {
    "qwen2": QWEN2,
    "llama3": QWEN2.replace(r"\p{N}|", r"\p{N}{1,3}|", 1),
    "o200k": O200K,
    "cl100k, possessive": POSSESSIVE,
    "gpt2, possessive": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    "korean": r"[가-힣]+|[^가-힣\s]+|\s+",
    "words and what follows": r"\S+\s*",
    "digits from the left": r"\p{N}{1,3}|\P{N}+",
    "lines": r"[^\n]*\n|[^\n]+",
    "quotations": r'"(?:[^"\\]|\\.)*"|\w+|\W',
    "letters alone": r"\p{L}+",
}

_ATOMS = [
    *"abs1 '.Kſ가ßI",
    *(r"\s", r"\S", r"\w", r"\W", r"\d", r"\p{L}", r"\p{Lu}", r"\p{N}", r"\p{M}", r"\P{L}", r"\pL", r"\r", r"\n"),
    *(
        "[^a]",
        "[ab]",
        "[a-z]",
        "[A-Z]",
        r"[\r\n]",
        r"[^\s\p{L}\p{N}]",
        r"[\s\p{N}]",
        "[가-힣]",
        r"\x41",
        r"\u00a0",
        r"\.",
    ),
]
_COUNTS = ["*", "+", "?", "{2}", "{1,2}", "{,2}", "{2,}", "{0,3}"]
_HABITS = ["", "", "", "?", "+"]


def _joined(separator: str, parts: st.SearchStrategy[str], least: int, most: int) -> st.SearchStrategy[str]:
    return st.lists(parts, min_size=least, max_size=most).map(separator.join)


def _wrapped(begin: st.SearchStrategy[str], inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(begin, inside, st.just(")")).map("".join)


def _choice(nodes: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return _joined("|", _joined("", nodes, 1, 3), 1, 3)


_few = st.sampled_from(["a", "b", "s", "1", " ", "'", "[ab]", "[^a]", r"\s", r"\w"])
_atoms = _few | st.sampled_from(_ATOMS)
_counted = st.tuples(_few, st.sampled_from(_COUNTS), st.sampled_from(_HABITS)).map("".join)
_ahead = _wrapped(st.sampled_from(["(?=", "(?!"]), _joined("|", _atoms, 1, 2))
_leaves = _atoms | _counted | _counted | _ahead | st.sampled_from([r"\Z", "$"])
_groups = _wrapped(st.sampled_from(["(?:", "(?:", "(?i:", "("]), _choice(_leaves))
_counted_groups = st.tuples(_groups, st.sampled_from(_COUNTS), st.sampled_from(["", "?"])).map("".join)

#: Random regexes. Some are outside of the grammar all the same: an empty round of a loop, `$` before a line feed.
regexes = _choice(_leaves | _groups | _counted_groups)
