"""Threads that share a text make the ids that one makes, wherever the text is cut."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pieces import as_documents, texts

from contracts.errors import InputError
from research.tokenizers import PATTERNS, BPETokenizer, ByteTokenizer
from research.tokenizers.kernels.encoder import Encoder
from research.tokenizers.kernels.shares import encode_on_threads, shares
from research.tokenizers.pretokenize import pretokenizer

MERGES = np.array([(97, 97), (32, 97), (256, 115), (39, 115), (10, 10), (49, 49)], np.int32)


def lender(pattern):
    @contextmanager
    def lend():
        yield Encoder(MERGES, pattern)

    return lend


@pytest.mark.parametrize("name", [*PATTERNS, r"\w+|\s", r"(?<=\w)\w|\s"])
@given(st.lists(texts, max_size=4), st.integers(1, 3), st.integers(1, 30))
def test_any_number_of_threads_and_any_cuts_give_the_same_ids(name, texts, threads, size):
    pattern, documents = pretokenizer(name), as_documents(texts)
    expected = Encoder(MERGES, pattern).encode_batch(documents)
    tokens, offsets = encode_on_threads(documents, pattern, threads, lender(pattern), size)
    assert tokens.tolist() == expected[0].tolist()
    assert offsets.tolist() == expected[1].tolist()


@given(st.lists(texts, max_size=4), st.integers(1, 30))
def test_shares_are_the_texts_in_order_and_say_how_large_they_are(texts, size):
    documents = as_documents(texts)
    found = list(shares(documents, PATTERNS["gpt2"], size))
    assert b"".join(part.tobytes() for share in found for part in share.texts) == "".join(texts).encode()
    assert sum(sum(share.closed) for share in found) == len(texts)
    assert all(share.size == sum(map(len, share.texts)) for share in found)


def test_a_long_text_is_shared_among_threads():
    documents = as_documents(["many words " * 1000])
    assert len(list(shares(documents, PATTERNS["gpt2"], 1 << 10))) >= 10


def test_what_follows_a_run_without_any_cut_is_shared_too():
    documents = as_documents(["a" * 5000 + " many words" * 1000])
    found = list(shares(documents, PATTERNS["gpt2"], 1 << 10))
    assert len(found) >= 6
    assert max(share.size for share in found) < 3 * 5000


def test_the_face_takes_threads(sample_text, monkeypatch):
    monkeypatch.setenv("BYTEBOUND_ENGINE", "numba")
    tokenizer = BPETokenizer.train([sample_text], 400, "gpt2")
    text = sample_text * 1000  # more than one share
    ids = tokenizer.encode(text).tolist()
    for threads in (2, 3):
        assert tokenizer.encode(text, threads=threads).tolist() == ids
        assert tokenizer.encode_bytes(text.encode(), threads=threads).tolist() == ids
        tokens, offsets = tokenizer.encode_batch([text, "", text], threads=threads)
        assert tokens.tolist() == ids * 2
        assert offsets.tolist() == [0, len(ids), len(ids), 2 * len(ids)]
    assert ByteTokenizer().encode("ab", threads=2).tolist() == [97, 98]


@pytest.mark.parametrize("threads", [0, -1, True])
def test_no_threads_are_refused(threads):
    with pytest.raises(InputError, match="threads: expected an integer of at least 1"):
        ByteTokenizer().encode("a", threads=threads)
