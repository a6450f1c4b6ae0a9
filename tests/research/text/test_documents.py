"""Reading documents: exact text, one order, bounded memory, and errors that lead to the byte."""

import gzip
import hashlib
import io
import json
import sys
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from research.text import Document, corpus_digest, read_documents
from research.text.documents import split_stream

texts = st.text(st.characters(exclude_categories=["Cs"]))


def read(*paths, **options):
    return [document.text for document in read_documents(*paths, **options)]


def refusal(*paths, **options):
    with pytest.raises(InputError) as caught:
        list(read_documents(*paths, **options))
    return str(caught.value)


def test_a_file_is_one_document_that_knows_its_source(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("가나\n다", encoding="utf-8")
    assert list(read_documents(path)) == [Document("가나\n다", str(path), 0)]


def test_line_ends_a_byte_order_mark_and_nul_are_kept(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n\x00")
    assert read(path) == ["\ufeffone\r\ntwo\rthree\n\x00"]


def test_a_folder_is_read_in_order_of_names_without_hidden_files(tmp_path):
    for name in ("b.txt", "a/z.log", "a/.hidden", ".git/config", "a.txt", "B.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert read(tmp_path) == ["B.md", "a/z.log", "a.txt", "b.txt"]


def test_paths_are_read_in_the_order_given(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    assert read(tmp_path / "b", tmp_path / "a") == ["b", "a"]


def test_a_gz_file_is_its_content(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("a\r\n가".encode()))
    assert read(tmp_path) == ["a\r\n가"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "A.JSONL"])
def test_a_jsonl_line_is_a_document_and_a_blank_line_is_none(tmp_path, name):
    data = '{"text": "a\\nb", "id": 1}\r\n\n  \n{"id": 2, "text": "가\u2028"}'.encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    assert list(read_documents(path)) == [Document("a\nb", str(path), 0), Document("가\u2028", str(path), 1)]


def test_the_jsonl_field_is_chosen(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "body": "b"}\n')
    assert read(path, field="body") == ["b"]


def test_a_separator_splits_and_a_last_line_end_is_no_document(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\n<|endoftext|>\ntwo<|endoftext|><|endoftext|>\n")
    assert read(path, separator="<|endoftext|>") == ["one\n", "\ntwo", ""]
    assert read(path, separator="\n<|endoftext|>\n") == ["one", "two<|endoftext|><|endoftext|>\n"]


def test_only_line_feed_ends_a_line_and_the_carriage_return_stays(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("a\r\n\nb\u2028c\x85d\x0be\n".encode())
    assert read(path, per_line=True) == ["a\r", "", "b\u2028c\x85d\x0be"]


@given(texts.map(str.encode), st.sampled_from([b"\n", b"ab", b"aab", "가".encode()]), st.integers(1, 5))
def test_splitting_in_chunks_is_splitting_at_once(data, end, chunk_bytes):
    expected = data.split(end)
    if expected[-1] in (b"", b"\n", b"\r\n"):
        expected.pop()
    found = list(split_stream(io.BytesIO(data), end, chunk_bytes))
    assert [piece for _, piece in found] == expected
    assert all(data[offset : offset + len(piece)] == piece for offset, piece in found)


@given(st.text("ab\n가", max_size=40), st.sampled_from(["a", "aa", "aba", "가b"]), st.integers(1, 5))
def test_a_separator_may_straddle_chunks(text, end, chunk_bytes):
    found = [piece.decode() for _, piece in split_stream(io.BytesIO(text.encode()), end.encode(), chunk_bytes)]
    expected = text.split(end)
    assert found == (expected[:-1] if expected[-1] in ("", "\n") else expected)


def test_an_endless_file_yields_its_first_documents():
    class Endless(io.RawIOBase):
        def read(self, size=-1):
            assert size > 0, "the file is read as a whole"
            return b"line\n" * (size // 5 + 1)

    assert [piece for _, piece in islice(split_stream(Endless(), b"\n"), 1000)] == [b"line"] * 1000


@given(st.lists(texts.filter(lambda text: "\n" not in text), min_size=1, max_size=4), st.data())
def test_a_bad_byte_is_reported_with_file_document_and_offset_in_the_file(tmp_path_factory, lines, data):
    number = data.draw(st.integers(0, len(lines) - 1))
    cut = data.draw(st.integers(0, len(lines[number])))
    before = "\n".join([*lines[:number], lines[number][:cut]]).encode()
    after = "\n".join([lines[number][cut:], *lines[number + 1 :]]).encode()
    path = tmp_path_factory.mktemp("bad") / "bad.txt"
    path.write_bytes(before + b"\xff" + after)

    message = refusal(path, per_line=True)
    assert f"bad.txt, document {number}, byte offset {len(before)}" in message
    assert "0xff" in message
    assert f"bad.txt, document 0, byte offset {len(before)}" in refusal(path)


def test_a_character_cut_at_the_end_of_a_file_is_refused(tmp_path):
    path = tmp_path / "cut.txt"
    path.write_bytes(b"ab" + "가".encode()[:2])
    assert "byte offset 2" in refusal(path)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "a"', "one JSON object a line"),
        (b"[" * 200_000, "one JSON object a line"),
        (b'{"text": ' + b"1" * 5000 + b"}", "one JSON object a line"),
        (b'["text"]', "a JSON object, got list"),
        (b"{}", "a field 'text', got an empty object"),
        (b'{"body": "a"}', "a field 'text', got 'body'"),
        (b'{"text": null}', "a string in field 'text', got NoneType"),
        (b'{"text": "\xe4"}', "UTF-8, got byte 0xe4"),
    ],
    ids=["cut short", "nested too deep", "huge number", "list", "empty", "other field", "null", "latin-1"],
)
def test_a_bad_jsonl_line_is_refused_with_file_and_line(tmp_path, line, reason):
    (tmp_path / "bad.jsonl").write_bytes(b'{"text": "fine"}\n\n' + line + b"\n")
    message = refusal(tmp_path)
    assert reason in message
    assert "bad.jsonl, line 3" in message


def test_a_missing_path_is_refused_at_the_call_before_anything_is_read(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(InputError, match="absent"):
        read_documents(tmp_path / "a.txt", tmp_path / "absent")


def test_a_folder_without_visible_files_is_refused(tmp_path):
    (tmp_path / ".hidden").write_text("a")
    (tmp_path / "inner").mkdir()
    with pytest.raises(InputError, match="folder with files"):
        read_documents(tmp_path)


@pytest.mark.parametrize("name", ["a.tar.gz", "a.zip", "A.ZST"])
def test_an_archive_is_refused_by_its_name(tmp_path, name):
    (tmp_path / name).write_text("text inside")
    with pytest.raises(InputError, match="archive"):
        read_documents(tmp_path)


def test_a_binary_file_in_a_folder_is_refused_not_skipped(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\r\n")
    assert "logo.png, document 0, byte offset 0" in refusal(tmp_path)


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-9], lambda data: b"plain", lambda data: data[:10] + b"\xff" * 20]
)
def test_a_damaged_gz_file_is_refused(tmp_path, damage):
    (tmp_path / "bad.gz").write_bytes(damage(gzip.compress(b"some text" * 9)))
    assert "bad.gz" in refusal(tmp_path)


@pytest.mark.parametrize("options", [{"separator": ""}, {"separator": "x", "per_line": True}, {"separator": "\ud800"}])
def test_contradicting_arguments_are_refused(tmp_path, options):
    (tmp_path / "a.txt").write_text("a")
    assert "separator" in refusal(tmp_path, **options)


def test_reading_nothing_is_refused():
    assert "at least one file" in refusal()


def write_parquet(path, column, name="text"):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table({name: column}), path)


def test_a_parquet_row_is_a_document(tmp_path):
    path = tmp_path / "a.parquet"
    rows = [f"문서 {row}\r\n" for row in range(3000)]
    write_parquet(path, rows, "body")
    assert read(path, field="body") == rows


@pytest.mark.parametrize(
    ("column", "reason"),
    [([1, 2], "strings in column 'text', got int64"), (["a", None], "row 1")],
)
def test_a_parquet_column_that_is_not_all_strings_is_refused(tmp_path, column, reason):
    write_parquet(tmp_path / "bad.parquet", column)
    message = refusal(tmp_path)
    assert reason in message
    assert "bad.parquet" in message


def test_a_missing_parquet_column_is_refused_with_those_there_are(tmp_path):
    write_parquet(tmp_path / "a.parquet", ["a"], "content")
    assert "a column 'text', got 'content'" in refusal(tmp_path)


def test_a_damaged_parquet_file_is_refused(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing more")
    assert "bad.parquet" in refusal(tmp_path)


def test_invalid_utf8_in_a_parquet_row_is_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    column = pyarrow.Array.from_buffers(
        pyarrow.string(), 2, [None, pyarrow.py_buffer(b"\0\0\0\0\1\0\0\0\3\0\0\0"), pyarrow.py_buffer(b"ab\xff")]
    )
    write_parquet(tmp_path / "bad.parquet", column)
    assert "row 1 of column 'text', byte offset 1" in refusal(tmp_path)


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    assert ".[data]" in refusal(tmp_path)


def test_the_digest_is_sha256_of_length_prefixed_documents():
    expected = hashlib.sha256(b"\0\0\0\0\0\0\0\2ab" + b"\0\0\0\0\0\0\0\3\xea\xb0\x80").hexdigest()
    assert corpus_digest(["ab", "가"]) == expected
    assert corpus_digest([Document("ab", "x", 0), Document("가", "y", 7)]) == expected


@given(st.lists(texts, max_size=3), st.lists(texts, max_size=3))
def test_two_corpora_have_one_digest_only_if_equal(left, right):
    assert (corpus_digest(left) == corpus_digest(right)) == (left == right)


def test_the_digest_sees_where_documents_end():
    assert len({corpus_digest(documents) for documents in (["abc"], ["ab", "c"], ["a", "bc"], ["abc", ""])}) == 4


def test_the_digest_of_a_lone_surrogate_is_refused():
    with pytest.raises(InputError, match=r"U\+D800 as character 1 at document 1"):
        corpus_digest(["a", "b\ud800"])


def test_latin1_is_refused_where_a_decoder_would_stop(shared_path):
    path = shared_path("corpora/invalid/german_latin1.txt")
    with pytest.raises(UnicodeDecodeError) as expected:
        path.read_bytes().decode()
    assert f"german_latin1.txt, document 0, byte offset {expected.value.start}" in refusal(path)


@pytest.mark.parametrize(
    ("language", "byte_count", "character_count"), [("eng_Latn", 133_107, 132_977), ("kor_Hang", 158_810, 66_976)]
)
def test_flores_has_its_published_size(shared_path, language, byte_count, character_count):
    """FLORES-200 devtest, lines joined by spaces."""
    sentences = read(shared_path(f"corpora/flores/{language}.txt"), per_line=True)
    joined = " ".join(sentences)
    assert (len(sentences), len(joined.encode()), len(joined)) == (1012, byte_count, character_count)


def test_tinystories_split_at_their_separator(shared_path):
    stories = read(shared_path("corpora/english/tinystories_sample.txt"), separator="<|endoftext|>")
    assert len(stories) == 5
    assert not any("endoftext" in story for story in stories)


def test_logs_keep_their_carriage_returns(shared_path):
    path = shared_path("corpora/logs/HDFS.log")
    (text,) = read(path)
    assert text.encode() == path.read_bytes()
    assert all(line.endswith("\r") for line in read(path, per_line=True)[:-1])


def test_json_of_the_corpus_is_text(shared_path):
    path = shared_path("corpora/json/twitter.json")
    (text,) = read(path)
    assert json.loads(text)["search_metadata"]


def test_a_lone_surrogate_that_json_spells_is_refused_with_file_and_line(tmp_path):
    (tmp_path / "sur.jsonl").write_text('{"text": "fine"}\n{"text": "a\\ud800b"}\n')
    with pytest.raises(InputError, match=r"U\+D800 as character 1 at .*sur\.jsonl, line 2"):
        list(read_documents(tmp_path / "sur.jsonl"))
