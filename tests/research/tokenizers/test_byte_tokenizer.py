"""The byte tokenizer: 256 bytes, one id each, and a boundary that no text can spell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.tokenizers import ByteTokenizer

BYTES = ByteTokenizer()


def test_257_ids_are_256_bytes_and_one_shared_boundary():
    assert (BYTES.text_vocab_size, BYTES.vocab_size, BYTES.protocol) == (256, 257, {"doc": 256})
    assert (BYTES.start_id, BYTES.stop_id) == (256, 256)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("<|doc|>", [60, 124, 100, 111, 99, 124, 62]),
        ("😀", [240, 159, 152, 128]),
        ("가", [0xEA, 0xB0, 0x80]),
        ("안녕", list("안녕".encode())),
        ("ab", [97, 98]),
        ("", []),
        ("\0\r\n", [0, 13, 10]),
    ],
)
def test_encode_is_utf8_by_value(text, ids):
    assert BYTES.encode(text).tolist() == ids
    assert BYTES.encode(text).dtype == np.int32


@pytest.mark.parametrize(("token_id", "token"), [(0, b"\x00"), (65, b"A"), (97, b"a"), (255, b"\xff")])
def test_the_id_of_a_byte_is_its_value(token_id, token):
    assert BYTES.token_bytes(token_id) == token
    assert BYTES.decode_bytes([token_id]) == token


@given(st.text())
def test_a_text_of_n_characters_has_n_to_4n_tokens_and_comes_back_exactly(text):
    ids = BYTES.encode(text)
    assert len(text) <= len(ids) <= 4 * len(text)
    assert BYTES.decode_text(ids) == text
    assert ids.tolist() == list(text.encode())


def test_hangul_in_two_characters_is_six_tokens():
    assert len(BYTES.encode("안녕")) == 6


@given(st.binary())
def test_any_sequence_of_text_ids_decodes_to_its_bytes(data):
    assert BYTES.decode_bytes(list(data)) == data


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda data: np.frombuffer(data, np.uint8)])
def test_encode_bytes_takes_every_kind_of_bytes(kind):
    assert BYTES.encode_bytes(kind("é".encode())).tolist() == [0xC3, 0xA9]


def test_nothing_is_normalised():
    composed, decomposed = "\u00e9", "e\u0301"
    assert BYTES.encode(composed).tolist() != BYTES.encode(decomposed).tolist()


def test_nothing_was_learned():
    assert BYTES.merges.shape == (0, 2)
    assert BYTES.requested_vocab_size is None
    assert BYTES.stop_reason is None
    assert BYTES.pattern is None
    assert BYTES.truncate(256).identity == BYTES.identity


def test_pieces_are_single_bytes_at_their_offsets():
    assert BYTES.pieces("é!") == [(0xC3, b"\xc3", 0), (0xA9, b"\xa9", 1), (33, b"!", 2)]


def test_a_text_is_one_pretoken_and_no_text_is_none():
    assert BYTES.pretokens("it's é") == ["it's é"]
    assert BYTES.pretokens("") == []
