"""Writes `class_tables.json`: which code points are letters, numbers, spaces and word characters, once and for all.

The engines disagree and change with every release, so each one is asked about every code point and its answer kept:
`python -m research.tokenizers.data.make_class_tables` on Python 3.11 with tiktoken 0.14 and tokenizers 0.23.
"""

import json
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

from contracts.errors import InputError

PATH = Path(__file__).with_name("class_tables.json")
SURROGATES = range(0xD800, 0xE000)
CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1) if code not in SURROGATES]

ENGINES = {"python": "3.11", "tiktoken": "0.14", "tokenizers": "0.23"}


def main() -> None:
    """Ask the three engines and write what they say."""
    _require_engines()
    tables = {
        "python-re-unicode-14.0": {"word": python_re(r"\w"), "space": python_re(r"\s")},
        "tiktoken-0.14": {
            "letter": tiktoken(r"\p{L}"),
            "number": tiktoken(r"\p{N}"),
            "space": tiktoken(r"\s"),
        },
        "tokenizers-0.23": {
            "letter": tokenizers(r"\p{L}"),
            "number": tokenizers_digits(),
            "space": tokenizers(r"\s"),
        },
    }
    ranges = {name: {kind: spell(found) for kind, found in table.items()} for name, table in tables.items()}
    PATH.write_text(json.dumps(ranges, indent=1) + "\n", encoding="ascii")


def _require_engines() -> None:
    found = {
        "python": sys.version.split()[0],
        "tiktoken": version("tiktoken"),
        "tokenizers": version("tokenizers"),
    }
    if unicodedata.unidata_version != "14.0.0" or any(
        not found[name].startswith(wanted + ".") for name, wanted in ENGINES.items()
    ):
        raise InputError("engines", expected=f"{ENGINES} with Unicode 14.0.0", got=found)


def python_re(pattern: str) -> set[str]:
    """The characters that Python's `re` takes for `pattern`."""
    matches = re.compile(pattern).match
    return {character for character in CHARACTERS if matches(character)}


def tiktoken(pattern: str) -> set[str]:
    """The characters that tiktoken's engine (Rust `regex`) takes: it drops what a pattern does not match."""
    from tiktoken import Encoding

    bytes_only = {bytes([value]): value for value in range(256)}
    encoding = Encoding("probe", pat_str=pattern, mergeable_ranks=bytes_only, special_tokens={})
    return _survivors(lambda text: bytes(encoding.encode_ordinary(text)).decode())


def tokenizers(pattern: str) -> set[str]:
    """The characters that the engine of `tokenizers` (Oniguruma) takes, all others removed."""
    from tokenizers import Regex, pre_tokenizers

    keep = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    return _survivors(lambda text: "".join(piece for piece, _ in keep.pre_tokenize_str(text)))


def tokenizers_digits() -> set[str]:
    """What the pre-tokenizer `Digits` of `tokenizers` takes for a digit: Rust's `char::is_numeric`."""
    from tokenizers import pre_tokenizers

    alone = pre_tokenizers.Digits(individual_digits=True)
    pieces = alone.pre_tokenize_str("--".join(CHARACTERS))
    return {piece for piece, _ in pieces if len(piece) == 1} - {"-"}


def _survivors(keep: Callable[[str], str], at_once: int = 65_536) -> set[str]:
    return {
        character
        for start in range(0, len(CHARACTERS), at_once)
        for character in keep("".join(CHARACTERS[start : start + at_once]))
    }


def spell(characters: Iterable[str]) -> str:
    """Code points as ranges in hexadecimal: `30-39 41-5a 5f`."""
    return " ".join(f"{low:x}-{high:x}" if high > low else f"{low:x}" for low, high in _ranges(characters))


def _ranges(characters: Iterable[str]) -> Iterator[tuple[int, int]]:
    low = high = -2
    for code in sorted(map(ord, characters)):
        if code == high + 1:
            high = code
            continue
        if low >= 0:
            yield low, high
        low = high = code
    if low >= 0:
        yield low, high


if __name__ == "__main__":
    main()
