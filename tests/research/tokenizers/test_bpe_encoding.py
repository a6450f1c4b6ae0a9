"""Encoding: the earliest learned pair first, left to right, inside pre-tokens; and back without loss."""

import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_bpe import naive_encode

from research.tokenizers import PATTERNS, BPETokenizer
from research.tokenizers.plain.encode import PieceEncoder, merge_bytes

ALPHABET = "aab bc'sS1 \n\té가😀\u0301\u00a0"
texts = st.text(alphabet=ALPHABET, max_size=40)
TRAINED = {
    (pattern, tie_break): BPETokenizer.train(
        [ALPHABET * 3, "aaaa abab ababab bcbc  aa\n\n"], 320, pattern, tie_break=tie_break
    )
    for tie_break, pattern in (
        ("smallest-ids", "words"),
        ("largest-bytes", "gpt2"),
        ("smallest-ids", "cl100k"),
        ("largest-bytes", "none"),
        ("smallest-ids", r"a+|\d"),
    )
}
every_tokenizer = pytest.mark.parametrize("tokenizer", TRAINED.values(), ids=map(str, TRAINED))


@every_tokenizer
@given(st.one_of(texts, st.text(max_size=20)))
def test_encoding_equals_every_merge_in_learned_order(tokenizer, text):
    pieces = tokenizer.vocabulary.pretokenizer.split(text)
    assert tokenizer.encode(text).tolist() == naive_encode(pieces, list(map(tuple, tokenizer.merges.tolist())))


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=12), st.text("ab", max_size=30))
def test_encoding_equals_the_witness_for_any_merges(picks, text):
    ids, merges = [97, 98], []
    for left, right in picks:
        pair = ids[left % len(ids)], ids[right % len(ids)]
        if pair not in merges:
            ids.append(256 + len(merges))
            merges.append(pair)
    ranks = {pair: new_id for new_id, pair in enumerate(merges, 256)}
    assert merge_bytes(text.encode(), ranks) == naive_encode([text], merges)


def test_a_merge_on_the_right_still_finds_what_was_merged_before_it():
    merges = [(97, 98), (99, 100), (256, 257)]
    assert BPETokenizer(merges).encode("abcd").tolist() == [258]


@every_tokenizer
@given(st.text())
def test_every_text_comes_back_exactly(tokenizer, text):
    assert tokenizer.decode_text(tokenizer.encode(text)) == text
    assert tokenizer.encode_bytes(text.encode()).tolist() == tokenizer.encode(text).tolist()


def test_a_text_that_no_training_saw_comes_back_exactly():
    for text in ("Freddy said: 😀 — grüezi!", "Skurrilität", "<|doc|>", "\0"):
        for tokenizer in TRAINED.values():
            assert tokenizer.decode_text(tokenizer.encode(text)) == text


@every_tokenizer
@given(texts)
def test_pieces_lie_end_to_end_and_no_token_crosses_a_pre_token_border(tokenizer, text):
    pieces = tokenizer.pieces(text)
    assert [token_id for token_id, _, _ in pieces] == tokenizer.encode(text).tolist()
    assert b"".join(token for _, token, _ in pieces) == text.encode()
    starts = {offset for _, _, offset in pieces}
    offset = 0
    for piece in tokenizer.pretokens(text):
        assert offset in starts
        offset += len(piece.encode())
    assert offset == len(text.encode())


def test_permuting_the_merges_changes_ids_and_identity():
    learned = BPETokenizer([(104, 101), (108, 108)])
    permuted = BPETokenizer([(108, 108), (104, 101)])
    assert learned.encode("hello").tolist() == [256, 257, 111]
    assert permuted.encode("hello").tolist() == [257, 256, 111]
    assert learned.identity.vocab_sha256 != permuted.identity.vocab_sha256
    assert learned.identity.vocab_size == permuted.identity.vocab_size


def test_a_piece_of_100_000_letters_takes_no_quadratic_time():
    tokenizer = TRAINED["none", "largest-bytes"]
    seconds = {}
    for length in (5_000, 50_000):
        begun = time.perf_counter()
        ids = tokenizer.encode("ab" * length)
        seconds[length] = time.perf_counter() - begun
        assert len(ids) <= length
    assert seconds[50_000] < 50 * seconds[5_000] + 0.1


def test_the_memory_of_pieces_is_bounded_and_does_not_change_ids(monkeypatch):
    monkeypatch.setattr(PieceEncoder, "most_remembered", 3)
    tokenizer = BPETokenizer([(97, 98)])
    text = " ".join(f"ab{index}" for index in range(20)) * 2
    expected = naive_encode(PATTERNS["words"].split(text), [(97, 98)])
    assert tokenizer.encode(text).tolist() == expected
    assert len(tokenizer.vocabulary.encode_piece._remembered) <= 3


def test_a_tokenizer_travels_to_another_process():
    tokenizer = TRAINED["gpt2", "largest-bytes"]
    tokenizer.encode("aaaa abab")
    travelled = pickle.loads(pickle.dumps(tokenizer))
    assert travelled.identity == tokenizer.identity
    assert travelled.encode("aaaa abab").tolist() == tokenizer.encode("aaaa abab").tolist()


def test_byte_lengths_are_those_of_the_tokens_and_none_for_protocol_tokens():
    tokenizer = TRAINED["words", "smallest-ids"].with_boundary("separate")
    lengths = tokenizer.token_byte_lengths
    assert lengths.shape == (tokenizer.vocab_size,)
    assert lengths.tolist() == [len(tokenizer.token_bytes(token_id)) for token_id in range(tokenizer.vocab_size)]
    assert lengths[-2:].tolist() == [0, 0]
    assert lengths[:256].tolist() == [1] * 256


def test_what_is_shared_can_not_be_written_to():
    tokenizer = TRAINED["words", "smallest-ids"]
    for array in (tokenizer.merges, tokenizer.token_byte_lengths):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
