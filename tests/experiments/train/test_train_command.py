"""`bytebound train`: options reach the run, mistakes are one line, what it says at the end is what was measured."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args

import pytest

from contracts.errors import InputError
from experiments.cli import main
from experiments.tables import si
from experiments.train import Train
from experiments.train.command import PresetChoice
from experiments.train.estimate import estimate
from experiments.train.settings import changed
from research.costs import decoder_parameters
from research.stream import build_corpus
from research.tokenizers import ByteTokenizer
from research.train import PRESETS, open_run, preset
from research.train.log import read_log

SIZES = ("d_model=24", "n_layers=1", "n_heads=2", "n_kv_heads=1", "head_dim=8", "d_ff=40")
SETTINGS = tuple(f"decoder.{size}" for size in SIZES)
TINY = ["--steps", "20", "--batch-size", "4", "--length", "16", "--warmup-steps", "2", "--checkpoint-interval", "10"]
TINY += ["--set", *SETTINGS]

TWO = ["--corpus", "c", "--out", "r", "--distributed"]
WHERE = ["--coordinator", "127.0.0.1:1", "--processes", "2", "--wait-seconds", "0.1"]


def build(folder, validation=0.3):
    text = folder.with_suffix(".txt")
    text.write_text("\n".join(f"line {number} says 안녕 again." for number in range(60)), encoding="utf-8")
    return build_corpus([text], ByteTokenizer(), folder, separator="\n", validation=validation)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    return build(tmp_path_factory.mktemp("corpora") / "corpus").folder


def run(*arguments):
    """The exit code of the command."""
    try:
        main(["train", *map(str, arguments)])
    except SystemExit as stop:
        return stop.code
    return 0


@pytest.fixture(scope="session")
def trained(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    assert run("--corpus", corpus, "--out", folder, *TINY) == 0
    return folder


def test_the_presets_offered_are_those_that_there_are():
    choices, _ = get_args(get_args(PresetChoice)[0])
    assert get_args(choices) == tuple(PRESETS)


def test_every_option_reaches_the_run():
    options = Train(
        corpus="c",
        out="o",
        preset="minutes",
        steps=70,
        seed=7,
        batch_size=12,
        length=48,
        accumulate=3,
        learning_rate=0.5,
        warmup_steps=9,
        packing="fit",
        isolation="segments",
        positions="restart",
        loss="no-cross",
        checkpoint_interval=25,
        evaluation_interval=35,
        set=("decoder.tied=true", "optimizer.schedule=wsd", "optimizer.beta2=0.9", "keep_checkpoints=5"),
    )
    config = options._config(300)
    assert (config.steps, config.seed, config.batch_size, config.length, config.accumulate) == (70, 7, 12, 48, 3)
    assert (config.optimizer.peak_learning_rate, config.optimizer.warmup_steps) == (0.5, 9)
    assert tuple(vars(config.policy).values()) == ("fit", "segments", "restart", "no-cross")
    assert (config.checkpoint_interval, config.evaluation_interval, config.keep_checkpoints) == (25, 35, 5)
    assert (config.decoder.vocab_size, config.decoder.context_length, config.decoder.tied) == (300, 48, True)
    assert (config.optimizer.schedule, config.optimizer.beta2) == ("wsd", 0.9)
    assert Train(corpus="c", out="o", preset="minutes")._config(300) == preset("minutes", 300)


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("steps", "--set: expected FIELD=VALUE, got 'steps'"),
        ("decoder.tie=true", "--set: expected a setting of a run, got 'decoder.tie'; did you mean decoder.tied?"),
        ("decoder.tied=yes", "--set decoder.tied: expected true or false, got 'yes'"),
        ("steps=many", "--set steps: expected an integer, got 'many'"),
        ("optimizer.beta1=much", "--set optimizer.beta1: expected a number, got 'much'"),
        ("policy.loss=some", "RowPolicy loss: expected one of all, no-cross, got 'some'"),
        ("decoder.head_dim=7", "head_dim = 7 is odd"),
        ("steps=5", "steps = 5 is not more than the optimizer's warmup_steps = 20"),
    ],
)
def test_a_setting_that_does_not_fit_is_told_in_one_line(term, message):
    with pytest.raises(InputError) as caught:
        changed(preset("seconds", 257), {}, [term])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("terms", "messages"),
    [
        (["steps", "decoder.tie=true", "optimizer.beta1=much"], ["got 'steps'", "decoder.tie'", "optimizer.beta1"]),
        (["decoder.head_dim=7", "policy.loss=some", "optimizer.beta2=2"], ["head_dim = 7", "'some'", "beta2 = 2.0"]),
        (["steps=5", "seed=4294967296"], ["steps = 5", "seed = 4294967296"]),
    ],
    ids=["unreadable", "refused", "conflicting"],
)
def test_what_does_not_fit_is_told_all_of_a_kind_at_once(terms, messages):
    with pytest.raises(InputError) as caught:
        changed(preset("seconds", 257), {}, terms)
    assert [message in str(caught.value) for message in messages] == [True] * len(messages)


def test_a_dry_run_refuses_the_vocabulary_that_training_refuses(corpus, capsys):
    assert run("--corpus", corpus, "--dry-run", *TINY, "decoder.vocab_size=300") == 2
    assert "tokenizer: expected 300 ids (decoder.vocab_size), got 257 ids" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "r"], "--corpus: expected a corpus folder, or --resume RUN, got none"),
        (["--corpus", "c"], "--out: expected a folder for the run, got none"),
        (["--corpus", "nowhere", "--out", "r"], "nowhere/manifest.json: expected a readable file"),
        (["--resume", "nowhere"], "nowhere: expected the folder of a run"),
        (["--resume", "r", "--steps", "9"], "--steps: expected none beside --resume"),
        (["--resume", "r", "--out", "s"], "--out: expected none beside --resume"),
        (["--corpus", "c", "--out", "r", "--debug-step", "3"], "--debug-step: expected --resume RUN beside it"),
        ([*TWO[:4], "--processes", "2"], "--processes: expected --distributed beside it"),
        (
            [*TWO, "--coordinator", "host:1", "--process", "1"],
            "--processes: expected a value, as --coordinator has one",
        ),
        ([*TWO, *WHERE, "--process", "2"], "process: expected 0 to 1, of 2, got 2"),
        ([*TWO, *WHERE, "--process", "1"], "coordinator: expected process 0 at 127.0.0.1:1, got nobody within 0.1 s"),
        ([*TWO, "--dry-run"], "--dry-run: expected no --distributed beside it"),
        ([*TWO, "--seeds", "2"], "--distributed: expected none for several seeds"),
        ([*TWO[:4], "--seeds", "0"], "--seeds: expected at least 1, got 0"),
        ([*TWO[:4], "--replicas", "3"], "replicas: expected a number that divides 1 devices, got 3"),
    ],
)
def test_a_mistake_is_told_in_one_line_and_leaves_nothing(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {message}")
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_corpus_of_another_boundary_than_the_run_is_refused(trained, tmp_path, capsys):
    text = tmp_path / "text.txt"
    text.write_text("one\ntwo\nthree")
    other = build_corpus([text], ByteTokenizer("bos"), tmp_path / "bos", separator="\n", validation=0)
    assert run("--resume", trained, "--corpus", other.folder) == 2
    assert "expected the corpus that the run was begun with" in capsys.readouterr().err
    assert run("--corpus", other.folder, "--out", trained, *TINY) == 2
    message = capsys.readouterr().err
    assert "tokenizer protocol {'doc': 256}, not {'bos': 256}" in message
    assert message.count("\n") == 1


def test_the_summary_says_what_was_logged(corpus, tmp_path, capsys):
    assert run("--corpus", corpus, "--out", tmp_path / "run", *TINY, "--evaluation-interval", 10) == 0
    told = capsys.readouterr().out
    held_out = read_log(tmp_path / "run" / "evaluations.jsonl")
    assert [line["step"] for line in held_out] == [10, 20]
    assert f"held-out text: {held_out[-1]['bpb_text']:.4f} bits per byte" in told
    assert f"loss {read_log(tmp_path / 'run' / 'metrics.jsonl')[-1]['loss']:.4f} nats" in told
    assert "20 steps of 4 x 16 positions: 1,280 tokens" in told


def test_a_corpus_without_held_out_text_is_trained_on_and_it_is_said(tmp_path, capsys):
    corpus = build(tmp_path / "corpus", validation=0)
    assert run("--corpus", corpus.folder, "--out", tmp_path / "run", *TINY) == 0
    assert "held-out text: none in this corpus" in capsys.readouterr().out


def test_the_same_command_again_finds_the_run_finished(corpus, trained, capsys):
    assert run("--corpus", corpus, "--out", trained, *TINY) == 0
    assert "goes on after step 20 of 20" in capsys.readouterr().err
    assert run("--resume", trained) == 0


def test_a_dry_run_counts_and_trains_nothing(corpus, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run("--corpus", corpus, "--dry-run", *TINY) == 0
    told = capsys.readouterr().out
    config = Train(
        corpus="c", out="o", steps=20, batch_size=4, length=16, warmup_steps=2, set=tuple(TINY[11:])
    )._config(257)
    assert f"parameters           {decoder_parameters(config.decoder).total:,}" in told
    assert f"logits in memory     {si(4 * 16 * 257 * 4, 'B')} for 4 rows at once" in told
    assert "activations" in told
    assert all(word in told for word in ("training FLOPs", "expected time", "epochs", "nothing was trained"))
    assert list(tmp_path.iterdir()) == []


def test_an_expected_time_is_that_of_the_flops_at_a_share_of_the_peak(corpus, monkeypatch):
    from experiments.train import estimate as module
    from research.stream import open_corpus

    monkeypatch.setattr(module, "matmul_peak", lambda dtype: 1e9)
    monkeypatch.setattr(module, "flops_per_token", lambda config: 1e6)
    lines = estimate(preset("seconds", 257, steps=100), open_corpus(corpus))
    # 100 * 16 * 128 tokens of 1e6 FLOPs are 204.8 s at 1e9 a second
    assert any(line.endswith("7 min to 17 min, at 50 % to 20 % of the peak") for line in lines)


@pytest.mark.slow
def test_tensorboard_gets_every_line_of_the_logs(corpus, tmp_path):
    pytest.importorskip("tensorboardX")
    assert run("--corpus", corpus, "--out", tmp_path / "run", *TINY, "--tensorboard") == 0
    (events,) = (tmp_path / "run" / "tensorboard").iterdir()
    written = events.read_bytes()
    assert all(name in written for name in (b"loss", b"bpb_text", b"learning_rate", b"tokens_per_second"))


def test_without_tensorboardx_it_is_said_before_anything_is_made(corpus, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    assert run("--corpus", corpus, "--out", tmp_path / "run", *TINY, "--tensorboard") == 2
    assert "pip install 'bytebound[tracking]'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_step_that_is_not_finite_is_replayed_with_the_command_that_was_told(corpus, tmp_path, capsys):
    wild = ["optimizer.clip_norm=1e-15", "optimizer.warmup_steps=0", "steps_per_dispatch=2"]
    wild += ["optimizer.peak_learning_rate=1e19"]
    assert run("--corpus", corpus, "--out", tmp_path / "run", *TINY, *wild) == 2
    message = capsys.readouterr().err
    assert "expected a finite loss and finite gradients" in message
    replay = message.split("look into it with: bytebound train ")[1].split()
    assert run(*replay) == 0
    told = capsys.readouterr().out
    assert f"step {replay[-1]}: loss" in told
    assert "checkify: nan generated by primitive" in told
    assert "research/" in told
    assert "not finite in the step: the gradient of" in told


@pytest.mark.slow
def test_a_step_that_is_fine_replays_as_fine(trained, capsys):
    assert run("--resume", trained, "--debug-step", 12) == 0
    told = capsys.readouterr().out
    assert "checkify: every result is a number" in told
    assert "not finite in the step: no gradient" in told


def test_a_step_that_the_run_does_not_have_is_refused(trained, capsys):
    assert run("--resume", trained, "--debug-step", 21) == 2
    assert "step to replay: expected 1 to 20, got 21" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_dispatch_saves_and_says_how_to_go_on(number, code, corpus, tmp_path):
    root = Path(__file__).parents[3]
    options = [*TINY, "steps=100000", "log_interval=10"]
    command = [
        sys.executable,
        "-m",
        "experiments.cli",
        "train",
        "--corpus",
        corpus,
        "--out",
        tmp_path / "run",
        *options,
    ]
    process = subprocess.Popen(
        list(map(str, command)), env={**os.environ, "PYTHONPATH": str(root)}, stderr=subprocess.PIPE, text=True
    )
    metrics = tmp_path / "run" / "metrics.jsonl"
    while not (metrics.exists() and metrics.stat().st_size):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in error
    assert f"go on with: bytebound train --resume {tmp_path / 'run'}" in error
    step = open_run(tmp_path / "run").step
    assert f"stopped after step {step:,} of 100,000" in error
    assert json.loads(metrics.read_text().splitlines()[-1])["step"] == step
