"""`bytebound evaluate`: figures that are the library's, beside xz and a 5-gram, and mistakes in one line."""

import json
from types import SimpleNamespace

import pytest
import tyro
from flax import nnx

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

    def open_run(path, step):
        corpus = open_corpus(folder / "corpus")
        manifest = SimpleNamespace(tokenizer=TOKENIZER.identity, corpus="../corpus", corpus_sha256=corpus.sha256)
        config = SimpleNamespace(policy=CROSS, length=24)
        return SimpleNamespace(decoder=decoder, tokenizer=TOKENIZER, config=config, manifest=manifest, step=3)

    monkeypatch.setattr(research.train, "open_run", open_run)

    def run(*arguments, folder=folder):
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
