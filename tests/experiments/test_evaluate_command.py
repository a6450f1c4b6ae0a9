"""`bytebound evaluate`: figures that are the library's, beside xz and a 5-gram, and mistakes in one line."""

import json
import shutil
from types import SimpleNamespace

import jax
import pytest
import tyro
from flax import nnx

import experiments.evaluate
import research.train
from contracts.batch import RowPolicy
from contracts.decoder import DecoderConfig
from contracts.evaluation import ContextPolicy
from experiments.cli import main
from experiments.command import guarded
from experiments.evaluate import Evaluate
from research.evaluate import evaluate
from research.measures import ByteNGram, xz_bits
from research.model import Decoder
from research.stream import build_corpus, build_stream
from research.stream.corpus import is_held_out
from research.tokenizers import ByteTokenizer

TOKENIZER = ByteTokenizer()
LINES = {
    "en": [f"the line {number} of this text" for number in range(30)],
    "ko": [f"이 글의 {number}째 줄" for number in range(30)],
}
CROSS = RowPolicy("concatenate", "cross", "continue", "all")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A corpus of two files, and a run beside it."""
    root = tmp_path_factory.mktemp("evaluate")
    for name, lines in LINES.items():
        (root / f"{name}.txt").write_text("\n".join(lines))
    files = [root / "en.txt", root / "ko.txt"]
    build_corpus(files, TOKENIZER, root / "corpus", validation=0.3, separator="\n")
    return root


@pytest.fixture(scope="module")
def decoder():
    shape = {"d_model": 8, "n_layers": 1, "n_heads": 2, "n_kv_heads": 1, "head_dim": 4, "d_ff": 12}
    return Decoder(DecoderConfig(vocab_size=257, context_length=32, **shape), rngs=nnx.Rngs(0))


@pytest.fixture
def run(folder, decoder, monkeypatch):
    """The command on a run that holds the small decoder."""
    from research.stream import open_corpus

    def open_run(decoder):
        corpus = open_corpus(folder / "corpus")
        manifest = SimpleNamespace(tokenizer=TOKENIZER.identity, corpus="../corpus", corpus_sha256=corpus.sha256)
        config = SimpleNamespace(policy=CROSS, length=24)
        return SimpleNamespace(decoder=decoder, tokenizer=TOKENIZER, config=config, manifest=manifest, step=3)

    def run(*arguments, folder=folder, decoder=decoder):
        monkeypatch.setattr(research.train, "open_run", lambda path, step: open_run(decoder))
        guarded(tyro.cli(Evaluate, args=[str(folder / "run"), *map(str, arguments)]).run)

    return run


def rows_of(capsys):
    return {row["text"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}


def held_out(name):
    return [line for line in LINES[name] if is_held_out(line.encode(), 0.3)]


def test_what_the_corpus_held_out_is_scored_as_the_library_scores_it(run, folder, decoder, capsys):
    run("--json", "--overlap", 8)
    (row,) = rows_of(capsys).values()
    documents = [*held_out("en"), *held_out("ko")]
    found = evaluate(decoder, build_stream(documents, TOKENIZER), TOKENIZER, ContextPolicy(24, 8)).ledger
    size = sum(len(document.encode()) for document in documents)
    known = [line for lines in LINES.values() for line in lines if line not in documents]
    assert (row["documents"], row["bytes"]) == (len(documents), size)
    assert row["bpb_text"] == pytest.approx(found.bpb_text)
    assert row["bpb_total"] == pytest.approx(found.bpb_total)
    assert row["xz"] == xz_bits(documents) / size
    assert row["5-gram"] == pytest.approx(ByteNGram.learn(known).bits_per_byte(documents, ends=False))


@pytest.mark.parametrize("limit", [7, 60, 1 << 20])
def test_the_5_gram_learns_from_a_bounded_beginning_of_the_training_text(folder, monkeypatch, limit):
    text = "한 문서, one long document, " * 20
    (folder / "long.txt").write_text(text + "\n" + "another one")
    corpus = build_corpus([folder / "long.txt"], TOKENIZER, folder / f"long-{limit}", validation=0, separator="\n")
    learned = []
    monkeypatch.setattr(ByteNGram, "learn", learned.extend)
    monkeypatch.setattr(experiments.evaluate, "_NGRAM_BYTES", limit)
    experiments.evaluate._ngram(corpus)
    whole = [text, "another one"]
    assert learned == (whole if limit == 1 << 20 else [text.encode()[:limit].decode(errors="ignore")])


def test_each_file_has_a_row_and_all_together_are_sums_over_sums(run, folder, capsys):
    run("--text", folder / "en.txt", folder / "ko.txt", "--held-out", "--isolation", "reset", "--json")
    rows = rows_of(capsys)
    assert list(rows) == ["en.txt", "ko.txt", "all"]
    for name in ("en", "ko"):
        assert rows[f"{name}.txt"]["bytes"] == sum(len(line.encode()) for line in held_out(name))
    for figure in ("bpb_text", "bpb_total"):
        bits = sum(rows[name][figure] * rows[name]["bytes"] for name in ("en.txt", "ko.txt"))
        assert rows["all"][figure] == pytest.approx(bits / rows["all"]["bytes"])


def test_the_table_says_how_it_was_measured(run, folder, capsys):
    run("--text", folder / "en.txt")
    shown = capsys.readouterr().out
    assert "after 3 steps; windows of 24, overlap 0, cross, positions continue" in shown
    assert "en.txt" in shown
    assert "all" not in shown.split()


def flip_a_bit(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("name", ["train.tokens.bin", "validation.tokens.bin", "validation.starts.bin"])
def test_a_corpus_of_which_a_bit_was_changed_is_not_scored(run, folder, tmp_path, name, capsys):
    shutil.copytree(folder / "corpus", tmp_path / "corpus")
    flip_a_bit(tmp_path / "corpus" / name)
    with pytest.raises(SystemExit):
        run("--corpus", tmp_path / "corpus")
    error = capsys.readouterr().err
    assert f"{name}: expected SHA-256" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("files", [1, 2])
def test_where_nothing_would_have_been_held_out_it_is_said_of_how_many_documents(run, tmp_path, files, capsys):
    known = [line for lines in LINES.values() for line in lines if not is_held_out(line.encode(), 0.3)]
    for file in range(files):
        (tmp_path / f"{file}.txt").write_text("\n".join(known[10 * file : 10 * file + 10]))
    with pytest.raises(SystemExit):
        run("--text", tmp_path, "--held-out")
    error = capsys.readouterr().err
    assert f"got none: none of these {10 * files} documents would have been; without --held-out" in error
    assert error.count("\n") == 1


def test_text_that_the_run_may_have_trained_on_is_counted(run, folder, capsys):
    run("--text", folder / "en.txt")
    known = len(LINES["en"]) - len(held_out("en"))
    assert f"the run may have trained on {known} of 30 documents" in capsys.readouterr().out
    run("--text", folder / "en.txt", "--json")
    assert rows_of(capsys)["en.txt"]["perhaps_trained_on"] == known
    for arguments in (["--text", folder / "en.txt", "--held-out"], []):
        run(*arguments)
        assert "may have trained" not in capsys.readouterr().out


def test_empty_documents_are_left_out_and_counted(run, tmp_path, capsys):
    (tmp_path / "gaps.txt").write_text("one\n\n\ntwo")
    (tmp_path / "none.txt").write_text("\n\n")
    run("--text", tmp_path / "gaps.txt", tmp_path / "none.txt", "--json")
    (row,) = rows_of(capsys).values()
    assert (row["documents"], row["empty_documents"]) == (2, 2)
    run("--text", tmp_path / "gaps.txt")
    assert "2 empty documents left out" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        run("--text", tmp_path / "none.txt")
    assert "expected a document that is not empty" in capsys.readouterr().err


def test_a_figure_worse_than_guessing_is_said_to_be_that_and_not_a_mistake_of_units(run, folder, decoder, capsys):
    graph, parameters = nnx.split(decoder)
    louder = nnx.merge(graph, jax.tree.map(lambda parameter: 50 * parameter, parameters))
    run("--text", folder / "en.txt", folder / "ko.txt", decoder=louder)
    shown = capsys.readouterr().out
    assert "ko.txt: worse than a uniform guess" in shown
    assert "were bits given" not in shown


def test_another_corpus_than_the_run_was_begun_with_is_said_to_be_one(run, folder, tmp_path, capsys):
    build_corpus([folder / "ko.txt"], TOKENIZER, tmp_path / "other", validation=0.5, separator="\n")
    run("--corpus", tmp_path / "other")
    assert "it may have trained on" in capsys.readouterr().out


def test_text_is_scored_without_the_corpus_but_not_against_a_5_gram(run, folder, tmp_path, capsys):
    elsewhere = tmp_path / "moved"
    elsewhere.mkdir()
    run("--text", folder / "en.txt", folder=elsewhere)
    assert "no 5-gram" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        run(folder=elsewhere)
    assert "say where it is by --corpus" in capsys.readouterr().err
    run("--corpus", folder / "corpus", folder=elsewhere)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--held-out"], "--held-out: expected --text beside it"),
        (["--length", 33], "expected at most 32, the decoder's context"),
        (["--overlap", 24], "ContextPolicy overlap: expected 0 to 23"),
        (["--batch-size", 0], "batch_size: expected at least 1"),
        (["--text", "nowhere"], "nowhere: expected a file or folder"),
        (["--corpus", "nowhere"], "nowhere"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(run, arguments, message, capsys):
    with pytest.raises(SystemExit) as exit_:
        run(*arguments)
    error = capsys.readouterr().err
    assert (exit_.value.code, error.count("\n")) == (2, 1)
    assert message in error


def test_a_corpus_of_another_tokenizer_is_refused(run, tmp_path, capsys):
    (tmp_path / "text.txt").write_text("\n".join(LINES["en"]))
    build_corpus([tmp_path / "text.txt"], ByteTokenizer("separate"), tmp_path / "other", separator="\n")
    with pytest.raises(SystemExit):
        run("--corpus", tmp_path / "other")
    assert "tokenizer identity" in capsys.readouterr().err


@pytest.mark.slow
def test_from_text_to_figures_and_a_sample_by_commands_alone(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = [
        "--steps",
        "3",
        "--warmup-steps",
        "1",
        "--set",
        "decoder.d_model=16",
        "decoder.n_layers=1",
        "decoder.n_heads=2",
    ]
    settings += ["decoder.n_kv_heads=2", "decoder.head_dim=8", "decoder.d_ff=32"]
    main(["train", "--corpus", str(folder / "corpus"), "--out", "trained", *settings])
    capsys.readouterr()
    main(["evaluate", "trained", "--json"])
    (row,) = rows_of(capsys).values()
    assert 4 < row["bpb_text"] < 9
    main(["generate", "trained", "--prompt", "the", "--length", "5", "--json"])
    assert json.loads(capsys.readouterr().out)["prompt"] == "the"
