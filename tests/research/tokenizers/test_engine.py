"""The face with the kernels behind it is the face without them: equal ids, merges, bytes and errors."""

import copy
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.errors import InputError
from research.tokenizers import PATTERNS, BPETokenizer, ByteTokenizer, engine
from research.tokenizers.pretokenize import pretokenizer
from research.tokenizers.tokenizer import ByteLevelTokenizer

REGEX = r"\p{L}+|\d{1,3}|\s+"
TEXTS = st.text(st.sampled_from("ab '\n\r\t1é한😀\0\x85\u00a0\u2028\u0301\u200d") | st.characters(codec="utf-8"))


@contextmanager
def using(choice: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BYTEBOUND_ENGINE", choice)
        yield


def on_both(action: Callable[[], object]) -> tuple[object, object]:
    results = []
    for choice in ("python", "numba"):
        with using(choice):
            try:
                results.append(action())
            except InputError as error:
                results.append(str(error))
    return results[0], results[1]


def trained(documents, **settings) -> tuple:
    tokenizer = BPETokenizer.train(iter(documents), **settings)
    return tokenizer.identity, tokenizer.merges.tolist(), tokenizer.stop_reason, tokenizer.requested_vocab_size


def used(tokenizer: ByteLevelTokenizer, texts: list[str]) -> tuple:
    batch = tokenizer.encode_batch(texts)
    alone = [tokenizer.encode(text) for text in texts]
    as_bytes = [tokenizer.encode_bytes(text.encode()).tolist() for text in texts]
    decoded = [tokenizer.decode_bytes(ids) for ids in alone]
    assert decoded == [text.encode() for text in texts]
    types = batch.tokens.dtype, batch.offsets.dtype, alone[0].dtype if alone else None
    return batch.tokens.tolist(), batch.offsets.tolist(), [ids.tolist() for ids in alone], as_bytes, decoded, types


@pytest.mark.parametrize("pattern", [*PATTERNS, REGEX])
@pytest.mark.parametrize("tie_break", ["smallest-ids", "largest-bytes"])
@pytest.mark.parametrize("min_count", [1, 2, 5])
def test_training_learns_the_same(sample_text, pattern, tie_break, min_count):
    documents = [sample_text, "", sample_text[:300]]
    asked = {"vocab_size": 700, "pattern": pattern, "tie_break": tie_break, "min_count": min_count}
    plain, by_engine = on_both(lambda: trained(documents, **asked))
    assert by_engine == plain


@pytest.mark.parametrize("pattern", [*PATTERNS, REGEX])
def test_encoding_and_decoding_give_the_same(sample_text, pattern):
    tokenizer = BPETokenizer.train([sample_text], 600, pattern)
    plain, by_engine = on_both(lambda: used(tokenizer, [sample_text, "", "never seen: żółć", sample_text[:50]]))
    assert by_engine == plain


@settings(max_examples=50)
@given(st.lists(TEXTS, max_size=4), st.sampled_from([*PATTERNS, REGEX]), st.integers(256, 280))
def test_any_texts_train_encode_and_decode_the_same(texts, pattern, size):
    def everything():
        learned = trained(texts, vocab_size=size, pattern=pattern, min_count=1)
        return learned, used(BPETokenizer(learned[1], pattern), texts)

    plain, by_engine = on_both(everything)
    assert by_engine == plain


@pytest.mark.parametrize(
    "counts",
    [{"the": 9, "then": 4, "rare": 1, "never": 0}, {"ab": 2**62, "abc": 2**62}, {"ab": 0}, {}, {"\ud800": 1}],
    ids=["usual", "beyond 64 bits", "only zeros", "none", "surrogate"],
)
def test_counts_learn_the_same(counts):
    plain, by_engine = on_both(lambda: BPETokenizer.train_counts(counts, 260).merges.tolist())
    assert by_engine == plain


@pytest.mark.parametrize(
    ("vocab_size", "min_count"), [(256, 2), (10**9, 2), (np.int64(300), np.int32(2)), (300, 10**30)]
)
def test_the_ends_of_the_settings_mean_the_same(sample_text, vocab_size, min_count):
    plain, by_engine = on_both(lambda: trained([sample_text[:400]], vocab_size=vocab_size, min_count=min_count))
    assert by_engine == plain


@pytest.mark.parametrize(
    "documents",
    [
        "one text",
        b"bytes",
        7,
        [],
        ["", ""],
        ["fine", "not \udfff"],
        ["fine", b"bytes"],
        ["x" * engine.ENOUGH, "\ud800"],
    ],
    ids=["str", "bytes", "no iterable", "none", "empty", "surrogate", "bytes inside", "late surrogate"],
)
def test_training_refuses_the_same_in_the_same_words(documents):
    plain, by_engine = on_both(lambda: BPETokenizer.train(documents, 300))
    assert isinstance(plain, str)
    assert by_engine == plain


@pytest.mark.parametrize(
    "action",
    [
        lambda tokenizer: tokenizer.encode("a\ud800"),
        lambda tokenizer: tokenizer.encode_bytes(b"a\xff"),
        lambda tokenizer: tokenizer.encode_batch(["fine", b"\xed\xa0\x80"]),
        lambda tokenizer: tokenizer.decode_bytes([256, 258]),
        lambda tokenizer: tokenizer.decode_bytes([-1]),
        lambda tokenizer: tokenizer.decode_text([0xC3]),
    ],
)
def test_encoding_and_decoding_refuse_the_same_in_the_same_words(action):
    tokenizer = BPETokenizer([[97, 98], [256, 99]])
    plain, by_engine = on_both(lambda: action(tokenizer))
    assert isinstance(plain, str)
    assert by_engine == plain


def test_a_tokenizer_without_merges_encodes_bytes():
    with using("numba"):
        assert used(BPETokenizer([]), ["abc"])[0] == [97, 98, 99]


def test_a_used_tokenizer_pickles_and_copies(sample_text):
    with using("numba"):
        tokenizer = BPETokenizer.train([sample_text], 500)
        ids = tokenizer.encode(sample_text).tolist()
        for other in (pickle.loads(pickle.dumps(tokenizer)), copy.deepcopy(tokenizer), copy.copy(tokenizer)):
            assert other.encode(sample_text).tolist() == ids
            assert other.decode_text(ids) == sample_text


def test_threads_share_a_tokenizer(sample_text):
    tokenizer = BPETokenizer.train([sample_text], 500, "gpt2")
    texts = [sample_text[start:] for start in range(0, 1000, 10)]
    with using("python"):
        expected = [tokenizer.encode(text).tolist() for text in texts]
    with using("numba"), ThreadPoolExecutor(8) as threads:
        assert [ids.tolist() for ids in threads.map(tokenizer.encode, texts)] == expected


def test_an_interrupt_leaves_no_encoder_with_half_a_page(sample_text, monkeypatch):
    tokenizer = BPETokenizer.train([sample_text], 500)
    with using("python"):
        expected = tokenizer.encode(sample_text).tolist()
    with using("numba"):
        tokenizer.encode("so that an encoder is there")
        from research.tokenizers.kernels import encode

        with monkeypatch.context() as patch:
            patch.setattr(encode, "encode_words", _interrupt)
            with pytest.raises(KeyboardInterrupt):
                tokenizer.encode(sample_text)
        assert tokenizer.encode(sample_text).tolist() == expected


def _interrupt(*_):
    raise KeyboardInterrupt


def test_documents_are_counted_as_they_come(sample_text):
    """Of an endless iterator nothing is taken after a bad document."""
    taken: Counter[str] = Counter()

    def documents():
        while True:
            taken["documents"] += 1
            yield "\ud800" if taken["documents"] == 2000 else sample_text

    with using("numba"), pytest.raises(InputError, match="document 1999"):
        BPETokenizer.train(documents(), 300)
    assert taken["documents"] == 2000


def test_another_engine_is_refused():
    with using("rust"), pytest.raises(InputError, match="auto, numba or python"):
        BPETokenizer([]).encode("a")


SESSION = """
import sys
from research.tokenizers import BPETokenizer
loaded = lambda: any(name in sys.modules for name in ("numba", "research.tokenizers.kernels.scan"))
tokenizer = BPETokenizer.train(["little text, " * 100], 300)
tokenizer.decode_text(tokenizer.encode_batch(["little", "text"]).tokens)
little = loaded()
tokenizer.encode("much text, " * 100_000)
print(little, loaded())
"""


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", "False True"),
        pytest.param("python", "False False", marks=pytest.mark.slow),
        pytest.param("numba", "True True", marks=pytest.mark.slow),
    ],
)
def test_numba_is_loaded_by_much_text_only(choice, expected):
    with using(choice):
        run = subprocess.run([sys.executable, "-c", SESSION], capture_output=True, text=True, check=True)
    assert run.stdout.split() == expected.split()


@given(TEXTS, st.sampled_from([r"\s+|\S+", r"\w*", r"(?=b)|a", r"(a)|b", r"a\Kb|.", REGEX]))
def test_a_regex_splits_as_its_matches_say(text, regex):
    """Every match and every text between two, by spans."""
    import regex as engine_of_regexes

    ends = {0, len(text)} | {end for match in engine_of_regexes.finditer(regex, text) for end in match.span()}
    borders = sorted(ends)
    assert pretokenizer(regex).split(text) == [text[start:end] for start, end in pairwise(borders)]


@pytest.mark.parametrize(
    ("choice", "pieces", "turned_on"),
    [("numba", 1, True), ("auto", 1, False), ("auto", 11, True), ("python", 11, False)],
)
def test_bytes_that_are_only_verified_turn_the_engine_on_too(monkeypatch, choice, pieces, turned_on):
    monkeypatch.setenv("BYTEBOUND_ENGINE", choice)
    monkeypatch.setattr(engine._Handled, "by_kernels", False)
    monkeypatch.setattr(engine._Handled, "size", 0)
    for _ in range(pieces):
        assert len(ByteTokenizer().encode_bytes("é".encode() * 50_000)) == 100_000
    assert engine._Handled.by_kernels == turned_on
