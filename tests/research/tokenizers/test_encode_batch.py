"""A batch is its texts one after the other, and where each begins."""

import mmap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from research.tokenizers import BPETokenizer, ByteTokenizer

TOKENIZERS = [ByteTokenizer(), BPETokenizer([(104, 101), (32, 116), (257, 256)], "gpt2")]
both = pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=["bytes", "bpe"])


@both
@given(texts=st.lists(st.text(max_size=12), max_size=6))
def test_each_text_has_the_ids_that_it_has_alone(tokenizer, texts):
    tokens, offsets = tokenizer.encode_batch(iter(texts))
    assert (tokens.dtype, offsets.dtype) == (np.int32, np.int64)
    assert offsets[0] == 0
    assert offsets[-1] == len(tokens)
    assert len(offsets) == len(texts) + 1
    for index, text in enumerate(texts):
        assert tokens[offsets[index] : offsets[index + 1]].tolist() == tokenizer.encode(text).tolist()


@both
def test_texts_may_be_bytes_of_every_kind(tokenizer, tmp_path):
    data = "he the 안녕".encode()
    path = tmp_path / "text"
    path.write_bytes(data)
    array = np.frombuffer(data, np.uint8)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        kinds = [data.decode(), data, bytearray(data), memoryview(data), array, np.memmap(path, np.uint8, "r"), mapped]
        tokens, offsets = tokenizer.encode_batch(kinds)
        assert tokenizer.encode_bytes(mapped).tolist() == tokenizer.encode_bytes(data).tolist()
    assert tokens.tolist() == tokenizer.encode(data.decode()).tolist() * len(kinds)
    assert np.diff(offsets).tolist() == [len(tokens) // len(kinds)] * len(kinds)


@both
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("\ud800", r"text 1: expected Unicode text .* at character 0"),
        (b"a\xff", r"text 1: expected valid UTF-8, got 0xFF .* at byte 1"),
        (5, r"text 1: expected bytes, got int"),
        (np.array([1, 2]), r"text 1: expected one dimension of unsigned bytes"),
    ],
)
def test_a_bad_text_is_refused_with_its_number(tokenizer, bad, message):
    with pytest.raises(InputError, match=message):
        tokenizer.encode_batch(["good", bad])


@both
@pytest.mark.parametrize("single", ["text", b"text", bytearray(b"text"), np.zeros(3, np.uint8)])
def test_a_single_text_is_no_batch(tokenizer, single):
    with pytest.raises(InputError, match=r"texts: expected an iterable of texts, got .*; put a single text in a list"):
        tokenizer.encode_batch(single)
