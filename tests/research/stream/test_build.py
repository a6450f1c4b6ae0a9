"""The stream: its layout against list concatenation, exact counts, four limits, and refusals that name the document."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from contracts.tokenizer import PROTOCOL_NAMES
from research.stream import CorpusLimits, build_stream
from research.text import Document
from research.tokenizers import ByteTokenizer

BOUNDARIES = tuple(PROTOCOL_NAMES)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
corpora = st.lists(texts, min_size=1, max_size=6)
every_boundary = pytest.mark.parametrize("boundary", BOUNDARIES)


class Encoding(ByteTokenizer):
    """A byte tokenizer with somebody else's `encode`."""

    def __init__(self, encode):
        super().__init__()
        self.encode = encode


def naive_stream(documents, boundary):
    """The layout of each policy, written out."""
    parts = [list(text.encode()) for text in documents]
    match boundary:
        case "shared":
            return [256, *(token for part in parts for token in [*part, 256])]
        case "separate":
            return [token for part in parts for token in [256, *part, 257]]
        case "bos":
            return [token for part in parts for token in [256, *part]]
        case "eos":
            return [token for part in parts for token in [*part, 256]]
        case "none":
            return [token for part in parts for token in part]


def refusal(documents, tokenizer=None, **options):
    with pytest.raises(InputError) as caught:
        build_stream(documents, tokenizer or ByteTokenizer(), **options)
    return str(caught.value)


def test_two_documents_share_their_boundaries():
    stream = build_stream(["ab", "ba"], ByteTokenizer())
    assert stream.tokens.tolist() == [256, 97, 98, 256, 98, 97, 256]
    assert stream.starts.tolist() == [1, 4]


@every_boundary
@given(documents=corpora)
def test_the_stream_is_the_concatenation_that_its_policy_names(boundary, documents):
    stream = build_stream(iter(documents), ByteTokenizer(boundary))
    assert stream.tokens.tolist() == naive_stream(documents, boundary)
    assert (stream.tokens.dtype, stream.starts.dtype) == (np.int32, np.int64)


@pytest.mark.parametrize(
    ("boundary", "expected"),
    [
        ("shared", lambda n: n + 1),
        ("separate", lambda n: 2 * n),
        ("bos", lambda n: n),
        ("eos", lambda n: n),
        ("none", lambda n: 0),
    ],
)
@given(documents=corpora)
def test_a_policy_costs_its_number_of_boundaries(boundary, expected, documents):
    stream = build_stream(documents, ByteTokenizer(boundary))
    assert (stream.tokens >= 256).sum() == expected(len(documents))


@every_boundary
@given(documents=corpora)
def test_starts_point_at_the_text_of_each_document(boundary, documents):
    stream = build_stream(documents, ByteTokenizer(boundary))
    for start, text in zip(stream.starts, documents, strict=True):
        data = text.encode()
        assert stream.tokens[start : start + len(data)].tolist() == list(data)


@every_boundary
@given(documents=st.lists(st.one_of(st.just(""), texts), min_size=1).filter(any))
def test_counts_are_exact_and_leave_skipped_documents_out(boundary, documents):
    stream = build_stream(documents, ByteTokenizer(boundary), on_empty="skip")
    kept = [text for text in documents if text]
    assert stream.counts.documents == len(kept) == len(stream.starts)
    assert stream.counts.skipped == len(documents) - len(kept)
    assert stream.counts.characters == sum(map(len, kept))
    assert stream.counts.bytes == sum(len(text.encode()) for text in kept)
    assert stream.counts.tokens == len(stream.tokens)
    assert stream.tokens.tolist() == naive_stream(kept, boundary)


@given(texts)
def test_a_document_has_one_to_four_byte_tokens_a_character(text):
    counts = build_stream([text], ByteTokenizer("none")).counts
    assert counts.characters <= counts.tokens <= 4 * counts.characters


def test_every_byte_of_a_document_longer_than_a_block_is_counted(monkeypatch):
    monkeypatch.setattr("research.stream.encode.BLOCK", 3)
    for length in range(1, 10):
        assert build_stream(["x" * length], ByteTokenizer()).counts.bytes == length


@every_boundary
@pytest.mark.parametrize("quantity", ["documents", "characters", "bytes", "tokens"])
@given(documents=st.lists(texts, min_size=2, max_size=6))
def test_a_limit_is_inclusive_and_its_refusal_names_limit_value_and_document(boundary, quantity, documents):
    tokenizer = ByteTokenizer(boundary)
    reached = getattr(build_stream(documents, tokenizer).counts, quantity)
    assert build_stream(documents, tokenizer, CorpusLimits(**{quantity: reached})).counts.documents == len(documents)

    message = refusal(documents, tokenizer, limits=CorpusLimits(**{quantity: reached - 1}))
    assert message.startswith(f"corpus limit {quantity}: expected at most {reached - 1} {quantity}, got {reached} ")
    assert message.endswith(f"at document {len(documents) - 1}")


def test_a_refusal_names_the_source_of_a_document_that_has_one():
    message = refusal([Document("ab", "x/a.txt", 4)], limits=CorpusLimits(bytes=1))
    assert message.endswith("at document 0 (x/a.txt, number 4)")


@pytest.mark.parametrize("limit", ["documents", "characters", "bytes"])
def test_a_document_over_a_limit_that_needs_no_tokens_is_not_encoded(limit):
    encoded = []
    tokenizer = Encoding(lambda text: encoded.append(text) or ByteTokenizer().encode(text))
    assert limit in refusal(["a", "b", "c"], tokenizer, limits=CorpusLimits(**{limit: 1}))
    assert encoded == ["a"]


def test_documents_after_a_refused_one_are_not_read():
    documents = iter(["a", "", "b"])
    refusal(documents)
    assert list(documents) == ["b"]


def test_a_skipped_document_does_not_count_against_the_limit():
    assert (
        build_stream(["a", "", "b"], ByteTokenizer(), CorpusLimits(documents=2), on_empty="skip").counts.documents == 2
    )


def test_an_empty_document_is_refused_with_its_number():
    assert "expected a text, got an empty one at document 1" in refusal(["a", ""])


@pytest.mark.parametrize(("documents", "got"), [([], "got none"), (["", ""], "got 2 documents, all empty")])
def test_a_corpus_without_a_document_is_refused(documents, got):
    assert got in refusal(documents, on_empty="skip")


def test_a_document_of_white_space_is_not_empty():
    assert build_stream([" ", "\n"], ByteTokenizer("none")).tokens.tolist() == [32, 10]


def test_a_lone_surrogate_is_refused_with_document_and_position():
    assert "U+DC80 as character 2 at document 1" in refusal(["a", "ab\udc80"])


@pytest.mark.parametrize(("documents", "message"), [("ab", "pass [text]"), (["a", b"b"], "got bytes at document 1")])
def test_what_is_no_text_is_refused(documents, message):
    assert message in refusal(documents)


def test_an_unknown_rule_for_empty_documents_is_refused():
    assert "'ignore'" in refusal(["a"], on_empty="ignore")


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (np.array([97, 256], np.int32), "text ids 0..255, got 97..256"),
        (np.array([97, -1], np.int32), "text ids 0..255, got -1..97"),
        (np.array([97, 98], np.int64), "int32[N] ids, got int64[2]"),
        (np.array([[97, 98]], np.int32), "int32[N] ids, got int32[1, 2]"),
        ([97, 98], "int32[N] ids, got int64[2]"),
        (np.array([97], np.int32), "2 bytes, got tokens of 1 bytes"),
        (np.array([], np.int32), "2 bytes, got tokens of 0 bytes"),
    ],
    ids=["protocol id", "negative id", "int64", "matrix", "list", "text lost", "nothing"],
)
def test_a_tokenizer_that_does_not_return_the_text_is_refused(ids, expected):
    message = refusal(["ab"], Encoding(lambda text: ids))
    assert expected in message
    assert "document 0" in message


def test_a_stream_can_not_be_written_to():
    stream = build_stream(["ab"], ByteTokenizer())
    with pytest.raises(ValueError, match="read-only"):
        stream.tokens[0] = 0


def test_building_needs_little_more_memory_than_the_stream():
    text = "0123456789" * 2000
    tracemalloc.start()
    try:
        stream = build_stream((text for _ in range(100)), ByteTokenizer())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1.3 * stream.tokens.nbytes
