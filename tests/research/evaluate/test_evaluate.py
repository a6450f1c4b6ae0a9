"""Every byte scored once, from the context that was declared: against a loop that runs one row for each token."""

import itertools
import math
from dataclasses import replace

import jax
import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

from contracts.batch import RowPolicy
from contracts.errors import InputError
from contracts.evaluation import ContextPolicy
from research.evaluate import evaluate
from research.evaluate.score import document_bytes, window_nats
from research.evaluate.windows import ContextWindows
from research.stream import Rows, build_stream
from research.tokenizers import BPETokenizer, ByteTokenizer

BOUNDARIES = ("shared", "separate", "bos", "eos", "none")
POLICIES = (
    ContextPolicy(7),
    ContextPolicy(7, 3),
    ContextPolicy(7, 6, "segments", "restart", "no-cross"),
    ContextPolicy(7, 2, "segments", "continue", "all"),
    ContextPolicy(7, 0, "cross", "restart", "no-cross"),
    ContextPolicy(7, 4, "reset", "restart", "no-cross"),
)


@jax.jit
def forward(decoder, tokens, positions):
    return decoder(tokens, None, positions)


def documents_of(tokens, starts, protocol_ids, is_shared):
    """(first, behind the last) token of each document, read off the stream by hand."""
    spans = []
    for start in starts.tolist():
        first = start - 1 if start and tokens[start - 1] in protocol_ids[:1] else start
        last = start
        while last < len(tokens) and tokens[last] < 256 and (last == start or last not in starts):
            last += 1
        has_closing = last < len(tokens) and tokens[last] in protocol_ids[1:]
        spans.append((first, last + has_closing))
    return spans


def naive(decoder, stream, tokenizer, policy):
    """Nats of each token: a forward pass of its own context, from the left edge of its window to the one before it."""
    tokens = np.asarray(stream.tokens)
    opening, closing = tokenizer.start_id, tokenizer.stop_id
    ids = [-1 if opening is None else opening, -1 if closing is None else closing]
    spans = documents_of(tokens, stream.starts, ids, opening == closing)
    nats = np.full(len(tokens), np.nan)
    for first, behind in spans if policy.isolation == "reset" else [(0, len(tokens))]:
        for target in range(first + 1, behind):
            pair = target - first - 1
            stride = policy.length - policy.overlap
            window = max(0, -(-(pair + 1 - policy.length) // stride))
            left = first + window * stride
            document = [begin for begin, _ in spans if begin < target][-1]
            is_join = opening != closing or opening is None
            is_join = is_join and target in [begin for begin, _ in spans]
            if is_join and policy.joins == "no-cross":
                continue
            if policy.isolation == "segments":
                left = max(left, document)
            start = max(first + window * stride, document) if policy.positions == "restart" else first + window * stride
            row, position = np.zeros((2, 1, policy.length), np.int32)
            context = np.arange(left, target)
            row[0, : len(context)] = tokens[context]
            begins = [max([b for b, _ in spans if b <= index], default=0) for index in context]
            if policy.positions == "restart":
                position[0, : len(context)] = [
                    index - max(first + window * stride, begin) for index, begin in zip(context, begins, strict=True)
                ]
            else:
                position[0, : len(context)] = context - start
            logits = np.asarray(forward(decoder, row, position))[0, len(context) - 1].astype(np.float64)
            nats[target] = -scipy.special.log_softmax(logits)[tokens[target]]
    nats[np.isnan(nats) & (tokens < 256)] = math.log(256)
    return nats


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize(
    "boundary", ["shared", "separate", *(pytest.param(name, marks=pytest.mark.slow) for name in ("bos", "eos", "none"))]
)
def test_each_token_costs_what_a_row_of_its_own_context_says(boundary, policy, bytes_decoder, stream_of):
    tokenizer = ByteTokenizer(boundary)
    decoder, stream = bytes_decoder(tokenizer), stream_of(tokenizer)
    found = evaluate(decoder, stream, tokenizer, policy, batch_size=3)
    np.testing.assert_allclose(found.nats, naive(decoder, stream, tokenizer, policy), atol=2e-4, equal_nan=True)
    total = found.ledger.nats_text.sum() + found.ledger.nats_protocol.sum()
    assert total == pytest.approx(np.nansum(found.nats))
    assert found.ledger.bytes.tolist() == [len(text) for text in document_bytes(stream, tokenizer)]
    assert found.given == np.isnan(found.nats).sum()


@given(
    st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=12), min_size=1, max_size=6),
    st.sampled_from(BOUNDARIES),
    st.integers(1, 9).flatmap(lambda length: st.tuples(st.just(length), st.integers(0, length - 1))),
    st.sampled_from([("cross", "all"), ("segments", "no-cross"), ("segments", "all"), ("reset", "no-cross")]),
    st.integers(1, 4),
)
def test_every_prediction_stands_in_exactly_one_window(texts, boundary, window, isolation, rows):
    for tokenizer in (ByteTokenizer(boundary), BPETokenizer.train(["aaab aab"], 259, boundary=boundary)):
        stream = build_stream(texts, tokenizer)
        policy = ContextPolicy(*window, isolation[0], "continue", isolation[1])
        windows = ContextWindows(stream, tokenizer, policy)
        times = np.zeros(len(stream.tokens), int)
        for first in range(0, windows.count, rows):
            batch, index = windows.batch(first, rows)
            np.add.at(times, index[batch.weights > 0], 1)
            assert np.array_equal(batch.targets[batch.weights > 0], stream.tokens[index[batch.weights > 0]])
        begins = windows.begins if not windows.layout.is_shared else windows.begins[:1]
        expected = np.ones(len(stream.tokens), int)
        expected[begins if policy.joins == "no-cross" else begins[:1]] = 0
        if begins[0] > 0:
            expected[0] = 0
        assert np.array_equal(times, expected)


def test_in_one_window_the_nats_are_those_of_the_training_rows(bytes_decoder, stream_of):
    tokenizer = ByteTokenizer("separate")
    decoder, stream = bytes_decoder(tokenizer), stream_of(tokenizer)
    row_policy = RowPolicy("concatenate", "segments", "restart", "no-cross")
    batch = Rows(stream, tokenizer, row_policy, 20, 7).in_order(0)
    nats = np.asarray(window_nats(decoder, batch.tokens, batch.targets, batch.segments, batch.positions))
    trained = nats[batch.weights > 0].astype(np.float64)
    found = evaluate(decoder, stream, tokenizer, ContextPolicy.like(row_policy, 7))
    np.testing.assert_allclose(found.nats[~np.isnan(found.nats)], trained, atol=1e-5)


def test_all_batches_of_all_policies_of_one_length_compile_once_each_for_masked_and_causal(bytes_decoder, stream_of):
    tokenizer = ByteTokenizer()
    decoder = bytes_decoder(tokenizer)
    window_nats.clear_cache()
    for policy, texts in itertools.product(POLICIES, [("a long text " * 9, "b"), ("ab",)]):
        evaluate(decoder, stream_of(tokenizer, texts), tokenizer, policy, batch_size=2)
    assert window_nats._cache_size() == 2


def test_the_bytes_are_held_against_the_text_and_against_what_was_counted_before_encoding(bytes_decoder, stream_of):
    tokenizer = ByteTokenizer()
    decoder, stream = bytes_decoder(tokenizer), stream_of(tokenizer, ("ab", "cd"))
    policy = ContextPolicy(7)
    assert evaluate(decoder, stream, tokenizer, policy, text=["ab", "cd"]).ledger.bytes.tolist() == [2, 2]
    with pytest.raises(InputError, match="bytes of the scored tokens"):
        evaluate(decoder, stream, tokenizer, policy, text=["ab", "ce"])
    miscounted = replace(stream, counts=replace(stream.counts, bytes=5))
    with pytest.raises(InputError, match="expected 5, got 4"):
        evaluate(decoder, miscounted, tokenizer, policy)


def test_costs_by_position_behind_a_boundary_add_up(bytes_decoder, stream_of):
    tokenizer = ByteTokenizer()
    found = evaluate(bytes_decoder(tokenizer), stream_of(tokenizer, ("abc", "de")), tokenizer, ContextPolicy(7))
    assert found.document.tolist() == [0, 0, 0, 0, 0, 1, 1, 1]
    assert found.position.tolist() == [0, 1, 2, 3, 4, 1, 2, 3]
    nats, count = found.by_position(4)
    assert count.tolist() == [0, 2, 2, 2]
    np.testing.assert_allclose(nats, [0, *(found.nats[i] + found.nats[i + 4] for i in (1, 2, 3))])


def test_a_decoder_that_is_a_plain_function_is_evaluated_too(bytes_decoder, stream_of):
    tokenizer = ByteTokenizer()
    decoder, stream = bytes_decoder(tokenizer), stream_of(tokenizer)

    def plain(tokens, segments=None, positions=None):
        return decoder(tokens, segments, positions)

    plain.config = decoder.config
    expected = evaluate(decoder, stream, tokenizer, ContextPolicy(7)).nats
    np.testing.assert_allclose(evaluate(plain, stream, tokenizer, ContextPolicy(7)).nats, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"policy": ContextPolicy(17)}, "at most 16"),
        ({"tokenizer": ByteTokenizer("separate")}, "another tokenizer or boundary policy"),
        ({"batch_size": 0}, "at least 1"),
    ],
)
def test_what_does_not_fit_is_refused(change, complaint, bytes_decoder, stream_of):
    tokenizer = ByteTokenizer()
    given = {"decoder": bytes_decoder(tokenizer), "stream": stream_of(tokenizer), "tokenizer": tokenizer}
    with pytest.raises(InputError, match=complaint):
        evaluate(**given | {"policy": ContextPolicy(7)} | change)


@pytest.mark.parametrize(
    "fields",
    [
        {"length": 0},
        {"length": 4, "overlap": 4},
        {"length": 4, "isolation": "mask"},
        {"length": 4, "isolation": "reset"},
    ],
)
def test_a_context_that_can_not_be_is_refused(fields):
    with pytest.raises(InputError, match="ContextPolicy"):
        ContextPolicy(**fields)
