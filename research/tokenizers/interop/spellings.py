"""Named patterns as other libraries spell them: written with every class spelled out, and recognised when read.

`\\p{L}` means whatever the other engine's Unicode release says; ranges such as `\\x{41}-\\x{5A}` mean the same to all.
Oniguruma (Hugging Face) and Rust's `regex` (tiktoken) read both.
"""

import functools
from collections.abc import Mapping

from contracts.errors import InputError
from research.tokenizers.pretokenize import ESCAPES, PATTERNS, NamedPattern, Pretokenizer, RegexPattern, class_ranges

# As published with GPT-2; as tiktoken 0.14 has r50k_base and cl100k_base. The first publication of cl100k is left out:
# it cuts trailing white space in another way.
_PUBLISHED = {
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s": "gpt2",
    (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ): "cl100k",
    PATTERNS["gpt2"].regex: "gpt2",
    PATTERNS["cl100k"].regex: "cl100k",
}


def exported(pattern: Pretokenizer) -> str:
    """The regex that cuts as `pattern` does; one of a person's own stays as it is, to be read by the other engine."""
    return _spelled_out(pattern) if isinstance(pattern, NamedPattern) else pattern.regex


def recognised(regex: str) -> str:
    """The name of the pattern that `regex` spells, or `regex` itself: what `pretokenizer` takes."""
    return _PUBLISHED.get(regex) or _exported_names().get(regex, regex)


@functools.cache
def _spelled_out(pattern: NamedPattern) -> str:
    regex = pattern.frozen.replace(r"\Z", r"\z")
    for escape, kind in ESCAPES.items():
        if escape in regex:
            spans = class_ranges(pattern.version)[kind]
            regex = regex.replace(escape, "".join(rf"\x{{{low:X}}}-\x{{{high:X}}}" for low, high in spans))
    return regex


@functools.cache
def _exported_names() -> Mapping[str, str]:
    return {exported(pattern): name for name, pattern in PATTERNS.items()}


def require_total(pattern: Pretokenizer) -> None:
    """Raises `InputError` if a regex of one's own leaves out any character of a row of all, each between spaces.

    For us and Hugging Face the text between two matches is a piece of its own; tiktoken drops it.
    """
    left_out = _left_out(pattern.regex) if isinstance(pattern, RegexPattern) else ""
    if left_out:
        raise InputError(
            "pattern",
            expected="a regex that matches every character",
            got=f"{pattern.regex!r}, which leaves out {left_out!r}",
            hint="tiktoken drops what is not matched",
        )


@functools.cache
def _left_out(pattern: str) -> str:
    import regex

    row = " ".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    return regex.sub(pattern, "", row)[:1]
