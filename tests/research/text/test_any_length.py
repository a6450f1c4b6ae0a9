"""Documents of any length: what is read in parts is, byte for byte and fault for fault, what is read as a whole."""

import gzip
import hashlib
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from research.text import Document, LongDocument, long, read_any_length, read_documents

#: Line ends, a combining mark, a joined emoji, a byte order mark, and every length of UTF-8; and separators.
SEPARATORS = ["\n", "aa", "가b", "\r\n"]
texts = st.lists(st.sampled_from([*"ab \r\u00a0e\u0301가😀\u200d\ufeff\x00", *SEPARATORS]), max_size=60).map("".join)
separators = st.sampled_from([None, *SEPARATORS])
sizes = st.integers(1, 9)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("texts")


def small(monkeypatch_context, chunk, part, decoded):
    for name, value in (("CHUNK_BYTES", chunk), ("PART_BYTES", part), ("_DECODED", decoded)):
        monkeypatch_context.setattr(long, name, value)


def whole(document):
    """A document as `read_documents` gives it; of a long one what was measured is compared with what is read."""
    if isinstance(document, Document):
        return document
    data = b"".join(document.chunks())
    text = data.decode()
    assert (document.size, document.characters) == (len(data), len(text))
    assert document.sha256 == hashlib.sha256(data).hexdigest()
    return Document(text, document.source, document.index)


def outcome(documents):
    found = []
    try:
        found.extend(whole(document) for document in documents)
    except InputError as error:
        return found, str(error)
    return found, None


@pytest.mark.parametrize("packed", [False, True])
@given(texts, separators, sizes, sizes, sizes, st.integers(2, 20))
def test_any_length_gives_the_documents_of_the_whole_way(folder, packed, text, separator, chunk, part, decoded, most):
    path = folder / ("a.txt.gz" if packed else "a.txt")
    path.write_bytes(gzip.compress(text.encode(), 0) if packed else text.encode())
    with pytest.MonkeyPatch.context() as patch:
        small(patch, chunk, part, decoded)
        got = list(map(whole, read_any_length(path, separator, most=most)))
    assert got == list(read_documents(path, separator=separator))


@given(st.lists(st.one_of(texts.map(str.encode), st.binary(max_size=3)), max_size=6), separators, sizes, sizes)
def test_a_bad_byte_is_told_as_by_the_whole_way_after_the_same_documents(folder, pieces, separator, chunk, decoded):
    path = folder / "bad.txt"
    path.write_bytes(b"".join(pieces))
    with pytest.MonkeyPatch.context() as patch:
        small(patch, chunk, 3, decoded)
        got = outcome(read_any_length(path, separator, most=4))
    assert got == outcome(read_documents(path, separator=separator))


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_a_long_document_can_be_entered_at_any_byte(tmp_path, monkeypatch, name):
    data = "첫째 문서\n둘째 문서는 더 길다\n셋".encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    small(monkeypatch, 5, 4, 2)
    for document, piece in zip(read_any_length(tmp_path / name, "\n", most=2), data.split(b"\n"), strict=True):
        if isinstance(document, LongDocument):
            assert [b"".join(document.chunks(at)) for at in range(len(piece))] == [
                piece[at:] for at in range(len(piece))
            ]


def test_only_a_document_of_more_than_the_most_is_a_long_one(tmp_path, monkeypatch):
    small(monkeypatch, 1, 1, 1)
    (tmp_path / "a.txt").write_text("12345\n123456\n12345")
    kinds = [type(document) for document in read_any_length(tmp_path / "a.txt", "\n", most=5)]
    assert kinds == [Document, LongDocument, Document]


def test_a_file_that_became_shorter_meanwhile_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a" * 100)
    document = next(read_any_length(path, most=10))
    path.write_text("a" * 50)
    with pytest.raises(InputError, match=r"a\.txt: expected a file of at least 100 bytes, as before"):
        list(document.chunks())


def test_while_a_long_document_is_measured_its_bytes_are_told(tmp_path, monkeypatch):
    small(monkeypatch, 10, 10, 10)
    (tmp_path / "a.txt").write_text("a" * 95)
    told = []
    list(read_any_length(tmp_path / "a.txt", most=20, measuring=told.append))
    assert told == sorted(told)
    assert told[-1] == 95
    assert len(told) > 5


def test_records_are_read_as_ever(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"body": "' + "a" * 100 + '"}\n')
    assert list(read_any_length(tmp_path / "a.jsonl", field="body", most=10)) == [
        Document("a" * 100, str(tmp_path / "a.jsonl"), 0)
    ]


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
def test_an_empty_separator_is_refused_as_ever(tmp_path, name):
    (tmp_path / name).write_text("")
    with pytest.raises(InputError, match="separator: expected at least one character"):
        list(read_any_length(tmp_path / name, ""))


@pytest.mark.parametrize("separator", [None, "\n\n"])
def test_a_long_document_is_not_held(tmp_path, separator):
    path = tmp_path / "a.txt"
    path.write_text("긴 글 " * 3_000_000)
    tracemalloc.start()
    try:
        for document in read_any_length(path, separator):
            assert sum(map(len, document.chunks())) == path.stat().st_size
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 2 * peak < path.stat().st_size


@pytest.mark.parametrize("separator", [None, "\n"])
def test_a_damaged_gz_is_told_as_such_whatever_it_unpacks_to(tmp_path, monkeypatch, separator):
    packed = bytearray(gzip.compress("가나다 ".encode() * 100, 0))
    packed[200] = 0xFF  # stored as it is, so that it unpacks to bad text, and then the checksum differs
    (tmp_path / "a.txt.gz").write_bytes(packed)
    small(monkeypatch, 16, 16, 16)
    got = outcome(read_any_length(tmp_path / "a.txt.gz", separator, most=50))
    assert "CRC check failed" in got[1]
    assert got == outcome(read_documents(tmp_path / "a.txt.gz", separator=separator))
