"""A corpus becomes slices: languages and formats of the embedded text, or a person's files, aligned where they are."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from experiments.corpora import Reading, decisions, english_of, groups, slices
from experiments.names import printable


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


def test_files_of_a_folder_with_equally_many_lines_and_english_are_aligned_and_joined_by_spaces(tmp_path):
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
    assert cuts["eng_Latn"].corpus().bytes == 133_107
    assert (len(cuts["kor_Hang"].text.encode()), len(cuts["kor_Hang"].text)) == (158_810, 66_976)


def test_auto_takes_no_files_for_translations_without_english_and_says_so(tmp_path, capsys):
    folder = write(tmp_path / "services", web="a\nb\n", db="c\nd\n")
    first, second = slices([folder])
    assert not first.aligned
    assert first.text == "c\nd\n"
    assert second.documents == ("a\nb\n",)
    assert "services: 2 files of 2 lines not taken as translations, for none is English" in capsys.readouterr().err


def test_auto_takes_no_files_with_crlf_for_translations_and_leaves_every_byte(tmp_path, capsys):
    folder = write(tmp_path / "windows", en="a\r\nb\r\n", de="c\nd\n")
    assert [cut.text for cut in slices([folder])] == ["c\nd\n", "a\r\nb\r\n"]
    assert "for some end in CR" in capsys.readouterr().err


def test_alignment_is_told_once_on_standard_error_and_once_in_a_sentence(tmp_path, capsys):
    folder = write(tmp_path / "bilingual", en="a\nb\n", de="c\nd\n")
    said = "bilingual: 2 files of 2 lines taken as translations of each other, joined by spaces (--parallel no to stop"
    cuts = slices([folder]) and slices([folder])
    assert capsys.readouterr().err.count(said) == 1
    assert [line.startswith(said) for line in decisions(cuts)] == [True]
    assert decisions(slices()) == []


def test_files_named_one_by_one_are_read_as_their_folder_is(tmp_path):
    folder = write(tmp_path / "glob", de="c\nd\n", en="a\nb\n")
    assert slices([f"{folder}/de.txt", f"{folder}/en.txt"]) == slices([folder])


def test_parallel_no_never_aligns(tmp_path):
    folder = write(tmp_path / "apart", en="a\nb\n", de="c\nd\n")
    assert [(cut.aligned, cut.text) for cut in slices([folder], Reading(parallel="no"))] == [
        (False, "c\nd\n"),
        (False, "a\nb\n"),
    ]


def test_parallel_yes_aligns_without_english_and_drops_the_cr_of_a_line_end(tmp_path):
    folder = write(tmp_path / "demanded", ko="하나\r\n둘\r\n", de="c\nd\n")
    german, korean = slices([folder], Reading(parallel="yes"))
    assert german.aligned
    assert korean.text == "하나 둘"


@pytest.mark.parametrize(
    ("texts", "named"),
    [
        ({"a": "1\n2\n", "b": "1\n2\n", "odd": "1\n"}, "odd.txt"),
        ({"alone": "1\n2\n"}, "alone.txt"),
        ({"x": "1\n", "y": "1\n"}, "x.txt"),
    ],
)
def test_parallel_yes_refuses_the_file_that_has_another_count(tmp_path, texts, named):
    with pytest.raises(InputError, match=rf"--parallel yes.*{named}"):
        slices([write(tmp_path / "mine", **texts)], Reading(parallel="yes"))


def test_a_separator_or_lines_cut_a_file_into_documents_that_join_to_its_text(tmp_path):
    folder = write(tmp_path / "mine", a="one|two|three")
    (cut,) = slices([folder], Reading(separator="|"))
    assert (cut.documents, cut.text, cut.aligned) == (("one", "two", "three"), "one|two|three", False)
    folder = write(tmp_path / "lines", a="one\r\n\ntwo")
    (cut,) = slices([folder], Reading(per_line=True))
    assert (cut.documents, cut.text) == (("one\r", "", "two"), "one\r\n\ntwo")


def test_a_reading_without_files_is_refused():
    with pytest.raises(InputError, match="--corpus: expected files or folders beside --separator"):
        slices((), Reading(per_line=True))


@given(texts=st.lists(st.text("ab\n\r é", min_size=1), min_size=1, max_size=4))
def test_an_unaligned_file_is_exactly_its_text(texts):
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), **{f"f{number}": text for number, text in enumerate(texts)})
        cuts = slices([folder])
    assert not any(cut.aligned for cut in cuts)
    assert [cut.text for cut in cuts] == texts


def test_slices_of_one_name_get_the_folders_that_tell_them_apart(tmp_path):
    paths = []
    for above in ("a", "b"):
        (tmp_path / above).mkdir()
        paths.append(write(tmp_path / above / "d", en=above, de=above))
    cuts = slices(paths)
    assert [(cut.group, cut.name) for cut in cuts] == [
        ("a/d", "a/d/de"),
        ("a/d", "a/d/en"),
        ("b/d", "b/d/de"),
        ("b/d", "b/d/en"),
    ]
    assert english_of(cuts).name == "a/d/en"


def test_files_that_differ_in_their_ending_keep_it(tmp_path):
    folder = write(tmp_path / "mine", en="a")
    (tmp_path / "mine" / "en.jsonl").write_text('{"text": "b"}\n')
    assert [cut.name for cut in slices([folder])] == ["en.jsonl", "en.txt"]


def test_names_that_rows_use_for_several_slices_are_not_taken_by_a_file(tmp_path):
    names = {(cut.group, cut.name) for cut in slices([write(tmp_path / "all", all="x", both="y")])}
    assert len(names) == 2
    assert not any({"all", "both"} & set(pair) for pair in names)


def test_a_folder_called_english_makes_no_file_english(tmp_path):
    (tmp_path / "corpus").mkdir()
    write(tmp_path / "corpus" / "english", de="x")
    assert english_of(slices([str(tmp_path / "corpus")])) is None


def test_a_file_named_twice_is_refused(tmp_path):
    folder = write(tmp_path / "mine", en="a")
    with pytest.raises(InputError, match=r"--corpus: expected each file once, got .*en\.txt twice"):
        slices([folder, f"{folder}/en.txt"])


def test_a_file_without_documents_is_refused_by_name(tmp_path):
    folder = write(tmp_path / "mine", a="x")
    (tmp_path / "mine" / "b.jsonl").write_text("\n")
    with pytest.raises(InputError, match=r"got an empty file at .*b\.jsonl"):
        slices([folder])


def test_a_name_that_is_not_utf8_is_shown_by_its_bytes(tmp_path):
    (tmp_path / os.fsdecode(b"caf\xe9\n.txt")).write_text("x")
    (cut,) = slices([str(tmp_path)])
    assert cut.name == r"caf\xe9\n"


def test_different_names_stay_different_when_they_are_escaped():
    assert len({printable(name) for name in (os.fsdecode(b"\xe9"), r"\xe9", "é", "a\nb", r"a\nb")}) == 5


def test_a_corpus_has_the_bytes_that_are_measured(tmp_path):
    (cut, _) = slices([write(tmp_path / "sized", de="één\ntwee\n", en="one\ntwo\n")])
    assert cut.corpus().bytes == len("één twee".encode())
    assert cut.corpus().documents == 2


def test_logs_of_equally_many_lines_are_no_translations(shared_path):
    folder = shared_path("corpora/logs")
    for cut in slices([str(folder)]):
        assert not cut.aligned
        assert cut.text.encode() == (folder / f"{cut.name}").read_bytes()
