"""What is lost by guessing lengths from characters: the English rule applied to another text, and chunks cut by it."""

from collections.abc import Iterator

from contracts.errors import InputError


def guess_error(characters: int, tokens: int, english_characters: int, english_tokens: int) -> float:
    """Relative error of `characters` times English tokens a character, against the actual `tokens`.

    -0.75 says that a quarter of the tokens was expected.
    """
    return characters * english_tokens / english_characters / tokens - 1


def chunk_characters(token_limit: int, english_characters: int, english_tokens: int, spare: float = 0.1) -> int:
    """Characters of a chunk that by the English rule stays within `token_limit` with the share `spare` left over."""
    if token_limit < 1:
        raise InputError("token limit", expected="at least 1", got=token_limit)
    return max(1, int((1 - spare) * token_limit * english_characters / english_tokens))


def chunks(text: str, size: int, most: int) -> Iterator[str]:
    """At most `most` full chunks of `size` characters, evenly spread; the rest at the end is none."""
    total = len(text) // size
    kept = min(total, most)
    for number in range(kept):
        start = number * total // kept * size
        yield text[start : start + size]
