"""A corpus on disk: its streams against `build_stream`, builds killed at every step, refusals that leave nothing."""

import gzip
import hashlib
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from small_corpus import ENVIRONMENT, FILES, LINES, build, contents

from contracts.errors import InputError
from contracts.tokenizer import PROTOCOL_NAMES
from research.stream import CorpusLimits, build_stream, corpus, open_corpus, verify_corpus
from research.stream.corpus import is_held_out
from research.tokenizers import BPETokenizer, ByteTokenizer


def split(lines, share=0.3):
    """(training, validation) by the rule that the manifest states, computed another way."""
    fractions = [int(hashlib.sha256(line.encode()).hexdigest()[:16], 16) / 16**16 for line in lines]
    pairs = list(zip(lines, fractions, strict=True))
    return [line for line, f in pairs if f >= share], [line for line, f in pairs if f < share]


@pytest.mark.parametrize("boundary", PROTOCOL_NAMES)
def test_each_split_is_the_stream_of_its_documents(source, tmp_path, boundary):
    stored = build(source, tmp_path / "corpus", ByteTokenizer(boundary))
    for got, lines in zip((stored.train, stored.validation), split(LINES), strict=True):
        expected = build_stream(lines, ByteTokenizer(boundary))
        assert got.tokens.tolist() == expected.tokens.tolist()
        assert got.starts.tolist() == expected.starts.tolist()
        assert got.counts == expected.counts
    verify_corpus(stored)


@pytest.mark.parametrize("boundary", PROTOCOL_NAMES)
@pytest.mark.parametrize("together", [25, 60, 1 << 16])
def test_how_many_documents_are_encoded_together_changes_no_byte(source, tmp_path, monkeypatch, boundary, together):
    tokenizer = BPETokenizer.train(LINES, vocab_size=280, boundary=boundary)
    source.write_text("\n".join(line for each in LINES for line in (each, "", each[:3])), encoding="utf-8")
    monkeypatch.setattr(corpus, "TOGETHER", together)
    together = build(source, tmp_path / "together", tokenizer, on_empty="skip")
    with monkeypatch.context() as patch:
        patch.setattr(corpus._Build, "_add_together", lambda self, documents: False)
        alone = build(source, tmp_path / "alone", tokenizer, on_empty="skip")
    assert contents(together.folder) == contents(alone.folder)
    assert together.train.counts.skipped + together.validation.counts.skipped == len(LINES)


def test_a_group_is_bounded_whatever_its_documents(source, tmp_path, monkeypatch):
    groups, together = [], corpus._Build._add_together

    def recorded(self, documents):
        groups.append([len(document.text) for document in documents])
        return together(self, documents)

    monkeypatch.setattr(corpus, "TOGETHER", 100)
    monkeypatch.setattr(corpus._Build, "_add_together", recorded)
    source.write_text("\n".join(["ab"] * 50 + [""] * 500 + ["long" * 100] + ["ab"] * 50))
    stored = build(source, tmp_path / "corpus", on_empty="skip", validation=0)
    assert (stored.train.counts.documents, stored.train.counts.skipped) == (101, 500)
    assert max(map(len, groups)) <= 100
    assert max(map(sum, groups)) <= 100  # the long one went alone


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"good\n\nb\xffd", "document 1"),
        (b"good\nb\xffd\n\n", "document 1, byte offset 6"),
    ],
)
def test_of_two_faults_the_first_one_is_told(source, tmp_path, data, message):
    source.write_bytes(data)
    with pytest.raises(InputError, match=message):
        build(source, tmp_path / "corpus")


def test_a_tokenizer_that_loses_text_is_refused_with_the_document(source, tmp_path, monkeypatch):
    class Lossy(ByteTokenizer):
        def encode_batch(self, texts, threads=1):
            return super().encode_batch([text.replace(b"7", b"") for text in texts], threads)

        def encode(self, text, threads=1):
            return super().encode(text.replace("7", ""), threads)

    with pytest.raises(InputError, match=r"expected 13 bytes, got tokens of 12 bytes at .*document 7"):
        build(source, tmp_path / "corpus", Lossy())


def test_the_folder_holds_what_it_says_and_nothing_else(source, tmp_path):
    stored = build(source, tmp_path / "corpus")
    assert sorted(contents(tmp_path / "corpus")) == sorted(FILES)
    data = source.read_bytes()
    stated = stored.manifest.recipe.sources[0]
    assert (stated.name, stated.bytes, stated.sha256) == ("source.txt", len(data), hashlib.sha256(data).hexdigest())
    assert str(tmp_path) not in (tmp_path / "corpus" / "manifest.json").read_text()
    assert open_corpus(tmp_path / "corpus").tokenizer.identity == ByteTokenizer().identity


@pytest.mark.parametrize("mode", ["fresh", "same"])
def test_a_build_killed_at_any_step_and_run_again_ends_with_the_same_bytes(source, tmp_path, mode):
    source.write_text("\n".join(LINES[:8]), encoding="utf-8")
    expected = contents(build(source, tmp_path / "whole").folder)
    program = Path(__file__).with_name("kill_builds.py")
    command = [sys.executable, str(program), str(source), str(tmp_path / "killed"), "shared", mode]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 20
    for folder in (tmp_path / "killed").iterdir():
        assert contents(folder) == expected


def test_a_finished_corpus_is_not_built_again(source, tmp_path, monkeypatch):
    build(source, tmp_path / "corpus")
    before = contents(tmp_path / "corpus")
    for name in ("encode", "encode_batch"):
        monkeypatch.setattr(ByteTokenizer, name, lambda self, text: pytest.fail("encoded"))
    build(source, tmp_path / "corpus")
    assert contents(tmp_path / "corpus") == before


def test_what_was_committed_is_not_encoded_again(source, tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "COMMIT_BYTES", 1)
    monkeypatch.setattr(corpus, "TOGETHER", 25)  # two lines
    encode_batch, encoded = ByteTokenizer.encode_batch, []

    def interrupted(self, texts):
        encoded.extend(text.decode() for text in texts)
        if len(encoded) == 20:
            raise KeyboardInterrupt
        return encode_batch(self, texts)

    monkeypatch.setattr(ByteTokenizer, "encode_batch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build(source, tmp_path / "corpus")
    with pytest.raises(InputError, match="an unfinished one; run the command"):
        open_corpus(tmp_path / "corpus")
    build(source, tmp_path / "corpus")
    assert encoded == [*LINES[:20], *LINES[18:]]


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"tokenizer": ByteTokenizer("separate")}, "tokenizer.vocab_sha256"),
        ({"tokenizer": BPETokenizer([(97, 98)])}, "tokenizer.version 'utf8-byte-v1' (not 'byte-bpe-v1')"),
        ({"validation": 0.2}, "validation 0.3 (not 0.2)"),
        ({"separator": "e"}, "separator '\\n' (not 'e')"),
        ({"on_empty": "skip"}, "on_empty 'error' (not 'skip')"),
        ({"limits": CorpusLimits(documents=40)}, "limits.documents None (not 40)"),
        ({"text": "changed"}, "sources[0].sha256"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_corpus_of_another_identity_is_left_alone(source, tmp_path, monkeypatch, finished, change, difference):
    folder = tmp_path / "corpus"
    if finished:
        build(source, folder)
    else:
        with monkeypatch.context() as patch:
            patch.setattr(ByteTokenizer, "encode_batch", interrupt)
            with pytest.raises(KeyboardInterrupt):
                build(source, folder)
    before = contents(folder)
    if "text" in change:
        source.write_text(change["text"])
    with pytest.raises(InputError) as caught:
        build(source, folder, **{name: value for name, value in change.items() if name != "text"})
    assert difference in str(caught.value)
    assert contents(folder) == before


def interrupt(self, text):
    raise KeyboardInterrupt


def test_every_difference_is_named_at_once(source, tmp_path):
    build(source, tmp_path / "corpus")
    with pytest.raises(InputError) as caught:
        build(source, tmp_path / "corpus", ByteTokenizer("bos"), validation=0.2, on_empty="skip")
    for name in ("tokenizer.vocab_sha256", "boundary 'shared' (not 'bos')", "validation", "on_empty"):
        assert name in str(caught.value)


def test_a_folder_with_something_else_in_it_is_refused_and_kept(source, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match=r"mine\.txt in it"):
        build(source, tmp_path / "notes")
    assert contents(tmp_path / "notes") == {"mine.txt": b"mine"}


def test_a_folder_that_another_process_builds_is_refused(source, tmp_path):
    code = f"""
import sys
from research.stream.journal import only_builder
from pathlib import Path
with only_builder(Path({str(tmp_path / "corpus")!r})):
    print("held", flush=True)
    sys.stdin.read()
"""
    holder = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT
    )
    try:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(InputError, match="a folder that no other process writes"):
            build(source, tmp_path / "corpus")
    finally:
        holder.communicate()
    assert build(source, tmp_path / "corpus").train.counts.documents


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a\n\nb", {}, "expected a text, got an empty one"),
        ("a\nb\nc", {"limits": CorpusLimits(documents=2)}, "corpus limit documents: expected at most 2"),
        ("a\nb\nc", {"limits": CorpusLimits(tokens=6)}, "corpus limit tokens: expected at most 6"),
        ("ab", {"separator": None}, "validation split: expected at least one document"),
        ("ab", {"validation": 0}, None),
        ("ab", {"validation": 1.0}, "validation: expected a share from 0 to below 1, got 1.0"),
        ("ab", {"on_empty": "drop"}, "on_empty: expected 'error' or 'skip', got 'drop'"),
    ],
)
def test_after_a_refusal_there_is_no_folder(source, tmp_path, text, options, message):
    source.write_text(text)
    if message is None:
        assert build(source, tmp_path / "corpus", **options).validation.counts.documents == 0
        return
    with pytest.raises(InputError) as caught:
        build(source, tmp_path / "corpus", **options)
    assert message in str(caught.value)
    assert not (tmp_path / "corpus").exists()


def test_a_bad_byte_is_refused_with_its_place(source, tmp_path):
    source.write_bytes(b"good\nb\xffd")
    with pytest.raises(InputError, match=r"byte offset 6"):
        build(source, tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()


@pytest.mark.parametrize("quantity", ["documents", "characters", "bytes", "tokens"])
def test_a_limit_counts_both_splits_together(source, tmp_path, quantity):
    stored = build(source, tmp_path / "whole")
    total = getattr(stored.train.counts + stored.validation.counts, quantity)
    build(source, tmp_path / "within", limits=CorpusLimits(**{quantity: total}))
    with pytest.raises(InputError, match=f"corpus limit {quantity}"):
        build(source, tmp_path / "over", limits=CorpusLimits(**{quantity: total - 1}))


def test_a_source_that_changes_meanwhile_is_refused(source, tmp_path, monkeypatch):
    encode_batch = ByteTokenizer.encode_batch

    def changing(self, texts):
        source.write_text("other")
        return encode_batch(self, texts)

    monkeypatch.setattr(ByteTokenizer, "encode_batch", changing)
    with pytest.raises(InputError, match="the file as it was hashed"):
        build(source, tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()


def test_equal_documents_are_on_one_side(source, tmp_path):
    source.write_text("\n".join([*LINES, *LINES, *LINES]), encoding="utf-8")
    stored = build(source, tmp_path / "corpus")
    training, held_out = split(LINES)
    assert (stored.train.counts.documents, stored.validation.counts.documents) == (3 * len(training), 3 * len(held_out))


def test_the_share_held_out_is_about_the_one_asked_for():
    held_out = sum(is_held_out(str(number).encode(), 0.2) for number in range(10_000))
    assert abs(held_out - 2000) < 5 * (10_000 * 0.2 * 0.8) ** 0.5


def test_folders_and_packed_sources_are_read_in_order(tmp_path):
    (tmp_path / "in" / "b").mkdir(parents=True)
    (tmp_path / "in" / "a.txt").write_text("one\ntwo")
    (tmp_path / "in" / "b" / "c.jsonl.gz").write_bytes(gzip.compress(b'{"body": "three"}\n{"body": ""}\n'))
    stored = build(tmp_path / "in", tmp_path / "corpus", validation=0, field="body", on_empty="skip")
    assert stored.train.tokens.tolist() == build_stream(["one", "two", "three"], ByteTokenizer()).tokens.tolist()
    assert [source.name for source in stored.manifest.recipe.sources] == ["a.txt", "b/c.jsonl.gz"]
    assert stored.train.counts.skipped == 1


def test_building_holds_neither_the_text_nor_the_tokens(source, tmp_path):
    build(source, tmp_path / "first")  # so that what is only loaded once does not count
    path = tmp_path / "large.txt"
    path.write_text("\n".join(f"{number} {'x' * 20_000}" for number in range(600)))
    tracemalloc.start()
    try:
        stored = build(path, tmp_path / "corpus")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 2 * peak < path.stat().st_size < stored.train.tokens.nbytes + stored.validation.tokens.nbytes
