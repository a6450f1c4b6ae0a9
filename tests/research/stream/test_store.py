"""Opening a corpus: mapped and read-only, and refused if anything about its files is not as the manifest says."""

import json

import numpy as np
import pytest
from small_corpus import FILES, LINES, build

from contracts.errors import InputError
from research.stream import open_corpus, verify_corpus
from research.tokenizers import ByteTokenizer


def test_ids_are_as_narrow_as_the_vocabulary_allows(source, tmp_path, monkeypatch):
    assert build(source, tmp_path / "narrow").train.tokens.dtype == np.uint16
    monkeypatch.setattr(ByteTokenizer, "vocab_size", (1 << 16) + 1)
    wide = build(source, tmp_path / "wide")
    assert wide.train.tokens.dtype == np.int32
    assert wide.manifest.dtype == "int32"


def test_an_open_corpus_can_not_be_written_to(source, tmp_path):
    stored = build(source, tmp_path / "corpus")
    with pytest.raises(ValueError, match="read-only"):
        stored.train.tokens[0] = 0


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_refused(source, tmp_path, name):
    (build(source, tmp_path / "corpus").folder / name).unlink()
    with pytest.raises(InputError, match=name if name != "tokenizer.json" else "tokenizer"):
        open_corpus(tmp_path / "corpus")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data + b"\0"], ids=["cut", "longer"])
def test_a_file_that_is_cut_or_too_long_is_refused(source, tmp_path, name, damage):
    path = build(source, tmp_path / "corpus").folder / name
    path.write_bytes(damage(path.read_bytes().rstrip(b"\n") if name.endswith("json") else path.read_bytes()))
    with pytest.raises(InputError, match=name):
        open_corpus(tmp_path / "corpus")


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith("bin")])
def test_a_changed_byte_is_found_by_reading_all(source, tmp_path, name):
    stored = build(source, tmp_path / "corpus")
    path = stored.folder / name
    data = bytearray(path.read_bytes())
    data[3] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match=name):
        verify_corpus(stored)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda manifest: manifest.update(format="bytebound corpus 0"), "format"),
        (lambda manifest: manifest.pop("dtype"), "the fields of a corpus manifest"),
        (lambda manifest: manifest.update(extra=1), "the fields of a corpus manifest"),
        (lambda manifest: manifest["train"].pop("counts"), "the fields of a corpus manifest"),
        (lambda manifest: manifest.update(dtype="float32"), "dtype"),
        (lambda manifest: manifest["recipe"]["tokenizer"].update(vocab_sha256="0" * 64), "tokenizer identity"),
        (lambda manifest: manifest["train"]["counts"].update(tokens=1), "train.tokens.bin: expected 2 bytes"),
    ],
)
def test_an_edited_manifest_is_refused(source, tmp_path, edit, message):
    path = build(source, tmp_path / "corpus").folder / "manifest.json"
    manifest = json.loads(path.read_text())
    edit(manifest)
    path.write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=message):
        open_corpus(tmp_path / "corpus")


def test_the_identity_of_a_corpus_changes_with_any_of_its_files(source, tmp_path):
    first, again = build(source, tmp_path / "a"), build(source, tmp_path / "b")
    source.write_text("\n".join([*LINES[:-1], "another"]), encoding="utf-8")
    assert first.sha256 == again.sha256 != build(source, tmp_path / "c").sha256
