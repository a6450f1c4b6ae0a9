"""Tokens in the order of their ranks say as much as merges: what reading and writing tiktoken's files rests on.

tiktoken joins the two neighbours whose bytes together are the token of lowest rank; here the earliest learned pair is
joined. The ids are equal if every token, alone and with the merges before its own, comes out as two ids, its pair:

A border once gone never returns. So where two neighbours together spell the token t, their outer borders stood from
the start, nothing was joined across them, and just before t's turn the bytes between them were what t alone would
have been: its pair. On its turn t therefore joins that pair wherever it stands, no other two neighbours ever spell t,
and no token's turn comes a second time. (Joining a run `xxxx` from left to right starts anew at every border that
survives, for an even number of `x` precedes it.) A pre-token that is a token, which tiktoken looks up first, comes to
the same.
"""

from contracts.errors import InputError
from research.progress import progress
from research.tokenizers.plain.encode import Pair, merge_bytes
from research.tokenizers.vocabulary import Vocabulary


def merges_of_tokens(tokens: list[bytes], where: str) -> list[Pair]:
    """The merges that make `tokens`, each longer than a byte, in the order of their ranks.

    Raises `InputError` for a token that no two earlier ones make when its bytes are merged alone.
    """
    merges: dict[Pair, int] = {}
    with progress("recovering merges", total=len(tokens), unit="tokens") as bar:
        for own_id, token in enumerate(tokens, 256):
            parts = merge_bytes(token, merges)
            if len(parts) != 2:
                raise InputError(
                    "ranks",
                    expected="tokens that two tokens of lower rank make",
                    got=f"{token!r}, which lower ranks leave in {len(parts)} parts",
                    where=where,
                )
            merges[parts[0], parts[1]] = own_id
            bar.advance()
    return list(merges)


def unreachable_token(vocabulary: Vocabulary) -> int | None:
    """The first token that its own bytes do not merge into. Without one, ranks say as much as the merges."""
    merges = {(left, right): own_id for own_id, (left, right) in enumerate(vocabulary.merges.tolist(), 256)}
    reached = ((own_id, merge_bytes(token, merges)) for own_id, token in enumerate(vocabulary.tokens))
    return next((own_id for own_id, ids in reached if ids != [own_id]), None)
