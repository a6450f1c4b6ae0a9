"""`bytebound train --seeds`: side by side on a CPU, each with the bits of that seed alone on one core."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import jax
import pytest
from jax import tree

from contracts.errors import InputError
from experiments.ablation.pool import cores
from experiments.cli import main
from experiments.train.seeds import require_group_options
from experiments.train.settings import changed
from experiments.train.side_by_side import refused
from research.stream import build_corpus, open_corpus
from research.tokenizers import ByteTokenizer
from research.train import open_run, preset
from research.train.group import begin_group
from research.train.log import read_log
from research.train.run import last_step

ROOT = Path(__file__).parents[3]
SIZES = ("d_model=24", "n_layers=1", "n_heads=2", "n_kv_heads=1", "head_dim=8", "d_ff=40")
TINY = ["--batch-size", "4", "--length", "16", "--warmup-steps", "2", "--checkpoint-interval", "20"]
TINY += ["--set", *(f"decoder.{size}" for size in SIZES)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    text = tmp_path_factory.mktemp("corpora") / "text.txt"
    text.write_text("\n".join(f"line {number} says 안녕 again." for number in range(60)), encoding="utf-8")
    return build_corpus([text], ByteTokenizer(), text.parent / "corpus", separator="\n", validation=0.3).folder


def start(*arguments):
    """The command in a process with all optimizations, and in a process group of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
    return subprocess.Popen(
        [sys.executable, "-m", "experiments.cli", "train", *map(str, arguments)],
        env={**kept, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@contextmanager
def one_core():
    """Processes that are started inside have one core."""
    before = cores()
    os.sched_setaffinity(0, before[:1])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def log_of(folder):
    """The lines of the log, without what depends on the clock."""
    timed = ("tokens_per_second", "peak_share")
    return [{k: v for k, v in line.items() if k not in timed} for line in read_log(folder / "metrics.jsonl")]


@pytest.mark.slow
def test_each_seed_has_the_bits_of_that_seed_alone_on_one_core(corpus, tmp_path):
    options = ["--corpus", corpus, "--steps", 40]
    both = start(*options, "--out", tmp_path / "both", "--seeds", 2, *TINY)
    output, error = both.communicate(timeout=240)
    assert both.returncode == 0, error
    assert "2 seeds on cpu: processes of one core" in error
    assert "bpb_text: mean" in output
    with one_core():
        alone = start(*options, "--out", tmp_path / "alone", "--seed", 1, *TINY)
    _, error = alone.communicate(timeout=240)
    assert alone.returncode == 0, error
    beside = tmp_path / "both" / "seed-1"
    assert log_of(beside) == log_of(tmp_path / "alone")
    assert log_of(beside) != log_of(tmp_path / "both" / "seed-0")
    found, expected = (tree.leaves(open_run(folder).decoder) for folder in (beside, tmp_path / "alone"))
    assert all((one == other).all() for one, other in zip(found, expected, strict=True))


@pytest.mark.slow
def test_ctrl_c_stops_and_saves_all_and_resume_goes_on_with_all(corpus, tmp_path):
    folder, options = tmp_path / "runs", [*TINY, "steps=1500", "log_interval=10"]
    running = start("--corpus", corpus, "--out", folder, "--seeds", 2, *options)
    logs = [folder / f"seed-{seed}" / "metrics.jsonl" for seed in (0, 1)]
    while not all(log.exists() and log.stat().st_size for log in logs):
        assert running.poll() is None, running.communicate()
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: the children get it too
    _, error = running.communicate(timeout=120)
    assert running.returncode == 130
    assert "Traceback" not in error
    assert f"go on with: bytebound train --resume {folder}" in error
    for log in logs:
        step = last_step(log.parent)
        assert 0 < step < 1500
        assert f"{log.parent.name} after step {step:,}" in error
        assert read_log(log)[-1]["step"] == step
    again = start("--resume", folder)
    output, error = again.communicate(timeout=240)
    assert again.returncode == 0, error
    assert [last_step(log.parent) for log in logs] == [1500, 1500]
    assert [line["step"] for line in read_log(logs[1])] == list(range(10, 1501, 10))
    assert f"written: {folder}" in output


@pytest.mark.slow
def test_a_seed_that_can_not_go_on_is_told_when_the_others_are_done(corpus, tmp_path, capsys):
    folder = tmp_path / "runs"
    terms = [*(f"decoder.{size}" for size in SIZES), "batch_size=4", "length=16", "steps=30", "checkpoint_interval=30"]
    config = changed(preset("seconds", 257), {}, terms)
    folders = begin_group(folder, config, 2, open_corpus(corpus))
    (folders[0] / "checkpoints" / "10").mkdir(parents=True)  # a checkpoint without its files
    with pytest.raises(SystemExit) as stopped:
        main(["train", "--resume", str(folder), "--corpus", str(corpus)])
    assert stopped.value.code == 2
    message = capsys.readouterr().err.splitlines()[-1]
    assert message.startswith(f"error: {folder}: expected every seed trained to its end, got {folders[0].name}: ")
    assert message.endswith(f"; trained to the end: {folders[1].name}")
    assert last_step(folders[1]) == 30


def test_seeds_that_failed_are_all_named_and_only_those_that_ended_are_said_to_have():
    folders = [Path("runs") / f"seed-{seed}" for seed in range(3)]
    refusals = {folder: InputError("step 3", expected="finite", got=folder.name[-1]) for folder in folders}
    some = str(refused(folders, {folder: refusals[folder] for folder in folders[:2]}))
    assert some.count("step 3: expected finite, got") == 2
    assert some.endswith("; trained to the end: seed-2")
    assert str(refused(folders, refusals)).endswith("; none is trained to its end")


@pytest.mark.slow
def test_an_accelerator_trains_all_in_one_program(corpus, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    options = ["--steps", "20", "--seeds", "2", *TINY]
    main(["train", "--corpus", str(corpus), "--out", str(tmp_path / "runs"), *options])
    told = capsys.readouterr()
    assert "2 seeds on gpu: one program for all (vmap)" in told.err
    assert [last_step(tmp_path / "runs" / f"seed-{seed}") for seed in (0, 1)] == [20, 20]
    losses = [read_log(tmp_path / "runs" / f"seed-{seed}" / "metrics.jsonl")[-1]["loss"] for seed in (0, 1)]
    assert f"loss: mean {sum(losses) / 2:.4f}, standard deviation" in told.out


@pytest.mark.parametrize(
    ("arguments", "option"), [((0, False, False), "--seeds"), ((2, True, False), "--tensorboard"),
                              ((2, False, True), "--distributed")]
)  # fmt: skip
def test_what_several_seeds_can_not_be_trained_with_is_refused(arguments, option):
    with pytest.raises(InputError, match=option):
        require_group_options(*arguments)
    require_group_options(2, False, False)
