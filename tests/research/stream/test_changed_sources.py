"""Sources that change while a corpus is built: what it says of them and what it holds of them never differ."""

import gzip
import os
import time
from pathlib import Path

import pytest
from small_corpus import build, contents
from small_parts import small_parts

from contracts.errors import InputError
from research.stream import CorpusLimits, append, build_corpus, sources
from research.text import LongDocument
from research.tokenizers import ByteTokenizer

LONG = b"word " * 100
WHOLE = {"separator": None, "validation": 0}


def before(monkeypatch, owner, name, action):
    """Have `action` run once, before `owner.name` does what it does."""
    original, due = getattr(owner, name), [action]

    def wrapped(*given, **options):
        if due:
            due.pop()()
        return original(*given, **options)

    monkeypatch.setattr(owner, name, wrapped)


def write_unnoticed(path, data):
    """Other bytes of the same length in the same file, whose time of change is set back."""
    status = path.stat()
    assert len(data) == status.st_size
    time.sleep(0.02)  # the clock of a file system ticks every few milliseconds
    path.write_bytes(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


CHANGES = {
    "grown": lambda path: path.write_bytes(LONG + b"more"),
    "shortened": lambda path: path.write_bytes(LONG[:200]),
    "no longer UTF-8": lambda path: path.write_bytes(b"\xff" * len(LONG)),
    "of more tokens": lambda path: path.write_bytes(b"other " * 100),
    "set back": lambda path: write_unnoticed(path, LONG.upper()),
    "replaced": lambda path: (path.with_name("b").write_bytes(LONG.upper()), path.with_name("b").replace(path)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_long_document_that_changes_between_its_passes_is_refused_for_that(source, tmp_path, monkeypatch, change):
    source.write_bytes(LONG)
    before(monkeypatch, LongDocument, "chunks", lambda: change(source))
    with small_parts(), pytest.raises(InputError, match=r"source\.txt: expected the file as it was hashed, got a cha"):
        build(source, tmp_path / "corpus", **WHOLE)
    assert not (tmp_path / "corpus").exists()


def test_a_short_document_that_changes_to_bad_text_is_refused_for_the_change(source, tmp_path, monkeypatch):
    (tmp_path / "second.txt").write_bytes(b"good")
    before(monkeypatch, ByteTokenizer, "encode_batch", lambda: (tmp_path / "second.txt").write_bytes(b"b\xffd"))
    with pytest.raises(InputError, match=r"second\.txt: expected the file as it was hashed, got a changed one"):
        build_both(source, tmp_path)


@pytest.mark.parametrize("touch", [lambda path: path.chmod(0o600), lambda path: os.link(path, path.with_name("b"))])
def test_a_file_of_which_only_mode_or_names_change_is_hashed_once_more_and_accepted(
    source, tmp_path, monkeypatch, touch
):
    source.write_bytes(LONG)
    expected = contents(build(source, tmp_path / "whole", **WHOLE).folder)
    hashed, file_sha256 = [], sources.file_sha256
    monkeypatch.setattr(sources, "file_sha256", lambda *given: hashed.append(given[0]) or file_sha256(*given))
    before(monkeypatch, LongDocument, "chunks", lambda: (time.sleep(0.02), touch(source)))
    with small_parts(commit=50):
        assert contents(build(source, tmp_path / "corpus", **WHOLE).folder) == expected
    assert hashed == [source, source]


def build_both(source, tmp_path):
    return build_corpus([source, tmp_path / "second.txt"], ByteTokenizer(), tmp_path / "corpus", separator="\n")


def test_what_was_read_of_a_changed_file_is_not_committed_though_it_is_set_back_later(source, tmp_path, monkeypatch):
    """Else the next run would find the file as it was, and go on behind text that was never in it."""
    source.write_bytes(LONG)
    expected = contents(build(source, tmp_path / "whole", **WHOLE).folder)
    written = []

    def counted(self, ids):
        written.append(len(ids))
        if len(written) > 20:
            raise KeyboardInterrupt

    with small_parts(commit=50):
        with monkeypatch.context() as patch:
            before(patch, LongDocument, "chunks", lambda: source.write_bytes(LONG.upper()))
            before(patch, append.StreamWriter, "end", lambda: pytest.fail("committed"))
            extend = append.StreamWriter.extend
            patch.setattr(append.StreamWriter, "extend", lambda self, ids: (counted(self, ids), extend(self, ids)))
            with pytest.raises((InputError, KeyboardInterrupt)):
                build(source, tmp_path / "corpus", **WHOLE)
        source.write_bytes(LONG)
        assert contents(build(source, tmp_path / "corpus", **WHOLE).folder) == expected


def test_a_source_that_vanishes_is_named_and_what_is_built_is_kept(source, tmp_path, monkeypatch):
    source.write_bytes(LONG)
    expected = contents(build(source, tmp_path / "whole", **WHOLE).folder)
    before(monkeypatch, append.StreamWriter, "end", source.unlink)
    with small_parts(commit=50):
        with pytest.raises(InputError, match=r"source\.txt: expected the file as it was hashed, got No such file"):
            build(source, tmp_path / "corpus", **WHOLE)
        assert (tmp_path / "corpus" / "journal.json").exists()
        source.write_bytes(LONG)
        assert contents(build(source, tmp_path / "corpus", **WHOLE).folder) == expected


def test_a_pipe_is_refused_before_it_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"pipe: expected a file, got a pipe or a device; it is read more than once"):
        build(tmp_path / "pipe", tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()


@pytest.mark.parametrize("damage", [lambda data: data[:-6] + b"\0" + data[-5:], lambda data: data + b"more"])
@pytest.mark.parametrize("most", [2, 1 << 20])
def test_after_a_damaged_gz_there_is_no_folder(tmp_path, damage, most):
    (tmp_path / "a.txt.gz").write_bytes(damage(gzip.compress(LONG, 1)))
    with small_parts(most=most), pytest.raises(InputError, match="expected a readable file, got "):
        build(tmp_path / "a.txt.gz", tmp_path / "corpus", **WHOLE)
    assert not (tmp_path / "corpus").exists()


def test_a_refused_build_that_is_killed_while_it_is_removed_is_refused_in_the_same_words_again(tmp_path, monkeypatch):
    path, out = tmp_path / "a.txt", tmp_path / "corpus"
    path.write_bytes(LONG)
    options = {**WHOLE, "limits": CorpusLimits(tokens=300)}
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # to wait for the disk is slow
    unlink = Path.unlink
    for kill in range(8):
        left = [kill]

        def killed(self, missing_ok=False, left=left):
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= self.name != ".lock"
            unlink(self, missing_ok)

        with small_parts(commit=50):
            with monkeypatch.context() as patch:
                patch.setattr(Path, "unlink", killed)
                with pytest.raises(KeyboardInterrupt):
                    build(path, out, **options)
            with pytest.raises(InputError, match="corpus limit tokens: expected at most 300 tokens"):
                build(path, out, **options)
        assert not out.exists()
