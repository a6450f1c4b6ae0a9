"""What ids mean: the vocabulary, the ids of a text, identity, start and stop, and what decodes."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from contracts.errors import InputError
from contracts.tokenizer import TokenizerIdentity
from experiments.contracts.blast_radius.choices import Choice
from experiments.contracts.blast_radius.consequence import Consequence, change, consequence
from research.tokenizers import boundaries
from research.tokenizers.tokenizer import ByteLevelTokenizer

#: Documents that are decoded under both choices.
MOST_DECODED = 200


def vocabulary(old: Choice, new: Choice) -> Iterator[Consequence]:
    """How many ids there are, which are protocol tokens, and how many keep their meaning."""
    sizes = [choice.tokenizer.vocab_size for choice in (old, new)]
    yield consequence(
        "vocabulary size",
        "tokens",
        (f"{size:,}" for size in sizes),
        f"{change(*sizes)} ids",
        ByteLevelTokenizer.vocab_size,
    )
    yield consequence(
        "protocol ids",
        "tokens",
        (_named(choice.tokenizer.protocol) for choice in (old, new)),
        f"{_protocol_positions(old):,} positions of the stream hold one, then {_protocol_positions(new):,}",
        boundaries.protocol_ids,
    )
    kept = _kept_ids(old.tokenizer, new.tokenizer)
    others = int(np.count_nonzero(~kept[old.stream.tokens]))
    yield consequence(
        "ids that keep their meaning",
        "tokens",
        (f"{count:,} of {sizes[0]:,}" for count in (sizes[0], np.count_nonzero(kept))),
        f"the others stand at {others:,} of the {len(old.stream.tokens):,} positions of the old stream",
        ByteLevelTokenizer.token_bytes,
    )


def text_ids(old: Choice, new: Choice) -> Iterator[Consequence]:
    """The ids of the documents' text, without boundaries."""
    sides = [_texts(choice) for choice in (old, new)]
    same = sum(np.array_equal(before, after) for before, after in zip(*sides, strict=True))
    yield consequence(
        "tokens of the text",
        "tokens",
        (f"{sum(map(len, side)):,} (sha256 {_fingerprint(side)})" for side in sides),
        f"{change(*(sum(map(len, side)) for side in sides))} tokens; {same:,} of {len(old.documents):,} documents keep "
        "their ids",
        ByteLevelTokenizer.encode,
    )


def identity(old: Choice, new: Choice) -> Iterator[Consequence]:
    """Whether checkpoints and streams of the one are taken by the other."""
    before, after = old.tokenizer.identity, new.tokenizer.identity
    differing = [name for name, value in asdict(before).items() if value != asdict(after)[name]]
    yield consequence(
        "tokenizer identity",
        "weights",
        (f"{each.version} {each.vocab_sha256[:12]}" for each in (before, after)),
        f"a checkpoint is {'refused' if _is_refused(before, after) else 'taken'}: {', '.join(differing)} differ",
        TokenizerIdentity.require,
    )


def ends(old: Choice, new: Choice) -> Iterator[Consequence]:
    """What seeds a generation and what stops it, and how often the corpus has the one and teaches the other."""
    names = [_name(choice.tokenizer, choice.tokenizer.start_id) for choice in (old, new)]
    counts = [_count(choice.stream.tokens, choice.tokenizer.start_id) for choice in (old, new)]
    amount = f"it stands at {counts[0]:,} positions, then at {counts[1]:,}"
    yield consequence("start token", "tokens", names, amount, boundaries.start_id)
    names = [_name(choice.tokenizer, choice.tokenizer.stop_id) for choice in (old, new)]
    counts = [_count(choice.stream.tokens[1:], choice.tokenizer.stop_id) for choice in (old, new)]
    amount = f"it is the target of {counts[0]:,} positions, then of {counts[1]:,}"
    yield consequence("stop token", "tokens", names, amount, boundaries.stop_id)


def decoding(old: Choice, new: Choice) -> Iterator[Consequence]:
    """Whether documents that the old choice framed are read back by the new one."""
    texts = old.documents[:MOST_DECODED]
    framed = [_framed(old.tokenizer, ids.tolist()) for ids in _texts(old)[:MOST_DECODED]]
    answers = [[_decoded(choice.tokenizer, ids) for ids in framed] for choice in (old, new)]
    right = [sum(answer == text for answer, text in zip(side, texts, strict=True)) for side in answers]
    refusals = [answer for answer in answers[1] if isinstance(answer, InputError)]
    other = len(texts) - right[1] - len(refusals)
    said = f"{len(refusals):,} refused{f' ({refusals[0]})' if refusals else ''}, {other:,} read as another text"
    said += f"; of the first {len(texts):,} documents" if len(texts) < len(old.documents) else ""
    yield consequence(
        "the old choice's documents decode",
        "tokens",
        (f"{count:,} of {len(texts):,}" for count in right),
        said,
        boundaries.without_boundaries,
    )


def _named(protocol: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {token}" for name, token in protocol.items()) or "none"


def _name(tokenizer: Any, token: int | None) -> str:
    names = {token_id: name for name, token_id in tokenizer.protocol.items()}
    return "none" if token is None else f"{names[token]} {token}"


def _count(tokens: np.ndarray, token: int | None) -> int:
    return 0 if token is None else int(np.count_nonzero(tokens == token))


def _protocol_positions(choice: Choice) -> int:
    return int(np.count_nonzero(choice.stream.tokens >= choice.tokenizer.text_vocab_size))


def _kept_ids(old: Any, new: Any) -> np.ndarray:
    """For each old id whether the new tokenizer means the same by it."""
    before, after = _meanings(old), _meanings(new)
    return np.array([token < len(after) and after[token] == meaning for token, meaning in enumerate(before)])


def _meanings(tokenizer: Any) -> list[bytes | str]:
    text: list[bytes | str] = [tokenizer.token_bytes(token) for token in range(tokenizer.text_vocab_size)]
    return text + list(tokenizer.protocol)


def _texts(choice: Choice) -> list[np.ndarray]:
    """Each document's ids, cut out of the stream."""
    tokens, starts = choice.stream.tokens, choice.stream.starts
    ends_of = [*starts[1:], len(tokens)]
    parts = (tokens[start:end] for start, end in zip(starts, ends_of, strict=True))
    return [part[part < choice.tokenizer.text_vocab_size] for part in parts]


def _fingerprint(texts: Sequence[np.ndarray]) -> str:
    return hashlib.sha256(b"".join(ids.astype("<i4").tobytes() for ids in texts)).hexdigest()[:8]


def _is_refused(old: TokenizerIdentity, new: TokenizerIdentity) -> bool:
    try:
        new.require(old, "the checkpoint")
    except InputError:
        return True
    return False


def _framed(tokenizer: Any, ids: list[int]) -> list[int]:
    """One document as the boundary policy puts it into a stream."""
    return [token for token in (tokenizer.start_id, *ids, tokenizer.stop_id) if token is not None]


def _decoded(tokenizer: Any, ids: list[int]) -> str | InputError:
    try:
        return tokenizer.decode_document(ids)
    except InputError as error:
        return error
