"""Reads tiktoken's ranks: a `.tiktoken` file, an `Encoding`, or a dict from bytes to rank.

Ranks name tokens and not merges; `ranks` says why the merges can be told from them, and when they can't.
"""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from contracts.errors import InputError
from contracts.tokenizer import Boundary
from research.tokenizers.ids import is_integer
from research.tokenizers.interop.external import Roles, imported
from research.tokenizers.interop.ranks import merges_of_tokens
from research.tokenizers.interop.spellings import recognised, require_total
from research.tokenizers.limits import require_token_bytes
from research.tokenizers.pretokenize import pretokenizer
from research.tokenizers.vocabulary import Vocabulary, checked_merges


def from_tiktoken(
    source: Any, pattern: str | None, boundary: Boundary | None, roles: Roles | None
) -> tuple[Vocabulary, Boundary]:
    """The vocabulary of a rank file, an `Encoding` or a dict of ranks, and the boundary policy.

    A regex that spells no named pattern is read in the meaning of the `regex` module, which may differ from tiktoken's
    for rare characters.

    Raises `InputError` for a pattern that is missing or that leaves text out (which tiktoken drops), bytes without a
    rank, ranks that are no ids or not of one token each, and a token that merges don't reach.
    """
    ranks, special_tokens, own_pattern, where = _parts(source)
    if (pattern is None) == (own_pattern is None):
        hint = "an Encoding says it; ranks alone do not"
        raise InputError("pattern", expected="one pattern", got="two" if pattern else "none", where=where, hint=hint)
    pieces = pretokenizer(recognised(own_pattern or pattern or ""))
    require_total(pieces)
    tokens = _in_order(ranks, where)
    ids = [ranks[token] for token in tokens]
    merges = checked_merges(merges_of_tokens(tokens[256:], where))
    external, boundary = imported(ids, special_tokens, boundary, roles, where)
    return Vocabulary(merges, pieces, external), boundary


def _parts(source: Any) -> tuple[Mapping[bytes, int], Mapping[str, int], str | None, str]:
    """Ranks, special tokens, pattern if it says one, and what to call it."""
    if hasattr(source, "_mergeable_ranks"):
        return source._mergeable_ranks, source._special_tokens, source._pat_str, repr(source)
    if isinstance(source, Mapping):
        return source, {}, None, "the dict"
    if isinstance(source, (str, Path)):
        return read_ranks(source), {}, None, str(source)
    raise InputError("ranks", expected="a file, a tiktoken.Encoding or a dict", got=type(source).__name__)


def read_ranks(path: str | Path) -> dict[bytes, int]:
    """A `.tiktoken` file: on each line a token in base64 and its rank. Raises `InputError` for anything else."""
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        raise InputError("rank file", expected="a readable file", got=error.strerror, where=str(path)) from None
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            encoded, rank = line.split()
            token = base64.b64decode(encoded, validate=True)
            if ranks.setdefault(token, int(rank)) != int(rank):
                raise ValueError("a second rank")
        except ValueError as error:
            expected, where = "a token in base64 and its only rank", f"{path} line {number}"
            raise InputError("rank file", expected=expected, got=repr(line), where=where) from error
    return ranks


def _in_order(ranks: Mapping[bytes, int], where: str) -> list[bytes]:
    """The bytes by value, and the longer tokens by rank."""
    total = 0
    for token, rank in ranks.items():
        if not isinstance(token, bytes) or not token or not is_integer(rank) or rank < 0:
            raise InputError("ranks", expected="bytes with a rank each", got=f"{token!r}: {rank!r}", where=where)
        total += len(token)
        require_token_bytes(len(token), total, "ranks", f"{where}, rank {rank}")
    alphabet = [bytes([value]) for value in range(256)]
    lacking = [token for token in alphabet if token not in ranks]
    if lacking:
        raise InputError("ranks", expected="all 256 bytes", got=f"none for {lacking[0]!r}", where=where)
    return alphabet + sorted((token for token in ranks if len(token) > 1), key=ranks.__getitem__)
