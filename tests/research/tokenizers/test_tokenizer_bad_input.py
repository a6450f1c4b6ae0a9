"""Bad input is refused where it enters, in one line that says what was expected, what came and where."""

import numpy as np
import pytest

from contracts.errors import ContractError, InputError
from research.tokenizers import BPETokenizer, ByteTokenizer

TOKENIZERS = [ByteTokenizer(), BPETokenizer([(104, 101)])]
both = pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=["bytes", "bpe"])


@both
@pytest.mark.parametrize(
    ("text", "position"), [("\ud800", 0), ("ab\udfff", 2), ("\ud83d\ude00", 0), ("é" * 5 + "\udc80", 5)]
)
def test_a_lone_surrogate_is_refused_with_its_position(tokenizer, text, position):
    with pytest.raises(InputError, match=rf"got U\+D[0-9A-F]{{3}} at character {position}$"):
        tokenizer.encode(text)


@both
@pytest.mark.parametrize(
    ("data", "offset"), [(b"\xff", 0), (b"ab\xc3", 2), (b"\xe9t\xe9", 0), ("é".encode() + b"\x80", 2)]
)
def test_invalid_utf8_is_refused_with_the_byte_offset(tokenizer, data, offset):
    with pytest.raises(InputError, match=rf"valid UTF-8, got 0x[0-9A-F]{{2}} .* at byte {offset}"):
        tokenizer.encode_bytes(data)
    with pytest.raises(InputError, match=rf"valid UTF-8, got 0x[0-9A-F]{{2}} .* at byte {offset}"):
        tokenizer.decode_text(list(data))
    assert tokenizer.decode_bytes(list(data)) == data


@both
@pytest.mark.parametrize(
    "ids",
    [
        [-1],
        [258],
        [0, 2**40],
        [1.0],
        [True],
        ["a"],
        [None],
        [[1]],
        "ab",
        7,
        None,
        np.array([1.0]),
        np.array([True]),
        np.array([[1, 2]]),
        np.array(3),
        np.array(["a"]),
        np.array([-1], np.int8),
        np.array([300], np.uint64),
        np.array([2**63], np.uint64),
    ],
    ids=repr,
)
def test_ids_out_of_range_or_of_another_type_are_refused(tokenizer, ids):
    for decode in (tokenizer.decode_bytes, tokenizer.decode_text, tokenizer.decode_document, tokenizer.debug_decode):
        with pytest.raises(InputError, match=r"^ids: expected .*, got "):
            decode(ids)


def test_the_position_of_the_first_bad_id_is_named():
    with pytest.raises(InputError, match=r"expected ids 0..256, got 999 at position 2"):
        ByteTokenizer().decode_bytes([1, 2, 999, -1])
    with pytest.raises(InputError, match=r"expected ids 0..256, got 999 at position 2"):
        ByteTokenizer().decode_bytes(np.array([1, 2, 999, -1]))


@both
@pytest.mark.parametrize(
    "ids", [(104, 105), range(104, 106), [np.int64(104), 105], np.array([104, 105], np.uint8), np.array([104, 105])]
)
def test_every_kind_of_integers_is_taken(tokenizer, ids):
    assert tokenizer.decode_text(ids) == "hi"


@both
@pytest.mark.parametrize("ids", [[], (), np.array([], np.int32)])
def test_no_ids_are_no_text(tokenizer, ids):
    assert tokenizer.decode_text(ids) == ""


@both
@pytest.mark.parametrize("bad", [5, None, b"ab", ["ab"]])
def test_encode_takes_a_str_and_nothing_else(tokenizer, bad):
    with pytest.raises(ContractError):
        tokenizer.encode(bad)


@both
@pytest.mark.parametrize(
    "bad", ["ab", [1, 2], np.array([1, 2]), np.zeros((2, 2), np.uint8), memoryview(b"abcd").cast("i")]
)
def test_encode_bytes_takes_bytes_and_nothing_else(tokenizer, bad):
    with pytest.raises(ContractError):
        tokenizer.encode_bytes(bad)


@both
@pytest.mark.parametrize("bad", [-1, 258, 1.0, True, "a"])
def test_the_bytes_of_no_id_are_refused(tokenizer, bad):
    with pytest.raises(InputError, match=r"^ids: expected"):
        tokenizer.token_bytes(bad)


@pytest.mark.parametrize("size", [255, 0, -1, 300.0, True, "300"])
def test_a_vocabulary_below_the_bytes_is_refused(size):
    with pytest.raises(InputError, match="vocab_size: expected an integer of at least 256"):
        BPETokenizer.train(["abab"], size)
    with pytest.raises(InputError, match="vocab_size: expected an integer of at least 256"):
        BPETokenizer.train_counts({"abab": 1}, size)


@pytest.mark.parametrize(
    "settings", [{"min_count": 0}, {"min_count": 1.5}, {"tie_break": "first"}, {"boundary": "x"}, {"pattern": "wrds"}]
)
def test_settings_are_refused_before_a_document_is_read(settings):
    def documents():
        raise AssertionError("a document was read")
        yield

    with pytest.raises(InputError, match="expected"):
        BPETokenizer.train(documents(), 300, **settings)


@pytest.mark.parametrize("documents", ["a single text", b"bytes", 3])
def test_documents_are_texts_one_by_one(documents):
    with pytest.raises(InputError, match="documents: expected an iterable of texts"):
        BPETokenizer.train(documents, 300)


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (["ok", b"no"], r"document 1: expected a str, got bytes"),
        (["ok", "ok", "a\ud800"], r"document 2: .* got U\+D800 at character 1"),
    ],
)
def test_a_document_that_is_no_text_is_named(documents, message):
    with pytest.raises(InputError, match=message):
        BPETokenizer.train(documents, 300)


@pytest.mark.parametrize("documents", [[], [""], iter(())])
def test_a_corpus_without_text_is_refused(documents):
    with pytest.raises(InputError, match="corpus: expected some text"):
        BPETokenizer.train(documents, 300)


@pytest.mark.parametrize("counts", [{}, {"a": 0}, {"a": -1}, {"a": 1.5}, {"a": True}, {5: 1}, {"\ud800": 1}, {"": 1}])
def test_counts_are_of_texts_and_not_negative(counts):
    with pytest.raises(InputError, match="expected"):
        BPETokenizer.train_counts(counts, 300)


@pytest.mark.parametrize(("word", "pattern"), [(" the", "words"), ("a1", "gpt2"), ("12", "gpt2-digits"), ("ab", "a|b")])
def test_counts_of_what_the_pattern_cuts_are_refused_with_the_word(word, pattern):
    with pytest.raises(InputError, match=f"got {word!r}, which it cuts into"):
        BPETokenizer.train_counts({"a": 1, word: 5}, 300, pattern)


def test_counts_of_what_a_regex_finds_by_its_surroundings_are_taken():
    assert len(BPETokenizer.train_counts({"ab": 5}, 300, r"a(?=b)|ab").merges) == 1


@pytest.mark.parametrize("size", [255, 258, 257.0, True])
def test_truncate_is_refused_beyond_what_there_is(size):
    with pytest.raises(InputError, match=r"text_vocab_size: expected an integer 256\.\.257"):
        BPETokenizer([(104, 101)]).truncate(size)


@pytest.mark.parametrize(
    "merges",
    [[(256, 1)], [(1, 2), (257, 1)], [(1, 2), (1, 2)], [(1,)], [(1, 2, 3)], [(-1, 2)], [(True, 2)], [1], [(1.0, 2)]],
)
def test_merges_are_pairs_of_ids_that_exist(merges):
    with pytest.raises(InputError, match=r"merges: expected .* at the merge of id"):
        BPETokenizer(merges)
