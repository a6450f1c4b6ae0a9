"""Saved and loaded is the same tokenizer; a file that was cut or edited is refused, whichever part it was."""

import copy
import json
import os

import pytest

from contracts.errors import InputError
from research.tokenizers import BPETokenizer, ByteTokenizer, load_tokenizer

TOKENIZERS = {
    "bytes": ByteTokenizer("separate"),
    "words": BPETokenizer.train(["the hen, the cat 안녕 안녕"], 300),
    "regex": BPETokenizer.train(["abab abab é é"], 300, pattern=r"[^é]+|é", boundary="none"),
    "empty": BPETokenizer([]),
}


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "tokenizer.json"
    TOKENIZERS["words"].save(path)
    return path


def refused(path, message="expected .*, got"):
    for load in (load_tokenizer, BPETokenizer.load):
        with pytest.raises(InputError, match=message) as caught:
            load(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=TOKENIZERS)
def test_a_saved_tokenizer_comes_back_as_it_was(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    loaded = load_tokenizer(path)
    assert type(loaded) is type(tokenizer)
    assert loaded.identity == tokenizer.identity
    assert (loaded.boundary, loaded.pattern) == (tokenizer.boundary, tokenizer.pattern)
    assert loaded.training == tokenizer.training
    assert loaded.encode("the hen é").tolist() == tokenizer.encode("the hen é").tolist()


def test_the_file_is_json_that_a_person_can_read(saved):
    document = json.loads(saved.read_text(encoding="utf-8"))
    assert document["identity"]["vocab_size"] == TOKENIZERS["words"].vocab_size
    assert document["pattern"]["name"] == "words"
    assert [104, 101, "he"] in document["merges"]
    assert '[104, 101, "he"],\n' in saved.read_text(encoding="utf-8")
    assert "안" in saved.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", "utf8-byte-v1"),
        ("vocab_size", 4097),
        ("protocol", {"doc": 256}),
        ("protocol", {"bos": 257}),
        ("vocab_sha256", "0" * 64),
        ("vocab_sha256", ""),
    ],
)
def test_each_identity_field_alone_wrong_is_refused(saved, field, value):
    document = json.loads(saved.read_text(encoding="utf-8"))
    document["identity"][field] = value
    saved.write_text(json.dumps(document))
    refused(saved, f"tokenizer identity: .*{field}")


def edits():
    def edit(name, change):
        return pytest.param(change, id=name)

    yield edit("a merge", lambda d: d["merges"].__setitem__(0, [97, 98, "ab"]))
    yield edit("order", lambda d: d["merges"].reverse())
    yield edit("one merge less", lambda d: d["merges"].pop())
    yield edit("the text of a merge", lambda d: d["merges"][0].__setitem__(2, "xx"))
    yield edit("a future id", lambda d: d["merges"].__setitem__(0, [300, 98, "ab"]))
    yield edit("merges no list", lambda d: d.__setitem__("merges", 5))
    yield edit("merge no list", lambda d: d["merges"].__setitem__(0, "ab"))
    yield edit("boundary", lambda d: d.__setitem__("boundary", "eos"))
    yield edit("no boundary", lambda d: d.__setitem__("boundary", ["shared"]))
    yield edit("pattern", lambda d: d["pattern"].__setitem__("name", "gpt2"))
    yield edit("table", lambda d: d["pattern"].__setitem__("version", "unicode-99"))
    yield edit("no pattern", lambda d: d.__setitem__("pattern", None))
    yield edit("pattern no object", lambda d: d.__setitem__("pattern", "words"))
    yield edit("regex", lambda d: d.__setitem__("pattern", {"regex": "a+", "version": "1"}))
    size = TOKENIZERS["words"].text_vocab_size
    for name, ids in {"too few": [1, 2], "shared": [0] * size, "other": list(range(1, size + 1)), "no": 5}.items():
        external = {"ids": ids, "special_tokens": {}, "roles": {}}
        yield edit(f"{name} external ids", lambda d, external=external: d.__setitem__("external", external))
    for name in ("ids", "special_tokens", "roles"):
        external = {"ids": list(range(1, size + 1)), "special_tokens": {}, "roles": {}} | {name: [1]}
        yield edit(f"external {name} of another kind", lambda d, external=external: d.__setitem__("external", external))
    yield edit("format", lambda d: d.__setitem__("format", "bytebound tokenizer 99"))
    yield edit("requested size", lambda d: d.__setitem__("requested_vocab_size", "300"))
    yield edit("stop reason", lambda d: d.__setitem__("stop_reason", "enough"))
    yield edit("identity", lambda d: d.__setitem__("identity", 3))
    yield edit("identity with more", lambda d: d["identity"].__setitem__("more", 1))
    for field in ("format", "identity", "boundary", "pattern", "merges", "external", "requested_vocab_size"):
        yield edit(f"without {field}", lambda d, field=field: d.pop(field))


@pytest.mark.parametrize("change", list(edits()))
def test_an_edited_file_is_refused(saved, change):
    document = json.loads(saved.read_text(encoding="utf-8"))
    changed = copy.deepcopy(document)
    change(changed)
    assert changed != document
    saved.write_text(json.dumps(changed))
    refused(saved)


def test_a_file_cut_anywhere_is_refused(saved):
    whole = saved.read_bytes()
    for length in [*range(0, len(whole) - 2, 97), len(whole) - 2]:
        saved.write_bytes(whole[:length])
        refused(saved, "tokenizer file: expected a whole JSON file")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b"{}", b"plain text", b'{"format": 1}'])
def test_a_file_of_something_else_is_refused(tmp_path, content):
    path = tmp_path / "file.json"
    path.write_bytes(content)
    refused(path, "tokenizer file: expected")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        load_tokenizer(tmp_path / "none.json")
    with pytest.raises(InputError, match="No such file"):
        BPETokenizer.load(tmp_path / "none.json")


def test_the_byte_tokenizer_is_no_bpe(tmp_path):
    ByteTokenizer().save(tmp_path / "bytes.json")
    with pytest.raises(InputError, match="expected a BPE, got the byte tokenizer"):
        BPETokenizer.load(tmp_path / "bytes.json")


def test_bytes_is_a_name_and_boundary_overrides(tmp_path):
    assert load_tokenizer("bytes").identity == ByteTokenizer().identity
    assert load_tokenizer("bytes", boundary="eos").identity == ByteTokenizer("eos").identity
    TOKENIZERS["words"].save(tmp_path / "tokenizer.json")
    loaded = load_tokenizer(str(tmp_path / "tokenizer.json"), boundary="separate")
    assert loaded.identity == TOKENIZERS["words"].with_boundary("separate").identity


def test_a_refused_write_leaves_what_was_there(saved, monkeypatch):
    before = saved.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError, match="No space left on device"):
        TOKENIZERS["bytes"].save(saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


@pytest.mark.parametrize("name", ["missing/tokenizer.json", "."])
def test_a_path_that_can_not_be_written_is_refused(tmp_path, name):
    with pytest.raises(InputError, match="tokenizer file: expected a path that can be written"):
        TOKENIZERS["bytes"].save(tmp_path / name)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "edit",
    [{"requested_vocab_size": 999}, {"stop_reason": None}, {"requested_vocab_size": 256}, {"extra": 1}],
    ids=lambda edit: next(iter(edit)),
)
def test_an_edit_of_what_training_said_or_an_unknown_field_is_refused(tmp_path, edit):
    path = tmp_path / "t.json"
    BPETokenizer.train(["abab abab"], 257).save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(document | edit), encoding="utf-8")
    with pytest.raises(InputError, match="tokenizer file"):
        BPETokenizer.load(path)


def test_json_nested_too_deep_is_refused(tmp_path):
    (tmp_path / "deep.json").write_text("[" * 200_000)
    with pytest.raises(InputError, match="a whole JSON file"):
        BPETokenizer.load(tmp_path / "deep.json")
