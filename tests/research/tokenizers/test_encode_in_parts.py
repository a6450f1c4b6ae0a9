"""Encoding in parts: the ids of the whole text, however it comes and wherever it is cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from research.tokenizers import PATTERNS, BPETokenizer, ByteTokenizer
from research.tokenizers.parts import encode_in_parts

#: Besides every pattern with a name a plain regex, and one that looks ahead.
REGEXES = [r"\w+|\s", r"a+(?=b)|\S"]
MERGES = [(97, 97), (256, 256), (32, 97), (97, 98), (13, 10), (0xEA, 0xB0), (261, 0x80), (39, 115), (32, 32)]
TOKENIZERS = {"bytes": ByteTokenizer()} | {
    pattern: BPETokenizer(MERGES, pattern=pattern) for pattern in [*PATTERNS, *REGEXES]
}
alphabet = st.sampled_from("aaab  1\r\n.'s\u00a0e\u0301가각😀\u200d\x00")
texts = st.text(alphabet, max_size=80)


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    """By themselves they would not be used for so little, and without them nothing is cut."""
    monkeypatch.setenv("BYTEBOUND_ENGINE", "numba")


def chunked(data, ends):
    ends = sorted({min(end, len(data)) for end in ends})
    return [data[begin:end] for begin, end in zip([0, *ends], [*ends, len(data)], strict=True)]


@pytest.mark.parametrize("name", TOKENIZERS)
@given(texts, st.lists(st.integers(0, 200), max_size=8))
def test_the_parts_of_a_text_are_joined_its_ids(name, text, ends):
    tokenizer, data = TOKENIZERS[name], text.encode()
    parts = list(encode_in_parts(tokenizer, chunked(data, ends)))
    assert np.concatenate([np.zeros(0, np.int32), *(part.ids for part in parts)]).tolist() == (
        tokenizer.encode(text).tolist()
    )
    assert sum(part.bytes for part in parts) == len(data)


@pytest.mark.parametrize("name", TOKENIZERS)
@given(texts, st.lists(st.integers(0, 200), max_size=8), st.data())
def test_what_is_left_behind_any_part_can_be_encoded_alone(name, text, ends, data):
    tokenizer, encoded = TOKENIZERS[name], text.encode()
    parts = list(encode_in_parts(tokenizer, chunked(encoded, ends)))
    done = data.draw(st.integers(0, len(parts)))
    begin = sum(part.bytes for part in parts[:done])
    rest = encoded[begin:]
    again = encode_in_parts(tokenizer, chunked(rest, data.draw(st.lists(st.integers(0, 200), max_size=4))))
    ids = [token for part in [*parts[:done], *again] for token in part.ids.tolist()]
    assert ids == tokenizer.encode(text).tolist()


@pytest.mark.parametrize("name", ["bytes", "words", "gpt2", "gpt2-digits", "cl100k"])
def test_a_part_waits_for_no_more_than_the_last_cut(name):
    chunks = [b"some words, and more of them " * 10] * 20
    parts = list(encode_in_parts(TOKENIZERS[name], chunks))
    assert len(parts) >= 20
    assert max(part.bytes for part in parts) < 1.2 * len(chunks[0])


def test_a_text_without_a_cut_is_searched_a_bounded_number_of_times(monkeypatch):
    from research.tokenizers import engine

    searched, last_cut = [], engine.last_cut
    monkeypatch.setattr(engine, "last_cut", lambda data, pattern: searched.append(len(data)) or last_cut(data, pattern))
    (part,) = encode_in_parts(TOKENIZERS["words"], [b"a" * 100] * 1000)
    assert part.ids.tolist() == TOKENIZERS["words"].encode("a" * 100_000).tolist()
    assert sum(searched) < 3 * 100_000


def test_without_the_kernels_the_text_is_one_part(monkeypatch):
    monkeypatch.setenv("BYTEBOUND_ENGINE", "python")
    (part,) = encode_in_parts(TOKENIZERS["gpt2"], [b"some words, ", b"and more"])
    assert part.ids.tolist() == TOKENIZERS["gpt2"].encode("some words, and more").tolist()


@pytest.mark.parametrize("name", ["bytes", "words", "none"])
@pytest.mark.parametrize("chunks", [[b"ab cd ", b"e\xff f "], [b"ab cd e", b"f", b"\xea\xb0"]])
def test_what_is_not_utf8_is_refused(name, chunks):
    with pytest.raises(InputError, match=r"data from byte \d+ on: expected valid UTF-8"):
        list(encode_in_parts(TOKENIZERS[name], chunks))
