"""Ids are those of the plain implementation, of peers on real text, and the same whatever is remembered."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pieces import as_documents, texts

from research.tokenizers.kernels import encoder as encoder_module
from research.tokenizers.kernels.decode import Spelling
from research.tokenizers.kernels.encoder import Encoder
from research.tokenizers.plain.encode import merge_bytes
from research.tokenizers.plain.train import learn_merges
from research.tokenizers.pretokenize import PATTERNS, pretokenizer


@st.composite
def vocabularies(draw):
    """Merges that nobody learned, of any two earlier ids: a token may have several spellings, or never come about."""
    merges: dict[tuple[int, int], None] = {}
    for _ in range(draw(st.integers(0, 12))):
        earlier = st.sampled_from([*b"ab ", *range(256, 256 + len(merges))])
        merges[draw(earlier), draw(earlier)] = None
    return list(merges)


def plainly(text, merges, pattern):
    ranks = {pair: 256 + index for index, pair in enumerate(merges)}
    return [token for piece in pretokenizer(pattern).split(text) for token in merge_bytes(piece.encode(), ranks)]


def encoder(merges, pattern="words"):
    return Encoder(np.array(merges, np.int32).reshape(-1, 2), pretokenizer(pattern))


def spelled(merges, ids):
    return Spelling(np.array(merges, np.int32).reshape(-1, 2)).decode(ids)


@settings(max_examples=150)
@given(vocabularies(), st.text("ab ", max_size=120), st.sampled_from(["words", "none"]))
def test_any_merges_give_any_text_the_ids_of_the_plain_implementation(merges, text, pattern):
    ids = encoder(merges, pattern).encode(*as_documents([text]))
    assert ids.dtype == np.int32
    assert ids.tolist() == plainly(text, merges, pattern)
    assert spelled(merges, ids) == text.encode()


@pytest.mark.parametrize("pattern", [*PATTERNS, r"\w\w|\s", r"(?<=\w)\w|\s"])
@given(st.lists(texts, max_size=5))
def test_a_batch_holds_the_ids_of_each_text_and_where_they_begin(sample_merges, pattern, texts):
    tokens, offsets = encoder(sample_merges, pattern).encode_batch(as_documents(texts))
    assert offsets.dtype == np.int64
    assert [offsets[0], offsets[-1]] == [0, len(tokens)]
    for text, start, stop in zip(texts, offsets[:-1], offsets[1:], strict=True):
        assert tokens[start:stop].tolist() == plainly(text, sample_merges, pattern)


@pytest.fixture(scope="module")
def sample_merges(sample_text):
    return learn_merges({sample_text.encode(): 1}, 200)


def test_the_short_way_and_the_heap_agree_at_every_length(sample_merges):
    text = "the rabbit told the other animals " * 4
    for length in range(1, len(text)):
        assert encoder(sample_merges, "none").encode(*as_documents([text[:length]])).tolist() == plainly(
            text[:length], sample_merges, "none"
        )


def test_forgetting_words_changes_no_id(sample_merges, sample_text, monkeypatch):
    lines = sample_text.splitlines(keepends=True)
    remembering = encoder(sample_merges)
    expected = remembering.encode_batch(as_documents(lines))[0].tolist()
    monkeypatch.setattr(encoder_module, "_MOST_WORDS", 20)
    forgetful = encoder(sample_merges)
    assert [token for line in lines for token in forgetful.encode(*as_documents([line])).tolist()] == expected
    assert forgetful.remembered < remembering.remembered


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(encoder_module, "_MOST_WORDS", 1 << 14)
    tokenizer = encoder([])
    for start in range(0, 100_000, 10_000):
        tokenizer.encode(*as_documents([" ".join(map(str, range(start, start + 10_000)))]))
        assert tokenizer.remembered < 2 * encoder_module._MOST_WORDS


def test_no_text_has_no_ids():
    tokens, offsets = encoder([]).encode_batch([])
    assert (tokens.tolist(), offsets.tolist()) == ([], [0])
    assert encoder([]).encode(*as_documents([""])).tolist() == []
    assert spelled([], np.zeros(0, np.int32)) == b""


def test_a_long_text_without_a_space_is_merged_like_any_other(sample_merges):
    letters = np.random.default_rng(0).choice(list(b"therabit"), 50_000).astype(np.uint8)
    for text in (letters, np.full(50_000, ord("a"), np.uint8)):
        assert encoder(sample_merges).encode(text).tolist() == plainly(text.tobytes().decode(), sample_merges, "words")


def test_megabytes_without_a_space_return():
    letters = np.random.default_rng(0).choice(list(b"ab"), 3_000_000).astype(np.uint8)
    merges = [(97, 98), (256, 256), (98, 98), (257, 258)]
    assert spelled(merges, encoder(merges, "none").encode(letters)) == letters.tobytes()


@given(st.lists(st.integers(0, 455), max_size=50))
def test_any_ids_are_spelled_as_their_tokens_joined(sample_merges, ids):
    tokens = [bytes([value]) for value in range(256)]
    for left, right in sample_merges:
        tokens.append(tokens[left] + tokens[right])
    assert spelled(sample_merges, np.array(ids, np.int32)) == b"".join(tokens[token] for token in ids)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["gpt2", "cl100k"])
@pytest.mark.parametrize("corpus", ["en10.txt", "multi5.txt"])
def test_tiktoken_gives_the_same_ids_for_the_same_merges(pattern, corpus, shared_path):
    tiktoken = pytest.importorskip("tiktoken")
    from research.tokenizers.kernels.count import WordCounter
    from research.tokenizers.kernels.learn import learn_merges

    text = shared_path(f"corpora/large/{corpus}").read_text(encoding="utf-8")
    document = as_documents([text])
    counter = WordCounter()
    counter.add(document, PATTERNS[pattern])
    merges = learn_merges(counter.result(), 8_192 - 256)
    tokens = [bytes([value]) for value in range(256)]
    for left, right in merges.tolist():
        tokens.append(tokens[left] + tokens[right])
    ranks = {token: index for index, token in enumerate(tokens)}
    theirs = tiktoken.Encoding(
        corpus, pat_str=PATTERNS[pattern].regex, mergeable_ranks=ranks, special_tokens={}
    ).encode_to_numpy(text, disallowed_special=())
    ours = Encoder(merges, PATTERNS[pattern]).encode(*document)
    assert np.array_equal(ours, theirs)
    assert Spelling(merges).decode(ours) == text.encode()
