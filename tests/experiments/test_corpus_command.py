"""`bytebound corpus`: options reach the builder, mistakes are one line, and a folder is shown only if it is whole."""

import pytest
import tyro

from contracts.errors import InputError
from experiments.command import guarded
from experiments.corpus import BuildCorpus, Corpus, ShowCorpus
from research.stream import build_stream, open_corpus
from research.tokenizers import ByteTokenizer

LINES = [f"line {number}" for number in range(40)]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES))
    return path


def run(*arguments):
    guarded(tyro.cli(Corpus, args=[str(argument) for argument in arguments]).run)


def test_build_and_show_say_what_a_folder_holds(text, tmp_path, capsys):
    run("build", text, "--out", tmp_path / "corpus", "--per-line")
    built = capsys.readouterr().out
    run("show", tmp_path / "corpus", "--length", 16)
    shown = capsys.readouterr().out
    counts = open_corpus(tmp_path / "corpus").train.counts
    for output in (built, shown):
        assert "utf8-byte-v1, V = 257, boundary shared" in output
        assert f"{counts.documents}" in output.split("train")[1].split()
    assert "documents split" in shown
    assert "every byte is as the manifest says" in shown


def test_lines_that_end_in_crlf_are_said_to_keep_their_cr(text, tmp_path, capsys):
    run("build", text, "--out", tmp_path / "plain", "--per-line")
    assert "CRLF" not in capsys.readouterr().err
    text.write_bytes("\r\n".join(LINES).encode())
    run("build", text, "--out", tmp_path / "kept", "--per-line")
    told = capsys.readouterr().err
    assert f"lines of {text} end in CRLF, and each keeps its CR; --separator $'\\r\\n'" in told
    run("build", text, "--out", tmp_path / "cut", "--separator", "\r\n")
    cut, kept = (open_corpus(tmp_path / name).manifest for name in ("cut", "kept"))
    counted = [found.train.counts.bytes + found.validation.counts.bytes for found in (cut, kept)]
    assert counted[1] - counted[0] == len(LINES) - 1


def test_a_corpus_inside_of_its_source_is_refused_and_nothing_is_made(text, tmp_path, capsys):
    for place in (tmp_path / "corpus", tmp_path):
        with pytest.raises(SystemExit):
            run("build", tmp_path, "--out", place, "--validation", 0)
        assert "corpus folder: expected one outside of the source" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [text]


def test_a_file_that_is_given_twice_is_refused(text, tmp_path, capsys):
    (tmp_path / "link.txt").symlink_to(text)
    for twice in ([text, text], [tmp_path / "link.txt", text], [tmp_path, text]):
        with pytest.raises(SystemExit):
            run("build", *twice, "--out", tmp_path.parent / "twice", "--per-line")
        assert "expected each file once, got the same file again" in capsys.readouterr().err
    assert not (tmp_path.parent / "twice").exists()


def test_every_option_of_build_reaches_the_corpus(text, tmp_path):
    (tmp_path / "more.jsonl").write_text('{"body": "more"}\n{"body": ""}\n')
    options = "--separator e --field body --boundary separate --tokenizer bytes --validation 0 --on-empty skip"
    limits = "--max-documents 1000 --max-characters 1001 --max-bytes 1002 --max-tokens 1003"
    run("build", text, tmp_path / "more.jsonl", "--out", tmp_path / "corpus", *options.split(), *limits.split())
    corpus = open_corpus(tmp_path / "corpus")
    expected = build_stream([*"\n".join(LINES).split("e"), "more"], ByteTokenizer("separate"))
    assert corpus.train.tokens.tolist() == expected.tokens.tolist()
    stated = corpus.manifest.recipe.limits
    assert (stated.documents, stated.characters, stated.bytes, stated.tokens) == (1000, 1001, 1002, 1003)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (BuildCorpus(("nowhere",), "out"), "nowhere: expected a file or folder"),
        (BuildCorpus((), "out"), "corpus: expected at least one file or folder, got none"),
        (BuildCorpus(("x",), "out", per_line=True, separator="x"), "--separator: expected none beside --per-line"),
        (BuildCorpus(("x",), "out", max_tokens=-1), "limit tokens: expected None or an integer >= 0, got -1"),
        (ShowCorpus("nowhere"), "nowhere/manifest.json: expected a readable file"),
    ],
)
def test_a_mistake_is_told_in_one_line_and_leaves_nothing(action, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        action.run()
    assert str(caught.value).startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_ends_with_exit_code_2(text, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        run("build", text, "--out", tmp_path / "corpus", "--per-line", "--max-documents", 3)
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("error: corpus limit documents: expected at most 3 documents")


def test_an_interrupted_build_says_that_it_goes_on(text, tmp_path, capsys, monkeypatch):
    def interrupt(self, text):
        raise KeyboardInterrupt

    monkeypatch.setattr(ByteTokenizer, "encode_batch", interrupt)
    with pytest.raises(SystemExit) as stop:
        run("build", text, "--out", tmp_path / "corpus", "--per-line")
    assert stop.value.code == 130
    assert "the same command goes on" in capsys.readouterr().err
