"""Splits text into pre-tokens, the borders that no merge crosses: by a named pattern or by any regex.

What `\\w` or `\\p{L}` means changes with the engine and its release, so a named pattern reads a frozen class table
instead (`data/class_tables.json`): the same pieces on every interpreter, today and later.
"""

import functools
import importlib.metadata
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Protocol

from contracts.errors import InputError
from research.tokenizers.text import utf8


class Pretokenizer(Protocol):
    """Cuts a text into pieces that joined give the text."""

    @property
    def spelling(self) -> str:
        """What `BPETokenizer(pattern=...)` takes: a name or a regex."""

    @property
    def regex(self) -> str:
        """The pattern as other libraries take it, in their own reading of the classes."""

    @property
    def version(self) -> str:
        """Which class table or module release gives the classes their meaning."""

    @property
    def identity_line(self) -> str:
        """Its line in the canonical listing of a tokenizer."""

    def split(self, text: str) -> list[str]:
        """The pieces of `text` in order, none of them empty; `"".join(pieces) == text`."""


@dataclass(frozen=True)
class NamedPattern:
    """A pattern whose character classes are frozen."""

    name: str
    regex: str
    """the pattern as other libraries take it, in their own reading of the classes"""
    version: str
    """the class table it reads; part of a tokenizer's identity"""
    frozen: str = field(repr=False)
    """the pattern with every class inside brackets, where its ranges are filled in"""

    @property
    def spelling(self) -> str:
        return self.name

    @property
    def identity_line(self) -> str:
        return f"pattern\t{self.name}\t{self.version}"

    def split(self, text: str) -> list[str]:
        return _compile_frozen(self.frozen, self.version).findall(text)


@dataclass(frozen=True)
class WholeText:
    """The pattern `none`: a text is one piece, so that merges cross everything but its ends."""

    name: str = "none"
    regex: str = r"[\s\S]+"
    version: str = "1"

    @property
    def spelling(self) -> str:
        return self.name

    @property
    def identity_line(self) -> str:
        return f"pattern\t{self.name}\t{self.version}"

    def split(self, text: str) -> list[str]:
        return [text] if text else []


@dataclass(frozen=True)
class RegexPattern:
    """Any other regex, in the meaning of the installed `regex` module; text between matches is a piece of its own."""

    regex: str
    version: str
    """release of the `regex` module, whose classes grow with Unicode; part of a tokenizer's identity"""

    @property
    def spelling(self) -> str:
        return self.regex

    @property
    def looks_around(self) -> bool:
        """Whether a piece may depend on the text around it."""
        return re.search(r"\(\?<?[=!]|\\[bBAZzGKmM<>]|\$|(?<!\[)\^", self.regex) is not None

    @property
    def identity_line(self) -> str:
        return f"regex\t{json.dumps(self.regex)}\t{self.version}"

    def split(self, text: str) -> list[str]:
        compiled = _compile_regex(self.regex)
        if not compiled.groups:
            found = compiled.findall(text)  # twice as fast as asking each match where it is
            if sum(map(len, found)) == len(text):
                return [piece for piece in found if piece]
        pieces, end = [], 0
        for match in compiled.finditer(text):
            start, stop = match.span()
            pieces += [text[end:start], text[start:stop]]
            end = stop
        pieces.append(text[end:])
        return [piece for piece in pieces if piece]


_PYTHON, _TIKTOKEN, _TOKENIZERS = "python-re-unicode-14.0", "tiktoken-0.14", "tokenizers-0.23"

#: The pre-tokenizers that have a name. `gpt2-digits` is GPT-2's after every digit was set apart (SmolLM, StarCoder).
PATTERNS: Mapping[str, NamedPattern | WholeText] = MappingProxyType(
    {
        "words": NamedPattern(
            "words",
            regex=r"\s+|\w+|[^\w\s]",
            version=_PYTHON,
            frozen=r"[\s]+|[\w]+|[^\w\s]",
        ),
        "gpt2": NamedPattern(
            "gpt2",
            regex=r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
            version=_TIKTOKEN,
            frozen=r"'(?:[sdmt]|ll|ve|re)| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|[\s]+(?![^\s])|[\s]+",
        ),
        "gpt2-digits": NamedPattern(
            "gpt2-digits",
            regex=r"\p{N}|'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?![^\s\p{N}])|\s+",
            version=_TOKENIZERS,
            frozen=r"[\p{N}]|'(?:[sdmt]|ll|ve|re)| ?[\p{L}]+| ?[^\s\p{L}\p{N}]+|[\s]+(?![^\s\p{N}])|[\s]+",
        ),
        "cl100k": NamedPattern(
            "cl100k",
            regex=(
                r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
                r"|\s+(?![\s\S])|\s*[\r\n]|\s+(?!\S)|\s"
            ),
            version=_TIKTOKEN,
            # Ignoring case, Rust takes U+017F (ſ) for an s.
            frozen=(
                r"'(?:[sSſdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?[\p{L}]+|[\p{N}]{1,3}"
                r"| ?[^\s\p{L}\p{N}]+[\r\n]*|[\s]+\Z|[\s]*[\r\n]|[\s]+(?![^\s])|[\s]"
            ),
        ),
        "none": WholeText(),
    }
)

#: The escapes in a frozen pattern, and the class that each stands for.
ESCAPES = {r"\w": "word", r"\s": "space", r"\p{L}": "letter", r"\p{N}": "number"}


def pretokenizer(pattern: str) -> Pretokenizer:
    """The pre-tokenizer of that name, or of that regex in the meaning of the installed `regex` module.

    Raises `InputError` for what looks like a misspelled name and for a regex that can't be used.
    """
    if not isinstance(pattern, str):
        raise InputError("pattern", expected="a name or a regex", got=type(pattern).__name__)
    utf8(pattern, what="pattern")
    if pattern in PATTERNS:
        return PATTERNS[pattern]
    if re.fullmatch(r"[\w-]*", pattern):
        names = ", ".join(PATTERNS)
        raise InputError(
            "pattern",
            expected=f"one of {names}, or a regex",
            got=repr(pattern),
            hint="put a regex of plain letters in (?:...)",
        )
    _compile_regex(pattern)
    return RegexPattern(pattern, importlib.metadata.version("regex"))


@functools.cache
def _compile_regex(pattern: str) -> Any:
    import regex

    try:
        compiled = regex.compile(pattern)
    except (regex.error, ValueError, RecursionError) as error:
        raise InputError("pattern", expected="a regex", got=repr(pattern), where=f"{error}") from None
    if compiled.flags & regex.REVERSE:
        raise InputError("pattern", expected="a regex that reads forwards", got=repr(pattern))
    return compiled


@functools.cache
def _compile_frozen(pattern: str, table: str) -> re.Pattern[str]:
    for escape, kind in ESCAPES.items():
        if escape in pattern:
            spans = class_ranges(table)[kind]
            pattern = pattern.replace(escape, "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in spans))
    return re.compile(pattern)


@functools.cache
def class_ranges(table: str) -> Mapping[str, tuple[tuple[int, int], ...]]:
    """The frozen classes of a table: kind (`word`, `space`, `letter`, `number`) to ranges of code points, inclusive."""
    tables = json.loads(files("research.tokenizers.data").joinpath("class_tables.json").read_text("ascii"))
    return {kind: tuple(map(_range, ranges.split())) for kind, ranges in tables[table].items()}


def _range(spelling: str) -> tuple[int, int]:
    low, _, high = spelling.partition("-")
    return int(low, 16), int(high or low, 16)
