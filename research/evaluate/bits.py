"""Bits per byte that can be compared across tokenizers: nats over bytes, refused unless both are of the same text.

bpb = sum of nats / (ln 2 * bytes of the text). A sum over a sum, in float64, and never a mean of ratios: a mean weighs
a short document, or a token of one byte, like a long one. Protocol tokens have no bytes.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from contracts.core import contract
from contracts.errors import InputError
from contracts.evaluation import DocumentCounts, Ledger, TokenBytes, TokenNats
from contracts.tokenizer import IdsLike, TokenIds, Tokenizer
from research.evaluate.faults import find_faults, summary
from research.evaluate.pieces import Table, protocol_spellings, replaced, token_pieces
from research.text.documents import encode_utf8

Text = str | bytes


def ledger(
    tokens: IdsLike, nats: Sequence[float] | np.ndarray, tokenizer: Tokenizer | Table, text: Text | Sequence[Text]
) -> Ledger:
    """The account of a text's scored tokens: bits per byte, in all and document by document.

    Args:
        tokens: The ids that were predicted, in the order of the text, each once; an id that was only context (such as
            the boundary that opens the text) is not among them.
        nats: -ln p of each.
        tokenizer: Any `contracts.tokenizer.Tokenizer`, or a mapping from id to bytes.
        text: What was scored; or its documents, in order.

    Raises:
        InputError: unless the tokens' bytes are the text's, each byte once. It names what went wrong: a leading space
            counted twice, U+FFFD counted as three bytes, a special token with bytes, bytes scored twice or not at
            all; likewise for log-probabilities that are not negated, and a token of two documents.
    """
    ids, costs = _ids(tokens), _nats(nats)
    if len(ids) != len(costs):
        raise InputError("nats", expected=f"one for each of {len(ids):,} scored tokens", got=f"{len(costs):,}")
    texts = [text] if isinstance(text, (str, bytes)) else text
    sources = [_utf8(document, f"document {index}") for index, document in enumerate(texts)]
    empty = next((index for index, source in enumerate(sources) if not source), None)
    if not sources or empty is not None:
        where = "" if empty is None else f"document {empty}"
        raise InputError("text", expected="documents that are not empty", got="none", where=where)
    used, kind = np.unique(ids, return_inverse=True)
    pieces = token_pieces(used, tokenizer)
    _reconcile([pieces[token] for token in ids.tolist()], b"".join(sources))
    return _account(costs, pieces, kind, tokenizer, sources)


def _account(
    nats: np.ndarray,
    pieces: dict[int, bytes],
    kind: np.ndarray,
    tokenizer: Tokenizer | Table,
    sources: Sequence[bytes],
) -> Ledger:
    """`kind` is the number of each token's id among those of `pieces`."""
    sizes = np.array([len(source) for source in sources], np.int64)
    lengths = np.array([len(piece) for piece in pieces.values()], np.int64)[kind]
    document = _documents(lengths, sizes)
    is_text = lengths > 0

    def total(of: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        return np.bincount(document[chosen], of[chosen], minlength=len(sizes))

    ones = np.ones(len(nats))
    nats_text, nats_protocol = total(nats, is_text), total(nats, ~is_text)
    characters = np.array([_characters(source) for source in sources], np.int64)
    return Ledger(
        nats_text=nats_text,
        nats_protocol=nats_protocol,
        bytes=sizes,
        characters=characters,
        tokens_text=total(ones, is_text).astype(np.int64),
        tokens_protocol=total(ones, ~is_text).astype(np.int64),
        vocab_size=len(tokenizer) if isinstance(tokenizer, Mapping) else tokenizer.vocab_size,
        mistaken=_mistaken(nats, lengths, nats_text, sizes, characters)
        | _over_wrong_bytes(nats_text.sum(), nats.sum(), _counted_wrongly(pieces, kind, tokenizer), sizes.sum()),
    )


def _reconcile(scored: Sequence[bytes], source: bytes) -> None:
    if b"".join(scored) == source:
        return
    faults = find_faults(scored, source)
    counted = sum(map(len, scored))
    first = faults[0]
    where = f"token {first.token}"
    if first.token < len(scored):
        where += f" ({scored[first.token]!r})"
    got = f"{counted:,}" if counted != len(source) else "as many, but others"
    expected = f"the {len(source):,} bytes of the text, each once"
    where = f"{where}, byte {first.offset} of the text"
    raise InputError("bytes of the scored tokens", expected=expected, got=got, where=where, hint=summary(faults))


@contract
def _documents(lengths: TokenBytes, sizes: DocumentCounts) -> TokenBytes:
    """The document of each token; one without bytes belongs to the document that ends where it stands."""
    ends, bounds = np.cumsum(lengths), np.cumsum(sizes)
    begins = ends - lengths
    of_text = np.searchsorted(bounds, begins, side="right")
    of_protocol = np.searchsorted(bounds, begins, side="left")
    document = np.where(lengths > 0, of_text, of_protocol)
    across = ends > bounds[document]
    if across.any():
        token = int(across.argmax())
        hint = "documents are encoded one by one"
        got = f"token {token}, which goes {ends[token] - bounds[document[token]]} bytes into the next"
        raise InputError("scored tokens", expected="each within one document", got=got, hint=hint)
    return document


def _mistaken(
    nats: np.ndarray, lengths: np.ndarray, nats_text: np.ndarray, sizes: np.ndarray, characters: np.ndarray
) -> dict[str, float]:
    """What well-known mistakes make of the same nats, by the name of the mistake."""
    is_text, ln2 = lengths > 0, math.log(2)
    per_byte, total_per_byte = float(nats_text.sum() / sizes.sum()), float(nats.sum() / sizes.sum())
    found = {
        "nats per byte (missing ln 2)": per_byte,
        "nats per byte with boundaries (missing ln 2)": total_per_byte,
        "divided by ln 2 twice (bits taken for nats)": per_byte / ln2**2,
        "divided by ln 2 twice (bits taken for nats), with boundaries": total_per_byte / ln2**2,
        "bits per token": float(nats[is_text].mean()) / ln2,
        "bits per token with boundaries": float(nats.mean()) / ln2,
        "a mean of ratios, document by document": float((nats_text / sizes).mean()) / ln2,
        "a mean of ratios, token by token": float((nats[is_text] / lengths[is_text]).mean()) / ln2,
    }
    if characters.all():
        found["bits per character"] = float(nats_text.sum() / characters.sum()) / ln2
    return found


def _over_wrong_bytes(text: float, total: float, counted: dict[str, int], size: int) -> dict[str, float]:
    """The figures over as many bytes as the text would seem to have, where that is not what it has."""
    wrong = {f"over the bytes of {name}": bytes_ for name, bytes_ in counted.items() if bytes_ != size}
    of_text = {name: text / bytes_ / math.log(2) for name, bytes_ in wrong.items()}
    return of_text | {f"{name}, with boundaries": total / bytes_ / math.log(2) for name, bytes_ in wrong.items()}


def _counted_wrongly(pieces: dict[int, bytes], kind: np.ndarray, tokenizer: Tokenizer | Table) -> dict[str, int]:
    """How many bytes the text would seem to have, by the name of the mistake."""
    spellings = protocol_spellings(tokenizer)
    lengths = {
        "U+FFFD counted as three bytes": [len(replaced(piece)) for piece in pieces.values()],
        "a leading space counted twice": [len(piece) + piece.startswith(b" ") for piece in pieces.values()],
        "special tokens spelled out": [len(piece) or len(spellings.get(token, b"")) for token, piece in pieces.items()],
        "special tokens counted as one byte": [len(piece) or 1 for piece in pieces.values()],
    }
    occurrences = np.bincount(kind, minlength=len(pieces))
    return {name: int(occurrences @ np.array(of_kind, np.int64)) for name, of_kind in lengths.items()}


@contract
def _ids(tokens: Any) -> TokenIds:
    ids = np.asarray(tokens)
    if ids.ndim != 1 or not ids.size or not np.issubdtype(ids.dtype, np.integer):
        raise InputError("scored tokens", expected="integers in one dimension", got=f"{ids.dtype}{list(ids.shape)}")
    bad = (ids < 0) | (ids > np.iinfo(np.int32).max)  # before the conversion, which would wrap them into the range
    if bad.any():
        index = int(bad.argmax())
        expected = f"ids 0 to {np.iinfo(np.int32).max:,}"
        raise InputError("scored tokens", expected=expected, got=int(ids[index]), where=f"token {index}")
    return ids.astype(np.int32)


@contract
def _nats(nats: Any) -> TokenNats:
    costs = np.asarray(nats, np.float64)
    if costs.ndim != 1:
        raise InputError("nats", expected="numbers in one dimension", got=f"an array {list(costs.shape)}")
    bad = ~np.isfinite(costs) | (costs < -1e-3)  # rounding makes -1e-7 of a certain token
    if bad.any():
        index = int(bad.argmax())
        hint = "log-probabilities have to be negated" if (costs <= 0).all() else "no probability is above 1"
        if np.isnan(costs[index]):
            hint = "the logits of the model are not finite there, or its nats were never computed"
        elif costs[index] == np.inf:
            hint = "a token that the model holds impossible costs infinitely much"
        got, where = float(costs[index]), f"token {index}"
        raise InputError("nats", expected="-ln p, finite and at least 0", got=got, where=where, hint=hint)
    return costs


def _utf8(text: Text, where: str) -> bytes:
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise InputError("text", expected="str or bytes, or a sequence of them", got=type(text).__name__)
    return encode_utf8(text, where)


def _characters(source: bytes) -> int:
    try:
        return len(source.decode())
    except UnicodeDecodeError:
        return 0
