"""The ids of every code point and of some texts, as one digest for each pattern: the same on every interpreter.

    python tests/research/tokenizers/ids_of_everything.py [PATTERN ...]

Run from the root of the repository, by any Python that has what the tokenizers import. Prints JSON.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Sequence

import numpy as np

from research.tokenizers import BPETokenizer

NAMES = ("words", "gpt2", "cl100k")

#: What stands before and after each code point.
ALONE, BETWEEN = ("", ""), (("a", "b"), ("1", "2"), (" ", " "))

TEXTS = (
    "It's said that they've never heard the same story twice; we'll see. THEY'RE HERE, don'ſ you see?\n\n\r\n  \t x\n ",
    "옛날 옛적에 프레디라는 작은 토끼가 있었습니다. größer als die Mäuse, हिन्दी में, ภาษาไทย, ١٢٣٤ ½ Ⅷ x² 1234567 3.14",
    "aaaa abab ababab",
    "😀😀 👨‍👩‍👧 café cafe\u0301 non\u00a0breaking\u2028line\u3000wide\x1cfile\x00 \U00010400\U0010ffff",
)


def tokenizer(name: str) -> BPETokenizer:
    """Learned here and now, so that training is in the digest as well."""
    return BPETokenizer.train(TEXTS * 2, 500, name)


def digest(name: str, contexts: Sequence[tuple[str, str]] = (), codes: Iterable[int] = range(0x110000)) -> str:
    """Of all merges, the ids of `TEXTS`, and those of every code point in each of the contexts.

    Code points alone are a text each, so that no neighbour decides; else all are in one text.
    """
    learned = tokenizer(name)
    characters = [chr(code) for code in codes if not 0xD800 <= code < 0xE000]
    digest = hashlib.sha256(learned.merges.tobytes())
    for texts in [TEXTS, *(_texts(context, characters) for context in contexts)]:
        tokens, offsets = learned.encode_batch(texts)
        digest.update(np.asarray(tokens, "<i4").tobytes() + np.asarray(offsets, "<i8").tobytes())
        assert learned.decode_bytes(tokens) == "".join(texts).encode()
    return digest.hexdigest()


def _texts(context: tuple[str, str], characters: list[str]) -> Sequence[str]:
    before, after = context
    return characters if context == ALONE else ["".join(before + character + after for character in characters)]


if __name__ == "__main__":
    json.dump({name: digest(name, (ALONE, *BETWEEN)) for name in sys.argv[1:] or NAMES}, sys.stdout)
