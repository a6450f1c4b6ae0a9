"""Boundary policies: which protocol tokens there are, and where a document must have them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from research.tokenizers import BPETokenizer, ByteTokenizer

MERGES = [(104, 101), (256, 108)]
MAKERS = {
    "bytes": ByteTokenizer,
    "bpe": lambda boundary: BPETokenizer(MERGES, boundary=boundary),
}
both = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@both
@pytest.mark.parametrize(
    ("boundary", "names", "start", "stop"),
    [
        ("shared", ["doc"], 0, 0),
        ("separate", ["bos", "eos"], 0, 1),
        ("bos", ["bos"], 0, None),
        ("eos", ["eos"], None, 0),
        ("none", [], None, None),
    ],
)
def test_protocol_tokens_stand_above_the_text_ids_in_order(make, boundary, names, start, stop):
    tokenizer = make(boundary)
    first = tokenizer.text_vocab_size
    assert tokenizer.protocol == {name: first + index for index, name in enumerate(names)}
    assert tokenizer.vocab_size == first + len(names)
    assert tokenizer.start_id == (None if start is None else first + start)
    assert tokenizer.stop_id == (None if stop is None else first + stop)


@both
@given(text=st.text(max_size=12), boundary=st.sampled_from(["shared", "separate", "bos", "eos", "none"]))
def test_a_document_between_its_boundaries_comes_back(make, text, boundary):
    tokenizer = make(boundary)
    start = [tokenizer.start_id] if tokenizer.start_id is not None else []
    stop = [tokenizer.stop_id] if tokenizer.stop_id is not None else []
    assert tokenizer.decode_document([*start, *tokenizer.encode(text).tolist(), *stop]) == text


@both
@pytest.mark.parametrize("boundary", ["shared", "separate", "bos", "eos", "none"])
def test_no_text_spells_a_protocol_id(make, boundary):
    tokenizer = make(boundary)
    ids = tokenizer.encode("<|doc|><|bos|><|eos|>" + "".join(map(chr, range(300))))
    assert (ids < tokenizer.text_vocab_size).all()


@pytest.mark.parametrize(
    ("boundary", "ids"),
    [
        ("shared", []),
        ("shared", [256]),
        ("shared", [97]),
        ("shared", [256, 97]),
        ("shared", [97, 256]),
        ("shared", [256, 97, 256, 98, 256]),
        ("shared", [256, 256, 97, 256]),
        ("shared", [256, 97, 256, 256]),
        ("separate", [256, 97, 256]),
        ("separate", [257, 97, 256]),
        ("separate", [256, 256, 97, 257]),
        ("separate", [256, 97, 257, 257]),
        ("bos", [97]),
        ("bos", [256, 97, 256]),
        ("eos", [256, 97]),
        ("eos", [97, 256, 256]),
        ("none", [97, 256]),
    ],
)
def test_a_missing_inner_or_doubled_boundary_is_refused(boundary, ids):
    with pytest.raises(InputError, match=r"expected .*, got .* at position"):
        ByteTokenizer(boundary).decode_document(ids)


def test_the_refusal_names_the_inner_boundary_and_its_position():
    with pytest.raises(InputError, match=r"256 \(doc\) at position 2"):
        ByteTokenizer().decode_document([256, 97, 256, 98, 256])


def test_an_empty_document_between_its_boundaries_is_the_empty_text():
    assert ByteTokenizer().decode_document([256, 256]) == ""


@both
def test_a_protocol_id_is_refused_by_decode_bytes_and_decode_text(make):
    tokenizer = make("shared")
    for decode in (tokenizer.decode_bytes, tokenizer.decode_text):
        with pytest.raises(InputError, match=f"protocol id {tokenizer.start_id} at position 1"):
            decode([97, tokenizer.start_id])


@both
def test_debug_decode_shows_boundaries_and_broken_utf8(make):
    tokenizer = make("separate")
    ids = [tokenizer.start_id, 104, 0xFF, 105, tokenizer.stop_id]
    assert tokenizer.debug_decode(ids) == "<|bos|>h\ufffdi<|eos|>"
    assert make("shared").debug_decode([make("shared").start_id]) == "<|doc|>"


@both
def test_another_boundary_changes_protocol_and_identity_but_no_text_id(make):
    shared, separate = make("shared"), make("shared").with_boundary("separate")
    assert separate.boundary == "separate"
    assert separate.encode("hello").tolist() == shared.encode("hello").tolist()
    assert separate.identity == make("separate").identity
    assert separate.identity.vocab_sha256 != shared.identity.vocab_sha256
    assert shared.protocol == {"doc": shared.text_vocab_size}


def test_one_special_id_more_has_another_digest_at_equal_size():
    bos, eos = ByteTokenizer("bos").identity, ByteTokenizer("eos").identity
    assert bos.vocab_size == eos.vocab_size
    assert bos.vocab_sha256 != eos.vocab_sha256


def test_an_unknown_policy_is_refused():
    with pytest.raises(InputError, match="shared, separate, bos, eos, none"):
        ByteTokenizer("both")
