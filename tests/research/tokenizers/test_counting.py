"""Counting in parts is counting the whole: wherever files are cut, whoever counts, however often it is killed."""

import gzip
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.errors import InputError
from research.text.documents import read_documents
from research.tokenizers import PATTERNS, BPETokenizer
from research.tokenizers.counting import map_reduce
from research.tokenizers.counting import parts as parts_module
from research.tokenizers.counting.parts import FileRange, parts_of_documents, parts_of_files
from research.tokenizers.pretokenize import pretokenizer

TEXTS = st.text(st.sampled_from("ab '\n\r1é한😀\0\u00a0\u2028") | st.characters(codec="utf-8"), max_size=60)
REGEX = r"\w+|\s"


class AtOnce(Executor):
    """Counts where it is asked to."""

    def submit(self, function, /, *arguments, **named):
        future = Future()
        try:
            future.set_result(function(*arguments, **named))
        except BaseException as error:
            future.set_exception(error)
        return future


@pytest.fixture(scope="module")
def files(sample_text, tmp_path_factory):
    """The same text as a file, packed, and as lines of JSON."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "plain.txt").write_bytes(sample_text.encode())
    (folder / "packed.txt.gz").write_bytes(gzip.compress((sample_text + "packed").encode()))
    (folder / "lines.jsonl").write_text('{"text": "first line"}\n{"text": "안녕, second"}\n', encoding="utf-8")
    (folder / "empty.txt").write_bytes(b"")
    return folder


@pytest.fixture(autouse=True)
def by_engine(monkeypatch):
    monkeypatch.setenv("BYTEBOUND_ENGINE", "numba")


def counted(parts, pattern, executor=None):
    return dict(map_reduce.count(parts, pretokenizer(pattern), executor or AtOnce()).items())


def expected(texts, pattern):
    return Counter(piece.encode() for text in texts for piece in pretokenizer(pattern).split(text))


@pytest.mark.parametrize("pattern", [*PATTERNS, REGEX])
@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.slow), 7, 64, 1 << 22])
def test_files_are_counted_as_their_documents_are(files, pattern, size):
    texts = [document.text for document in read_documents(files)]
    parts = parts_of_files([files], pretokenizer(pattern), size=size)
    assert counted(parts, pattern) == expected(texts, pattern)


@pytest.mark.parametrize("separator", ["\n", "e"])
def test_separators_keep_documents_apart(files, separator):
    texts = [document.text for document in read_documents(files / "plain.txt", separator=separator)]
    parts = parts_of_files([files / "plain.txt"], PATTERNS["gpt2"], separator=separator, size=50)
    assert counted(parts, "gpt2") == expected(texts, "gpt2")


@pytest.mark.parametrize("pattern", ["words", "gpt2", "gpt2-digits", "cl100k", "none", REGEX])
@settings(max_examples=30)
@given(text=TEXTS, size=st.integers(1, 20))
def test_a_file_may_be_cut_at_any_size(pattern, tmp_path_factory, text, size):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_bytes(text.encode())
    assert counted(parts_of_files([path], pretokenizer(pattern), size=size), pattern) == expected([text], pattern)


@given(st.lists(TEXTS, max_size=5), st.integers(1, 20))
def test_documents_may_travel_in_any_company(texts, size):
    assert counted(parts_of_documents(texts, size), "gpt2") == expected(texts, "gpt2")


def test_a_long_plain_file_is_read_by_those_who_count(files):
    parts = list(parts_of_files([files / "plain.txt"], PATTERNS["words"], size=200))
    assert len(parts) > 5
    assert all(isinstance(part, FileRange) for part in parts)
    assert sum(part.size for part in parts) == (files / "plain.txt").stat().st_size


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_any_number_of_threads_learns_the_same(files, workers, monkeypatch):
    monkeypatch.setattr("research.tokenizers.counting.parts.SIZE", 100)
    texts = [document.text for document in read_documents(files)]
    with ThreadPoolExecutor(workers) as executor:
        from_files = BPETokenizer.train_files([files], 500, "gpt2", executor=executor)
        from_texts = BPETokenizer.train(texts, 500, "gpt2", executor=executor)
    monkeypatch.setenv("BYTEBOUND_ENGINE", "python")
    plain = BPETokenizer.train(texts, 500, "gpt2")
    by_python = BPETokenizer.train_files([files], 500, "gpt2")
    assert plain.identity == from_files.identity == from_texts.identity == by_python.identity


@pytest.mark.slow
def test_a_process_pool_learns_the_same(files):
    alone = BPETokenizer.train_files([files], 500, "gpt2")
    with ProcessPoolExecutor(2) as executor:
        assert BPETokenizer.train_files([files], 500, "gpt2", executor=executor).identity == alone.identity


@pytest.mark.slow
def test_a_dask_cluster_of_two_workers_learns_the_same(files):
    distributed = pytest.importorskip("distributed", reason="needs the extra cluster")
    alone = BPETokenizer.train_files([files], 500, "gpt2")
    texts = [document.text for document in read_documents(files)]
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, cluster.get_client() as client:
        executor = client.get_executor()
        assert BPETokenizer.train_files([files], 500, "gpt2", executor=executor).identity == alone.identity
        assert BPETokenizer.train(texts, 500, "gpt2", executor=executor).identity == alone.identity


@pytest.mark.parametrize("name", ["bad.txt", "bad.txt.gz"])
@pytest.mark.parametrize(("before", "bad"), [(b"", b"\xff"), (b"fine " * 20, b"\xed\xa0\x80"), (b"a " * 9, b"\xc3")])
def test_a_bad_byte_is_refused_with_its_place(tmp_path, name, before, bad):
    data = before + bad
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    with pytest.raises(InputError, match=rf"0x{bad[0]:02x} .*{name}, byte offset {len(before)}; convert"):
        counted(parts_of_files([path], PATTERNS["words"], size=8), "words")


def test_a_packed_file_cut_short_is_refused(tmp_path, files):
    packed = (files / "packed.txt.gz").read_bytes()
    (tmp_path / "cut.txt.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError, match="expected a readable file"):
        counted(parts_of_files([tmp_path / "cut.txt.gz"], PATTERNS["words"]), "words")


def test_counts_go_on_from_the_file(files, tmp_path, monkeypatch):
    """What is in the file is not counted again: here it is half of the text, twice over."""
    monkeypatch.setattr(map_reduce, "SAVE_SECONDS", 0.0)
    monkeypatch.setattr("research.tokenizers.counting.parts.SIZE", 200)
    kept, plain = tmp_path / "counts.npz", files / "plain.txt"
    whole = BPETokenizer.train_files([plain], 500, "gpt2")
    with pytest.raises(KeyboardInterrupt):
        BPETokenizer.train_files([plain], 500, "gpt2", executor=Interrupted(after=6), counts_file=kept)
    assert sorted(os.listdir(tmp_path)) == ["counts.npz"]
    executor = Interrupted(after=10**6)
    assert BPETokenizer.train_files([plain], 500, "gpt2", executor=executor, counts_file=kept).identity == (
        whole.identity
    )
    parts = len(list(parts_of_files([plain], PATTERNS["gpt2"], size=200)))
    assert executor.counted == parts - 6


class Interrupted(AtOnce):
    """Ctrl-C arrives while a part is counted."""

    def __init__(self, after):
        self.after, self.counted = after, 0

    def submit(self, function, /, *arguments, **named):
        self.counted += 1
        if self.counted > self.after:
            future = Future()
            future.set_exception(KeyboardInterrupt())
            return future
        return super().submit(function, *arguments, **named)


@pytest.mark.parametrize("other", ["pattern", "separator", "changed", "no counts"])
def test_counts_of_something_else_are_refused(tmp_path, other):
    kept, plain = tmp_path / "counts.npz", tmp_path / "plain.txt"
    plain.write_text("some text " * 20)
    BPETokenizer.train_files([plain], 300, "gpt2", counts_file=kept)
    pattern, separator = ("words" if other == "pattern" else "gpt2"), ("\n" if other == "separator" else None)
    if other == "changed":
        plain.write_text("some other text " * 20)
    if other == "no counts":
        kept.write_text("something")
    with pytest.raises(InputError, match=r"counts\.npz: expected the counts of this corpus and pattern.*remove it"):
        BPETokenizer.train_files([plain], 300, pattern, separator=separator, counts_file=kept)


KILLED = """
import sys
from research.tokenizers import BPETokenizer
from research.tokenizers.counting import map_reduce, parts
map_reduce.SAVE_SECONDS, parts.SIZE = 0.0, 20_000
tokenizer = BPETokenizer.train_files([sys.argv[1]], 600, "gpt2", counts_file=sys.argv[2])
print(tokenizer.identity.vocab_sha256)
"""


@pytest.mark.slow
def test_a_count_that_was_killed_ends_with_the_same_merges(tmp_path, sample_text):
    plain, kept = tmp_path / "plain.txt", tmp_path / "counts.npz"
    plain.write_text(sample_text * 2000)
    command = [sys.executable, "-c", KILLED, str(plain), str(kept)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    killed = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    while not kept.exists() and killed.poll() is None:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    assert killed.communicate()[0] == b""
    assert killed.returncode == -signal.SIGKILL
    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert again.stdout.strip() == BPETokenizer.train_files([plain], 600, "gpt2").identity.vocab_sha256


def test_a_pipe_is_read_to_its_end_wherever_it_stands_among_files(tmp_path, sample_text):
    plain, pipe = tmp_path / "plain.txt", tmp_path / "pipe"
    plain.write_text(sample_text, encoding="utf-8")
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=("piped 안녕 words".encode() * 50,), daemon=True)
    writer.start()
    parts = parts_of_files([pipe, plain], PATTERNS["gpt2"], size=64)
    assert counted(parts, "gpt2") == expected(["piped 안녕 words" * 50, sample_text], "gpt2")
    writer.join(5)


def test_a_file_that_says_it_has_no_bytes_is_read_all_the_same():
    made_up = Path("/proc/self/limits")
    if not made_up.exists():
        pytest.skip("no /proc here")
    assert counted(parts_of_files([made_up], PATTERNS["gpt2"]), "gpt2") == expected([made_up.read_text()], "gpt2")


def test_counts_of_other_parts_are_not_gone_on_from(files, tmp_path, monkeypatch):
    counts = tmp_path / "counts"
    BPETokenizer.train_files([files], 300, counts_file=counts)
    monkeypatch.setattr(parts_module, "SIZE", 100)
    with pytest.raises(InputError, match="counts of another corpus, pattern or release"):
        BPETokenizer.train_files([files], 300, counts_file=counts)


@pytest.mark.parametrize("content", ["nothing", "an array", "text", "a cut archive"])
def test_a_file_that_holds_no_counts_is_refused(files, tmp_path, content):
    counts = tmp_path / "counts"
    if content == "a cut archive":
        BPETokenizer.train_files([files], 300, counts_file=counts)
        counts.write_bytes(counts.read_bytes()[:-30])
    elif content == "an array":
        with open(counts, "wb") as file:
            np.save(file, np.arange(3))
    else:
        counts.write_text("" if content == "nothing" else "text")
    with pytest.raises(InputError, match="got another file"):
        BPETokenizer.train_files([files], 300, counts_file=counts)


def test_counts_are_kept_in_a_folder_that_exists_and_outside_of_the_corpus(files, tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        BPETokenizer.train_files([files], 300, counts_file=tmp_path / "missing" / "counts")
    with pytest.raises(InputError, match="outside of the corpus"):
        BPETokenizer.train_files([files], 300, counts_file=files / "counts")


def test_paths_are_any_iterable_of_paths_but_no_single_one(files):
    expected = BPETokenizer.train_files([files / "plain.txt"], 300).identity
    assert BPETokenizer.train_files((files / name for name in ["plain.txt"]), 300).identity == expected
    for single in (str(files / "plain.txt"), files / "plain.txt", 3):
        with pytest.raises(InputError, match="put a single path in a list"):
            BPETokenizer.train_files(single, 300)
    with pytest.raises(InputError, match="each a str or a Path"):
        BPETokenizer.train_files([3], 300)
