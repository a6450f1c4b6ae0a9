"""A long document in a corpus: the folder is, byte for byte, the one that is built from the document as a whole."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_corpus import ENVIRONMENT, LINES, build, contents
from small_parts import WHOLE, small_parts

from contracts.errors import InputError
from contracts.tokenizer import PROTOCOL_NAMES
from research.stream import CorpusLimits, append, build_corpus, corpus, open_corpus, verify_corpus
from research.stream import long as stream_long
from research.stream.corpus import _Build
from research.text import LongDocument
from research.tokenizers import BPETokenizer, ByteTokenizer, engine, parts

MERGES = [(97, 97), (256, 256), (32, 97), (13, 10), (0xEA, 0xB0), (260, 0x80), (39, 115), (32, 32)]
PATTERNS = ["words", "gpt2", "gpt2-digits", "cl100k", "none", r"\w+|\s"]
SEPARATORS = ["\r\n", "aa", "가"]
texts = st.lists(st.sampled_from([*"aab  1'\n\u00a0e\u0301각😀\u200d\x00", *SEPARATORS]), max_size=100).map("".join)
LEAST = {"most": 2, "chunk": 1, "commit": 1}
separators = st.sampled_from([None, *SEPARATORS])


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    """By themselves they would not be used for so little, and without them nothing is cut."""
    monkeypatch.setenv("BYTEBOUND_ENGINE", "numba")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("corpora")


def tokenizer_of(pattern, boundary):
    return ByteTokenizer(boundary) if pattern == "bytes" else BPETokenizer(MERGES, pattern, boundary)


def outcome(path, out, tokenizer, **options):
    """The bytes of the corpus, or the refusal, after which there is no folder."""
    shutil.rmtree(out, ignore_errors=True)
    try:
        return contents(build(path, out, tokenizer, **options).folder)
    except InputError as error:
        assert not out.exists()
        return str(error)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["bytes", *PATTERNS])
@given(texts, separators, st.sampled_from([*PROTOCOL_NAMES]), st.sampled_from([0, 0.5]), st.integers(1, 9), st.data())
def test_a_corpus_built_in_parts_is_the_one_built_whole(folder, pattern, text, separator, boundary, share, part, data):
    path, tokenizer = folder / "text.txt", tokenizer_of(pattern, boundary)
    path.write_bytes(text.encode())
    options = {"separator": separator, "validation": share, "on_empty": "skip"}
    most, chunk, commit = (data.draw(st.integers(least, 30), name) for name, least in LEAST.items())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)  # to wait for the disk is slow
        expected = outcome(path, folder / "whole", tokenizer, **options)
        with small_parts(most, part, chunk, commit):
            assert outcome(path, folder / "parts", tokenizer, **options) == expected


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
@pytest.mark.parametrize("boundary", PROTOCOL_NAMES)
def test_long_and_short_documents_follow_each_other_as_when_all_are_whole(tmp_path, name, boundary):
    text = "\n".join(line * (40 if number % 3 else 1) for number, line in enumerate(LINES)).encode()
    path, tokenizer = tmp_path / name, tokenizer_of("gpt2", boundary)
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    expected = outcome(path, tmp_path / "whole", tokenizer)
    with small_parts(most=300, part=64, commit=500):
        assert outcome(path, tmp_path / "parts", tokenizer) == expected
    verify_corpus(open_corpus(tmp_path / "parts"))


def test_every_limit_counts_a_long_document_to_its_last_token(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("가나다 aaaa\n" * 9 + "short")
    counts = build(path, tmp_path / "whole", tokenizer_of("words", "separate"), separator="\nshort", validation=0).train
    for quantity in ("documents", "characters", "bytes", "tokens"):
        total = getattr(counts.counts, quantity)
        for limit in (total, total - 1):
            options = {"separator": "\nshort", "validation": 0, "limits": CorpusLimits(**{quantity: limit})}
            expected = outcome(path, tmp_path / "out", tokenizer_of("words", "separate"), **options)
            with small_parts():
                assert outcome(path, tmp_path / "out", tokenizer_of("words", "separate"), **options) == expected


def test_more_tokens_than_allowed_are_refused_before_the_rest_is_encoded(tmp_path, monkeypatch):
    path, encoded = tmp_path / "a.txt", []
    path.write_text("word " * 1000)
    encode_in_parts = parts.encode_in_parts
    recorded = lambda *given: (encoded.append(part) or part for part in encode_in_parts(*given))  # noqa: E731
    monkeypatch.setattr(stream_long, "encode_in_parts", recorded)
    with small_parts(part=50), pytest.raises(InputError, match="corpus limit tokens: expected at most 100 tokens"):
        build(path, tmp_path / "out", separator=None, validation=0, limits=CorpusLimits(tokens=100))
    assert 2 <= len(encoded) <= 3
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("separator", [None, "\n"])
@pytest.mark.parametrize("data", [b"good text, " * 9 + b"\xff", b"short\n" + b"good text, " * 9 + b"\xea\xb0\nlast"])
def test_a_bad_byte_in_a_long_document_is_told_as_in_a_whole_one(tmp_path, separator, data):
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    expected = outcome(path, tmp_path / "out", ByteTokenizer(), separator=separator)
    assert "byte offset" in expected
    with small_parts():
        assert outcome(path, tmp_path / "out", ByteTokenizer(), separator=separator) == expected


def test_a_tokenizer_that_loses_text_is_refused_with_the_part_of_the_document(tmp_path, monkeypatch):
    path, tokenizer = tmp_path / "a.txt", tokenizer_of("words", "shared")
    path.write_text("word " * 10 + "7 " + "word " * 10)
    encode_batch = type(tokenizer.vocabulary).encode_batch
    monkeypatch.setattr(
        type(tokenizer.vocabulary),
        "encode_batch",
        lambda self, texts, threads=1: encode_batch(self, [text.replace(b"7", b"") for text in texts], threads),
    )
    with small_parts(part=10), pytest.raises(InputError, match=r"tokens of \d+ bytes at .* 0, from byte 4\d of it"):
        build(path, tmp_path / "out", tokenizer, separator=None, validation=0)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("boundary", ["shared", "separate", "none"])
@pytest.mark.parametrize("mode", ["fresh-long", "same-long"])
def test_a_build_killed_within_a_document_and_run_again_ends_with_the_same_bytes(tmp_path, boundary, mode):
    source = tmp_path / "source.txt"
    source.write_text("\n".join(LINES[:4]) + "\n" + "긴 문서 " * 12 + "\n" + "two " * 20, encoding="utf-8")
    expected = contents(build(source, tmp_path / "whole", ByteTokenizer(boundary)).folder)
    program = Path(__file__).with_name("kill_builds.py")
    command = [sys.executable, str(program), str(source), str(tmp_path / "killed"), boundary, mode]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 20
    for folder in (tmp_path / "killed").iterdir():
        assert contents(folder) == expected


def interrupted(path, out, tokenizer, parts, **options):
    """Build until that many parts of long documents are in their stream; the journal then."""
    encoded = []
    extend = append.StreamWriter.extend

    def counted(self, ids):
        encoded.append(len(ids))
        if len(encoded) > parts:
            raise KeyboardInterrupt
        extend(self, ids)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(append.StreamWriter, "extend", counted)
        with pytest.raises(KeyboardInterrupt):
            build(path, out, tokenizer, **options)
    return json.loads((out / "journal.json").read_text())


@pytest.mark.parametrize("pattern", ["bytes", "words", "gpt2"])
@pytest.mark.parametrize("boundary", PROTOCOL_NAMES)
def test_what_was_committed_of_a_document_is_not_encoded_again(tmp_path, monkeypatch, pattern, boundary):
    path, out, tokenizer = tmp_path / "a.txt", tmp_path / "out", tokenizer_of(pattern, boundary)
    path.write_text("aa 가나 " * 40)
    options = {"separator": None, "validation": 0}
    expected = outcome(path, tmp_path / "whole", tokenizer, **options)
    with small_parts(part=30, commit=100):
        begun = interrupted(path, out, tokenizer, 8, **options)["begun"]
        assert 100 <= begun["bytes"] <= 8 * 30
        asked, chunks = [], LongDocument.chunks
        monkeypatch.setattr(LongDocument, "chunks", lambda self, begin=0: asked.append(begin) or chunks(self, begin))
        assert contents(build(path, out, tokenizer, **options).folder) == expected
    assert asked == [begun["bytes"]]


def test_a_journal_from_before_documents_were_committed_in_parts_is_gone_on_from(tmp_path):
    path, out = tmp_path / "a.txt", tmp_path / "out"
    path.write_text("\n".join(LINES))
    expected = outcome(path, tmp_path / "whole", ByteTokenizer())
    with small_parts(most=WHOLE, commit=60):
        journal = stopped_between(path, out)
    assert journal.pop("begun") is None
    (out / "journal.json").write_text(json.dumps(journal))
    assert contents(build(path, out).folder) == expected


def stopped_between(path, out):
    """Build short documents until the journal says something."""
    commit = _Build._commit_if_due

    def stop(self, *given):
        commit(self, *given)
        if (self.folder / "journal.json").exists():
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Build, "_commit_if_due", stop)
        with pytest.raises(KeyboardInterrupt):
            build(path, out)
    return json.loads((out / "journal.json").read_text())


@pytest.mark.parametrize("change", [{"split": "validation"}, {"split": "elsewhere"}, {"more": 1}])
def test_a_journal_that_speaks_of_another_document_is_refused(tmp_path, change):
    path, out = tmp_path / "a.txt", tmp_path / "out"
    path.write_text("word " * 100)
    with small_parts(commit=50):
        journal = interrupted(path, out, ByteTokenizer(), 20, separator=None, validation=0)
        journal["begun"] |= change
        (out / "journal.json").write_text(json.dumps(journal))
        with pytest.raises(InputError):
            build(path, out, separator=None, validation=0)


def test_a_part_is_not_continued_by_a_document_that_is_read_whole(tmp_path):
    path, out = tmp_path / "a.txt", tmp_path / "out"
    path.write_text("word " * 100)
    with small_parts(commit=50):
        interrupted(path, out, ByteTokenizer(), 20, separator=None, validation=0)
    with pytest.raises(InputError, match=r"expected the journal of this text, got another, with .* begins anew"):
        build(path, out, separator=None, validation=0)
    assert build(path, out, separator=None, validation=0).train.counts.bytes == 500


def test_progress_moves_within_a_long_document(tmp_path, monkeypatch):
    path, advanced = tmp_path / "a.txt", []
    path.write_text("word " * 100)
    monkeypatch.setattr(corpus.Progress, "advance", lambda self, amount=1: advanced.append(amount))
    with small_parts(part=50):
        build(path, tmp_path / "out", separator=None, validation=0)
    within = [amount for amount in advanced[1:] if amount]  # the first is the hashing of the sources
    assert len(within) >= 8
    assert sum(within) >= 500


@pytest.mark.slow
@pytest.mark.parametrize("separator", [None, "\n\n"])
@pytest.mark.parametrize("pattern", ["bytes", "gpt2"])
def test_building_holds_neither_a_long_document_nor_its_tokens(tmp_path, separator, pattern):
    path, tokenizer = tmp_path / "a.txt", tokenizer_of(pattern, "shared")
    engine.engine_for(engine.ENOUGH)
    path.write_text("긴 문서, a long one, " * 1_500_000)
    tracemalloc.start()
    try:
        build_corpus([path], tokenizer, tmp_path / "out", separator=separator, validation=0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 2 * peak < path.stat().st_size
