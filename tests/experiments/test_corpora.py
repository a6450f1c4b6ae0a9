"""A corpus becomes slices: languages and formats of the embedded text, or a person's files, aligned where they are."""

import pytest

from contracts.errors import InputError
from experiments.corpora import english_of, groups, slices


def write(folder, **texts):
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_bytes(text.encode())
    return str(folder)


def test_the_embedded_corpus_has_three_aligned_languages_and_five_formats():
    found = groups(slices())
    assert [cut.name for cut in found["languages"]] == ["en", "ko", "de"]
    assert len({len(cut.units) for cut in found["languages"]}) == 1
    assert [cut.name for cut in found["formats"]] == ["json-compact", "json-indent-8", "log", "table", "chat"]


def test_files_of_a_folder_with_equally_many_lines_are_aligned_and_joined_by_spaces(tmp_path):
    folder = write(tmp_path / "mine", eng="one\ntwo\n", kor="하나\n둘\n")
    english, korean = slices([folder])
    assert english.aligned
    assert korean.aligned
    assert korean.units == ("하나", "둘")
    assert korean.text == "하나 둘"
    assert english_of([korean, english]) is english


def test_files_with_other_line_counts_are_whole_documents(tmp_path):
    folder = write(tmp_path / "mine", a="one\ntwo\n", b="only\n")
    first, second = slices([folder])
    assert not first.aligned
    assert first.text == "one\ntwo\n"
    assert second.documents == ("only\n",)


def test_a_file_alone_in_its_folder_is_aligned_with_nothing(tmp_path):
    folder = write(tmp_path / "mine", a="one\ntwo\n")
    write(tmp_path / "mine" / "below", b="one\ntwo\n")
    assert [cut.aligned for cut in slices([folder])] == [False, False]


@pytest.mark.parametrize("name", ["en", "eng_Latn", "pydocs.en", "english-web"])
def test_english_is_known_by_its_name(tmp_path, name):
    folder = write(tmp_path / "mine", **{name: "x\n", "other": "y\n", "bengali": "z\n"})
    assert english_of(slices([folder])).name == name


def test_an_empty_file_is_refused_by_name(tmp_path):
    folder = write(tmp_path / "mine", a="x", b="")
    with pytest.raises(InputError, match=r"got an empty file at .*b\.txt"):
        slices([folder])


def test_the_digest_follows_the_text_and_not_the_path(tmp_path):
    first = slices([write(tmp_path / "one", a="x")])[0].corpus()
    second = slices([write(tmp_path / "two", a="x")])[0].corpus()
    third = slices([write(tmp_path / "three", a="y")])[0].corpus()
    assert first == second
    assert third.sha256 != first.sha256


def test_flores_has_the_published_bytes_and_characters(shared_path):
    cuts = {cut.name: cut for cut in slices([str(shared_path("corpora/flores"))])}
    assert (len(cuts["eng_Latn"].text.encode()), len(cuts["eng_Latn"].text)) == (133_107, 132_977)
    assert (len(cuts["kor_Hang"].text.encode()), len(cuts["kor_Hang"].text)) == (158_810, 66_976)
