"""How large tokens may be: where learning stops, and what no reader takes."""

from contracts.errors import InputError

MOST_TOKEN_BYTES, MOST_VOCABULARY_BYTES = 1 << 20, 1 << 28
"""No vocabulary in use comes near, and 45 merges that double would be a token of 35 TB."""


def require_token_bytes(size: int, total: int, what: str, where: str) -> None:
    """Raise `InputError` for a token, or for all tokens so far, of more bytes than a vocabulary may have."""
    if size > MOST_TOKEN_BYTES:
        raise InputError(what, expected=f"tokens of at most {MOST_TOKEN_BYTES:,} bytes", got=f"{size:,}", where=where)
    if total > MOST_VOCABULARY_BYTES:
        expected = f"tokens of at most {MOST_VOCABULARY_BYTES:,} bytes together"
        raise InputError(what, expected=expected, got=f"{total:,} up to here", where=where)
