"""What a decoder's predictions of a stream cost: every byte scored exactly once, whatever the tokenizer.

Only the context differs between policies, and it is declared. What has no context at all still has to be paid for: a
protocol token that opens the stream is given, a text token without anything before it costs a uniform guess.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from contracts.core import contract
from contracts.decoder import LanguageModel, Positions, Segments, Tokens
from contracts.errors import InputError
from contracts.evaluation import ContextPolicy, Evaluation, TokenNats
from contracts.stream import TokenStream
from contracts.tokenizer import Tokenizer
from research.evaluate.bits import ledger
from research.evaluate.windows import ContextWindows
from research.model import check_tokens
from research.model.nats import Nats, token_nats
from research.progress import progress


@jax.jit
@contract
def window_nats(decoder: Any, tokens: Tokens, targets: Tokens, segments: Segments | None, positions: Positions) -> Nats:
    """-ln p of each target of a batch of windows."""
    return token_nats(decoder(tokens, segments, positions), targets)


def evaluate(
    decoder: LanguageModel,
    stream: TokenStream,
    tokenizer: Tokenizer,
    policy: ContextPolicy,
    *,
    batch_size: int = 8,
    text: Sequence[str | bytes] | None = None,
    score: Callable[..., Any] = window_nats,
) -> Evaluation:
    """Score a stream, and account for it in bits per byte.

    All batches have one shape, `batch_size` windows of `policy.length`, and compile once. The bytes of the scored
    tokens are held against `text`, the documents of the stream; without it against the number of bytes that the
    stream counted before they were encoded. `score` is `window_nats` or computes the same elsewhere, such as over the
    devices of several processes.

    Raises:
        InputError: for a decoder and a tokenizer of different sizes, windows longer than the decoder's context, ids
            outside the vocabulary, and bytes that do not reconcile.
    """
    _require_fit(decoder, stream, tokenizer, policy, batch_size)
    windows = ContextWindows(stream, tokenizer, policy)
    nats = _score(decoder, windows, batch_size, score)
    is_text = np.asarray(stream.tokens) < tokenizer.text_vocab_size
    unconditioned = np.isnan(nats) & is_text
    nats[unconditioned] = math.log(tokenizer.text_vocab_size)
    scored = ~np.isnan(nats)
    document = windows.document_of_tokens()
    return Evaluation(
        policy=policy,
        ledger=ledger(
            np.asarray(stream.tokens)[scored],
            nats[scored],
            tokenizer,
            document_bytes(stream, tokenizer) if text is None else text,
        ),
        nats=nats,
        document=document,
        position=np.arange(len(nats)) - windows.begins[document],
        given=int(np.count_nonzero(~scored)),
        unconditioned=int(np.count_nonzero(unconditioned)),
    )


def document_bytes(stream: TokenStream, tokenizer: Tokenizer) -> list[bytes]:
    """The documents of a stream, decoded. Raises `InputError` unless they have as many bytes as were encoded."""
    found = list(decoded(stream, tokenizer))
    size = sum(map(len, found))
    if size != stream.counts.bytes:
        hint = "the tokens are not those of the text that was counted, or another tokenizer's"
        raise InputError("bytes of the stream", expected=f"{stream.counts.bytes:,}", got=f"{size:,}", hint=hint)
    return found


def decoded(stream: TokenStream, tokenizer: Tokenizer) -> Iterator[bytes]:
    """The documents of a stream one by one."""
    begin = np.asarray(stream.starts)
    protocol = np.flatnonzero(np.asarray(stream.tokens) >= tokenizer.text_vocab_size)
    # A document's text goes to the next protocol token; where there are none, to the next document.
    bounds = np.sort(np.concatenate([protocol, begin, [len(stream.tokens)]]))
    end = bounds[np.searchsorted(bounds, begin, side="right")]
    for first, behind in zip(begin.tolist(), end.tolist(), strict=True):
        yield tokenizer.decode_bytes(np.asarray(stream.tokens[first:behind], np.int32))


@contract
def _score(decoder: Any, windows: ContextWindows, batch_size: int, score: Any) -> TokenNats:
    """-ln p of each token of the stream that is predicted, NaN for the others."""
    nats = np.full(len(windows.stream.tokens), np.nan)
    is_masked = windows.policy.isolation == "segments"
    waiting: list[tuple[jax.Array, np.ndarray, np.ndarray]] = []

    def take(batch: jax.Array, index: np.ndarray, weights: np.ndarray) -> int:
        chosen = weights > 0
        nats[index[chosen]] = np.asarray(batch)[chosen]
        return int(np.count_nonzero(chosen))

    model = decoder if is_pytree(decoder) else jax.tree_util.Partial(decoder)
    with progress("evaluating", total=len(nats), unit="tokens") as bar:
        for first in range(0, windows.count, batch_size):
            batch, index = windows.batch(first, batch_size)
            segments = batch.segments if is_masked else None
            costs = score(model, batch.tokens, batch.targets, segments, batch.positions)
            waiting.append((costs, index, batch.weights))
            if len(waiting) > 1:  # the next batch is made while the device works on this one
                bar.advance(take(*waiting.pop(0)))
        for each in waiting:
            bar.advance(take(*each))
    return nats


def is_pytree(decoder: Any) -> bool:
    """Whether a decoder is a tree of arrays, as modules of Flax NNX and Equinox are, and not one opaque leaf."""
    return jax.tree_util.all_leaves([decoder]) is False


def _require_fit(
    decoder: LanguageModel, stream: TokenStream, tokenizer: Tokenizer, policy: ContextPolicy, batch_size: int
) -> None:
    if batch_size < 1:
        raise InputError("batch_size", expected="at least 1", got=batch_size)
    if not len(stream.starts):
        raise InputError("stream", expected="at least one document", got="none")
    require_vocabulary(decoder, tokenizer)
    limit = decoder.config.context_length
    if policy.length > limit:
        raise InputError("ContextPolicy length", expected=f"at most {limit}, the decoder's context", got=policy.length)
    check_tokens(np.asarray(stream.tokens, np.int32), decoder.config, "the stream")


def require_vocabulary(decoder: LanguageModel, tokenizer: Tokenizer) -> None:
    """Refuse a decoder whose vocabulary has not the size of the tokenizer's."""
    if decoder.config.vocab_size != tokenizer.vocab_size:
        hint = "it was trained with another tokenizer or boundary policy"
        expected = f"the tokenizer's vocab_size {tokenizer.vocab_size:,}"
        raise InputError("decoder", expected=expected, got=f"{decoder.config.vocab_size:,}", hint=hint)
