"""What counts as a character: code points and their bytes, emoji made of several of them, and normal forms."""

import unicodedata
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal

from contracts.errors import ContractError
from contracts.tokenizer import Tokenizer
from research.tokenizers import ByteTokenizer

NormalForm = Literal["NFC", "NFD"]

#: What a reader sees as one sign, by the way in which it is written (Unicode Technical Standard 51).
EMOJI: Mapping[str, str] = MappingProxyType(
    {
        "one code point": "\N{GRINNING FACE}",
        "heart with a variation selector": "\N{HEAVY BLACK HEART}\N{VARIATION SELECTOR-16}",
        "keycap": "1\N{VARIATION SELECTOR-16}\N{COMBINING ENCLOSING KEYCAP}",
        "skin tone": "\N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-4}",
        "flag of two letters": "\N{REGIONAL INDICATOR SYMBOL LETTER K}\N{REGIONAL INDICATOR SYMBOL LETTER R}",
        "family of four, joined": "\N{ZERO WIDTH JOINER}".join(
            ("\N{MAN}", "\N{WOMAN}", "\N{GIRL}", "\N{BOY}"),
        ),
    }
)


def check_length_law(documents: Iterable[str], tokenizer: Tokenizer | None = None) -> int:
    """Check N <= T <= 4 N on every document, N code points and T byte tokens; the number of documents.

    UTF-8 writes a code point in one to four bytes. Raises `ContractError` for the first document that breaks it.
    """
    tokenizer = tokenizer or ByteTokenizer()
    checked = 0
    for checked, document in enumerate(documents, 1):
        characters, tokens = len(document), len(tokenizer.encode(document))
        if not characters <= tokens <= 4 * characters:
            raise ContractError(f"document {checked - 1}: {tokens} byte tokens for {characters} characters")
    return checked


def normalized(units: Iterable[str], form: NormalForm) -> tuple[str, ...]:
    """Every unit in that normal form: NFC writes `é` or `가` as one code point, NFD as a base and its marks."""
    return tuple(unicodedata.normalize(form, unit) for unit in units)
