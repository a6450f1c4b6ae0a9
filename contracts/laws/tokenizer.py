"""The laws of tokenizers: what any object must keep that turns text into ids and back without loss.

Each law looks only where the ones that it builds on hold, so that one fault is reported by one law.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate, product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from contracts.laws.law import Law, NotApplicable
from contracts.laws.search import Search, Skip, raised, shown
from contracts.laws.texts import EDGES, LONE_SURROGATES, SPECIAL_SPELLINGS, code_point_blocks, texts
from contracts.laws.tokenizer_view import TokenizerView


def takes_every_text(tokenizer: TokenizerView, search: Search) -> str:
    """`encode` takes every Unicode text, whatever it looks like."""
    specials = special_texts(tokenizer)

    def complaint(text: str) -> str:
        try:
            tokenizer.encode(text)
        except Exception as error:
            return f"encode({shown(text)}) raises {raised(error)}"
        return ""

    return search.smallest(texts(*specials), complaint, first=(*EDGES, *specials), blocks=code_point_blocks())


def deterministic(tokenizer: TokenizerView, search: Search) -> str:
    """The ids of a text are the same whenever they are asked for."""

    def complaint(text: str) -> str:
        once = ids_of(tokenizer, text)
        for _ in range(5):
            ids_of(tokenizer, text + text)
            again = ids_of(tokenizer, text)
            if once != again:
                return f"encode({shown(text)}) is {shown(once)}, then {shown(again)}"
        return ""

    return search.smallest(texts(), complaint, first=EDGES)


def integer_ids(tokenizer: TokenizerView, search: Search) -> str:
    """Ids are one dimension of integers: Python ints, or an array of an integer dtype."""

    def complaint(text: str) -> str:
        ids = encoded(tokenizer, text)
        array = np.asarray(ids)
        if array.size == 0 and not hasattr(ids, "dtype"):
            return ""
        if array.ndim != 1 or array.dtype.kind not in "iu":
            return f"encode({shown(text)}) is {array.dtype} of shape {array.shape}"
        return ""

    return search.smallest(texts(), complaint, first=EDGES)


def ids_in_range(tokenizer: TokenizerView, search: Search) -> str:
    """Every id is at least 0 and below the size of the vocabulary."""

    def complaint(text: str) -> str:
        outside = [token for token in ids_of(tokenizer, text) if not 0 <= token < tokenizer.vocab_size]
        return f"encode({shown(text)}) has {outside[0]}, outside 0..{tokenizer.vocab_size - 1}" if outside else ""

    return search.smallest(texts(), complaint, first=EDGES)


def round_trip(tokenizer: TokenizerView, search: Search) -> str:
    """Decoding the ids of a text gives the text: nothing is normalised, dropped or added."""

    def complaint(text: str) -> str:
        ids = ids_of(tokenizer, text)
        try:
            back = tokenizer.text_of(ids)
        except Exception as error:
            return f"decode(encode({shown(text)})) raises {raised(error)}"
        return "" if back == text else f"decode(encode({shown(text)})) is {shown(back)}"

    return search.smallest(texts(), complaint, first=EDGES, blocks=code_point_blocks())


def refuses_lone_surrogates(tokenizer: TokenizerView, search: Search) -> str:
    """A lone surrogate is no text: `encode` raises, and puts nothing in its place."""

    def complaint(text: str) -> str:
        if not any("\ud800" <= character <= "\udfff" for character in text):
            raise Skip
        try:
            ids = tokenizer.encode(text)
        except Exception:
            return ""
        return f"encode({shown(text)}) is {shown(list(ids))}"

    with_surrogates = st.tuples(texts(), st.integers(0xD800, 0xDFFF).map(chr), texts()).map("".join)
    return search.smallest(with_surrogates, complaint, first=LONE_SURROGATES)


def protocol_ids_never_from_text(tokenizer: TokenizerView, search: Search) -> str:
    """No text is encoded to a protocol id, not even the one that spells it."""
    if not tokenizer.protocol:
        raise NotApplicable("it names no protocol ids")
    names = {token_id: name for name, token_id in tokenizer.protocol.items()}
    specials = special_texts(tokenizer)

    def complaint(text: str) -> str:
        found = [token_id for token_id in ids_of(tokenizer, text) if token_id in names]
        return f"encode({shown(text)}) has {found[0]}, the protocol id {names[found[0]]!r}" if found else ""

    return search.smallest(texts(*specials), complaint, first=(*specials, *EDGES))


def batch_equals_single(tokenizer: TokenizerView, search: Search) -> str:
    """`encode_batch` gives each text the ids that `encode` gives it, in the same order."""
    encode_batch = tokenizer.encode_batch
    if encode_batch is None:
        raise NotApplicable("it has no encode_batch")

    def complaint(batch: list[str]) -> str:
        alone = [ids_of(tokenizer, text) for text in batch]
        together = [integers(ids) for ids in encode_batch(batch)]
        return "" if alone == together else f"encode_batch({shown(batch)}) is {shown(together)}, alone {shown(alone)}"

    return search.smallest(st.lists(texts(), max_size=5), complaint, first=([], list(EDGES)))


def no_more_tokens_than_bytes(tokenizer: TokenizerView, search: Search) -> str:
    """A text has at most as many text tokens as bytes of UTF-8, and none if it is empty."""
    protocol = frozenset(tokenizer.protocol.values())

    def complaint(text: str) -> str:
        ids, size = faithful_ids(tokenizer, text), len(text.encode())
        count = sum(token_id not in protocol for token_id in ids)
        return "" if count <= size else f"encode({shown(text)}) is {shown(ids)}: {count} tokens for {size} bytes"

    return search.smallest(texts(), complaint, first=EDGES)


def byte_lengths_add_up(tokenizer: TokenizerView, search: Search) -> str:
    """The byte lengths of a text's tokens sum to the bytes of the text."""
    lengths = tokenizer.token_byte_lengths
    if lengths is None:
        raise NotApplicable("it has no token_byte_lengths")

    def complaint(text: str) -> str:
        ids, size = faithful_ids(tokenizer, text), len(text.encode())
        total = sum(int(lengths[token_id]) for token_id in ids)
        return "" if total == size else f"{shown(text)} has {size} bytes, its tokens {shown(ids)} have {total}"

    return search.smallest(texts(), complaint, first=EDGES)


def pretoken_borders_are_token_borders(tokenizer: TokenizerView, search: Search) -> str:
    """Where a pre-token ends a token ends: no merge crosses a border."""
    pretokens, decode_bytes = tokenizer.pretokens, tokenizer.decode_bytes
    if pretokens is None:
        raise NotApplicable("it shows no pre-tokens")
    if decode_bytes is None:
        raise NotApplicable("it has no decode_bytes to measure tokens with")

    def complaint(text: str) -> str:
        tokens, pieces = _tokens_of(decode_bytes, faithful_ids(tokenizer, text), text), list(pretokens(text))
        if "".join(pieces) != text:
            return f"the pre-tokens of {shown(text)} are {shown(pieces)}, joined another text"
        borders = set(accumulate(map(len, tokens)))
        if borders.issuperset(accumulate(len(piece.encode()) for piece in pieces)):
            return ""
        return f"{shown(text)} is cut to {shown(pieces)}, but its tokens are {shown(tokens)}"

    return search.smallest(texts(), complaint, first=EDGES)


def concatenation(tokenizer: TokenizerView, search: Search) -> str:
    """Two documents' ids, one after the other, decode to the two texts, one after the other."""

    def complaint(pair: tuple[str, str]) -> str:
        first, second = (ids_of(tokenizer, text) for text in pair)
        apart, joined = _decoded(tokenizer, first) + _decoded(tokenizer, second), tokenizer.text_of([*first, *second])
        where = f"encode({shown(pair[0])}) + encode({shown(pair[1])})"
        return "" if joined == apart else f"{where} decodes to {shown(joined)}, apart to {shown(apart)}"

    return search.smallest(st.tuples(texts(), texts()), complaint, first=product("ab ", EDGES))


def every_prefix_decodes(tokenizer: TokenizerView, search: Search) -> str:
    """`decode_bytes` takes the first ids of a text alone, and gives the first bytes of the whole."""
    decode_bytes = tokenizer.decode_bytes
    if decode_bytes is None:
        raise NotApplicable("it has no decode_bytes; a prefix may end inside a character")

    def complaint(text: str) -> str:
        ids = ids_of(tokenizer, text)
        whole = decode_bytes(ids)
        for length in range(len(ids)):
            part = decode_bytes(ids[:length])
            if not whole.startswith(part):
                return f"decode_bytes({shown(ids[:length])}) is {shown(part)}, of {shown(ids)} {shown(whole)}"
        return ""

    return search.smallest(texts(), complaint, first=EDGES)


LAWS = (
    Law(takes_every_text),
    Law(deterministic),
    Law(integer_ids),
    Law(ids_in_range),
    Law(round_trip),
    Law(refuses_lone_surrogates),
    Law(protocol_ids_never_from_text),
    Law(batch_equals_single, needs=("deterministic",)),
    Law(no_more_tokens_than_bytes),
    Law(byte_lengths_add_up),
    Law(pretoken_borders_are_token_borders),
    Law(concatenation),
    Law(every_prefix_decodes),
)


def encoded(tokenizer: TokenizerView, text: str) -> Any:
    """What `encode` returns; the law does not look at a text that it refuses."""
    try:
        return tokenizer.encode(text)
    except Exception:
        raise Skip from None


def ids_of(tokenizer: TokenizerView, text: str) -> list[int]:
    """The ids of `text` as Python ints, whatever they came as."""
    return integers(encoded(tokenizer, text))


def integers(ids: Any) -> list[int]:
    """Ids of any numeric type as Python ints; the law does not look at what is none."""
    try:
        return [int(token_id) for token_id in ids]
    except (TypeError, ValueError):
        raise Skip from None


def faithful_ids(tokenizer: TokenizerView, text: str) -> list[int]:
    """The ids of a text that survives the round trip; the law does not look at another."""
    ids = ids_of(tokenizer, text)
    if _decoded(tokenizer, ids) != text:
        raise Skip
    return ids


def _decoded(tokenizer: TokenizerView, ids: Sequence[int]) -> str:
    try:
        return tokenizer.text_of(ids)
    except Exception:
        raise Skip from None


def _tokens_of(decode_bytes: Callable[[list[int]], bytes], ids: list[int], text: str) -> list[bytes]:
    """The bytes of each token; the law does not look at a text whose bytes they are not."""
    try:
        tokens = [decode_bytes([token_id]) for token_id in ids]
    except Exception:
        raise Skip from None
    if b"".join(tokens) != text.encode():
        raise Skip
    return tokens


def special_texts(tokenizer: TokenizerView) -> tuple[str, ...]:
    """Texts that spell protocol tokens: by the tokenizer's names, as it decodes their ids, and as others do."""
    spelled = []
    for name, token_id in tokenizer.protocol.items():
        spelled += [f"<|{name}|>", f"<{name}>", f"[{name.upper()}]"] if name.isidentifier() else [name]
        try:
            spelled.append(tokenizer.text_of([token_id]))
        except Exception:
            continue  # an id that no decoder takes has no spelling
    return tuple(dict.fromkeys([*spelled, *SPECIAL_SPELLINGS]))
