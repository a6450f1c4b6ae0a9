"""Small vocabularies over `a`, `b`, `c` in which tokens overlap as much as they can."""

from hypothesis import strategies as st

from research.tokenizers.plain.encode import merge_bytes

ALPHABET = "abc"
short_texts = st.text(alphabet=ALPHABET, max_size=40)

_words = st.text(alphabet=ALPHABET, min_size=2, max_size=8)


@st.composite
def reachable_merges(draw):
    """Merges of pairs that stand next to each other in some text, as training makes them."""
    merges = {}
    for word, place in draw(st.lists(st.tuples(_words, st.integers(0, 7)), max_size=25)):
        ids = merge_bytes(word.encode(), merges)
        if len(ids) > 1:
            place %= len(ids) - 1
            merges[ids[place], ids[place + 1]] = 256 + len(merges)
    return list(merges)


#: Tokens in the order of their ranks that need not be reachable by merges.
any_tokens = st.lists(_words.map(str.encode), max_size=12, unique=True)


def ranks_of(tokens):
    """The bytes and then `tokens`, each under its rank."""
    return {bytes([value]): value for value in range(256)} | {token: rank for rank, token in enumerate(tokens, 256)}


def chain_of(token):
    """Merges that make `token` from left to right."""
    lefts = [token[0], *range(256, 254 + len(token))]
    return list(zip(lefts, token[1:], strict=True))


@st.composite
def listed_splits(draw):
    """Tokens, each with the two parts that make it, or with every two parts that there are, as files list them.

    Nothing says that a text ever comes to the parts.
    """
    tokens, chosen = list(ALPHABET), {}
    for left, right, lists_all in draw(st.lists(st.tuples(st.integers(0), st.integers(0), st.booleans()), max_size=12)):
        parts = tokens[left % len(tokens)], tokens[right % len(tokens)]
        token = "".join(parts)
        if len(token) <= 6 and token not in chosen:
            tokens.append(token)
            chosen[token] = parts, lists_all
    merges = []
    for token, (parts, lists_all) in chosen.items():
        every = ((token[:cut], token[cut:]) for cut in range(1, len(token)))
        merges += [split for split in every if {*split} <= {*tokens}] if lists_all else [parts]
    return list(chosen), merges
