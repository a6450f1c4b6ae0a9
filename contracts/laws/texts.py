"""Texts that tokenizers get wrong, and all others: curated snippets, random mixtures, and every code point in order."""

from collections.abc import Iterator

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

_CONTROLS = ("\0", "\t", "\n", "\r", "\r\n", "\n\n", "\x1b[0m", "\x7f", "\x85")
_SPACES = (" ", "  ", " a", "a ", "a  b", "\u00a0", "\u00ad", "\u200b", "\u2028", "\u2029", "\u3000", "\ufeff")
_LETTERS = ("don't", "ABC", "ß", "İ", "ſ", "ﬁ", "Å", "가각", "日本", "שלום", "1234567890", "٣", "½", "▁a", "Ġa")
_COMBINING = ("e\u0301", "\u0344", "\u1100\u1161\u11a8", "\u0e33", "a\u0323\u0302")
_EMOJI = ("😀", "👩\u200d👩\u200d👧", "🇰🇷", "👍🏽", "❤\ufe0f", "1\ufe0f\u20e3")
_PROSE = (
    "hello world",
    "The quick  brown fox.",
    "    return x\n",
    "안녕하세요, 세계!",
    "aaaa",
    "ababab",
    "http://a.b/c?d=1",
)
_ODD = ("\ufffd", "\ufffe", "\uffff", "\ue000", "\uf8ff")
_PLANES = tuple(chr((plane << 16) + low) for plane in range(1, 17) for low in (0, 0x8000, 0xFFFD, 0xFFFF))

#: Snippets that are tried in every run.
EDGES = ("", *_CONTROLS, *_SPACES, *_LETTERS, *_PROSE, *_COMBINING, *_EMOJI, *_ODD, *_PLANES)

#: How protocol tokens are spelled around the world; in a text they are characters like any other.
SPECIAL_SPELLINGS = (
    "<|doc|>",
    "<|bos|>",
    "<|eos|>",
    "<|endoftext|>",
    "<|begin_of_text|>",
    "<|im_start|>",
    "<s>",
    "</s>",
    "<bos>",
    "<eos>",
    "<pad>",
    "<unk>",
    "[CLS]",
    "[SEP]",
    "[PAD]",
    "[INST]",
)

#: A surrogate that stands alone is no text; nor are two of them, even where UTF-16 would see one character.
LONE_SURROGATES = ("\ud800", "\udfff", "a\ud83d", "\ude00b", "\ud83d\ude00", "\udce9")

_CODE_POINTS = st.integers(0, 0xD7FF) | st.integers(0xE000, 0x10FFFF)
_PLAIN = st.lists(st.sampled_from("ab "), max_size=8).map("".join)
_PIECES = st.sampled_from("ab 1.\n") | st.sampled_from(EDGES) | _CODE_POINTS.map(chr)


def texts(*also: str) -> SearchStrategy[str]:
    """Any Unicode text, the curated snippets and those of `also` often among its pieces; shrinks to plain letters."""
    pieces = _PIECES | st.sampled_from(also) if also else _PIECES
    return _PLAIN | st.lists(pieces, max_size=12).map("".join)


#: The planes that hold assigned characters and private use come before those that hold nothing yet.
_PLANE_ORDER = (0, 1, 2, 3, 14, 15, 16, *range(4, 14))


def code_point_blocks(size: int = 256) -> Iterator[str]:
    """Every code point but the surrogates, `size` consecutive ones in a text."""
    for plane in _PLANE_ORDER:
        for start in range(plane << 16, (plane + 1) << 16, size):
            if not 0xD800 <= start <= 0xDFFF:
                yield "".join(map(chr, range(start, start + size)))
