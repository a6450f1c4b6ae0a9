"""A run in a folder is the run in memory, can be stopped and gone on with, and is never mixed up with another."""

import errno
import logging
import os
import shutil
import signal
import sys
from dataclasses import replace
from types import SimpleNamespace

import jax
import numpy as np
import orbax.checkpoint as ocp
import pytest
from run_folders import assert_equal_runs, untimed_log
from tiny_run import CONFIG, DOCUMENTS, TOKENIZER, tiny

from contracts.errors import InputError
from research.stream import build_corpus, open_corpus
from research.stream.journal import only_builder
from research.tokenizers import ByteTokenizer
from research.train import StepFailed, fit, open_run, resume, storage, train
from research.train.keep import Keeper
from research.train.log import read_log
from research.train.replay import replay
from research.train.seeds import train_seeds

PEAK = 1e9
"""a rate that needs no measuring"""


def build(folder, tokenizer=TOKENIZER, lines=DOCUMENTS):
    text = folder.parent / f"{folder.name}.txt"
    text.write_text("\n".join(lines), encoding="utf-8")
    return build_corpus([text], tokenizer, folder, separator="\n", validation=0.3)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """Lines of text, three in ten held out."""
    (folder := tmp_path_factory.mktemp("trained") / "corpora").mkdir()
    return build(folder / "corpus")


@pytest.fixture(scope="session")
def unbroken(corpus):
    """The folder of the tiny run, trained from beginning to end. Tests leave it as it is."""
    folder = corpus.folder.parents[1] / "runs" / "unbroken"
    train(CONFIG, corpus, folder, peak_flops=PEAK)
    return folder


@pytest.fixture
def copied(unbroken, corpus, tmp_path):
    """A copy of the tiny run beside a copy of its corpus."""
    shutil.copytree(corpus.folder, tmp_path / "corpora" / "corpus")
    shutil.copytree(unbroken, tmp_path / "runs" / "run")
    return tmp_path / "runs" / "run"


def parameters(run):
    return jax.tree.leaves(run.decoder)


def test_a_run_in_a_folder_is_the_run_in_memory(unbroken, corpus):
    run = open_run(unbroken)
    found = fit(CONFIG, corpus.train, TOKENIZER)
    for kept, fitted in zip(parameters(run), jax.tree.leaves(found.decoder), strict=True):
        np.testing.assert_array_equal(kept, fitted)
    assert [line["loss"] for line in untimed_log(unbroken)] == found.metrics.loss[1::2].tolist()


@pytest.mark.slow
def test_an_opened_run_has_all_that_generation_needs(unbroken):
    run = open_run(unbroken)
    assert (run.step, run.config, run.tokenizer.identity) == (12, CONFIG, TOKENIZER.identity)
    assert run.decoder(np.zeros((1, 3), np.int32) + jax.numpy.zeros((1, 3), jax.numpy.int32)).shape == (1, 3, 257)
    assert open_run(unbroken, step=8).step == 8
    with pytest.raises(InputError, match="step: expected one of 8, 12, got 4"):
        open_run(unbroken, step=4)


def test_a_line_is_logged_every_so_many_steps_with_speed_and_share_of_the_peak(unbroken):
    lines = read_log(unbroken / "metrics.jsonl")
    assert [line["step"] for line in lines] == [2, 4, 6, 8, 10, 12]
    assert all(line["tokens_per_second"] > 0 and line["peak_share"] > 0 for line in lines)
    (held_out,) = read_log(unbroken / "evaluations.jsonl")
    assert held_out["step"] == 12
    assert 0 < held_out["bpb_text"] < 10


def test_the_newest_checkpoints_are_kept(unbroken):
    assert sorted(os.listdir(unbroken / "checkpoints")) == ["12", "8"]


def test_a_run_that_was_stopped_goes_on_to_the_same_bits(unbroken, corpus, tmp_path, monkeypatch, capsys):
    log = Keeper.log

    def interrupting(self, done, rate, share):
        log(self, done, rate, share)
        if done.stop == 6:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Keeper, "log", interrupting)
    with pytest.raises(KeyboardInterrupt):
        train(CONFIG, corpus, tmp_path / "run", peak_flops=PEAK)
    assert "stopped after step 6 of 12, which is saved; go on with: bytebound train --resume" in capsys.readouterr().err
    assert open_run(tmp_path / "run").step == 6
    monkeypatch.undo()
    resume(tmp_path / "run", corpus.folder, peak_flops=PEAK)
    assert_equal_runs(tmp_path / "run", unbroken)


def test_a_finished_run_is_left_as_it_is(copied):
    before = {path: path.stat().st_mtime_ns for path in copied.rglob("*") if path.is_file()}
    assert resume(copied).step == 12
    assert {path: path.stat().st_mtime_ns for path in copied.rglob("*") if path.is_file()} == before


def test_a_run_and_its_corpus_may_be_moved_together_or_the_corpus_named(copied, corpus, tmp_path):
    shutil.rmtree(copied / "checkpoints" / "12")
    shutil.move(tmp_path / "corpora", tmp_path / "elsewhere")
    with pytest.raises(InputError, match="expected the corpus of the run, got nothing there; say where"):
        resume(copied, peak_flops=PEAK)
    assert resume(copied, tmp_path / "elsewhere" / "corpus", peak_flops=PEAK).step == 12


def test_another_corpus_is_refused_when_going_on(copied, tmp_path):
    other = build(tmp_path / "other", lines=[f"other {line}" for line in DOCUMENTS])
    with pytest.raises(InputError, match="expected the corpus that the run was begun with"):
        resume(copied, other.folder)


@pytest.mark.parametrize("name", ["train.tokens.bin", "train.starts.bin", "validation.tokens.bin"])
def test_a_corpus_of_which_a_bit_was_changed_is_neither_begun_nor_gone_on_with(name, copied, tmp_path):
    shutil.rmtree(copied / "checkpoints" / "12")
    flip_a_bit(tmp_path / "corpora" / "corpus" / name)
    before = sorted(tmp_path.rglob("*"))
    ways = [
        lambda: resume(copied, peak_flops=PEAK),
        lambda: train(CONFIG, open_corpus(tmp_path / "corpora" / "corpus"), tmp_path / "new", peak_flops=PEAK),
        lambda: train_seeds(CONFIG, open_corpus(tmp_path / "corpora" / "corpus"), [tmp_path / "0", tmp_path / "1"]),
        lambda: replay(copied, 9),
    ]
    for way in ways:
        with pytest.raises(InputError, match=f"{name}: expected SHA-256 .* the file was changed or damaged"):
            way()
    assert sorted(tmp_path.rglob("*")) == before


def flip_a_bit(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_a_folder_with_another_run_is_refused_with_every_difference(copied, corpus):
    before = sorted(copied.rglob("*"))
    with pytest.raises(InputError, match="expected a new folder, or the same run") as caught:
        train(tiny(seed=3, batch_size=8), corpus, copied, peak_flops=PEAK)
    assert "config batch_size 6, not 8; config seed 0, not 3" in str(caught.value)
    assert sorted(copied.rglob("*")) == before


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["notes.txt"], "expected a new or empty folder, or a run, got notes.txt in it"),
        (["manifest.json"], "expected"),
    ],
)
def test_a_folder_with_something_else_is_refused_and_left(files, message, corpus, tmp_path):
    for name in files:
        (tmp_path / name).write_text("{}")
    with pytest.raises(InputError, match=message):
        train(CONFIG, corpus, tmp_path, peak_flops=PEAK)
    assert sorted(os.listdir(tmp_path)) == files


def test_a_corpus_of_another_vocabulary_is_refused_before_a_folder_is_made(tmp_path):
    corpus = build(tmp_path / "corpus", ByteTokenizer("separate"))
    with pytest.raises(InputError, match="tokenizer: expected 257 ids"):
        train(CONFIG, corpus, tmp_path / "run", peak_flops=PEAK)
    assert not (tmp_path / "run").exists()


def test_what_is_no_run_is_said_to_be_what_it_is(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "group" / "seed-3").mkdir(parents=True)
    (tmp_path / "group" / "seeds.json").touch()
    hint = f"the runs of several seeds; each is a run of its own, such as {tmp_path / 'group' / 'seed-3'}"
    told = {"nowhere": "nothing there", "file": "a file", "empty": "one without manifest.json", "group": hint}
    for name, message in told.items():
        for use in (open_run, lambda folder: replay(folder, 1)):
            with pytest.raises(InputError, match=f"expected the folder of a run, got {message}"):
                use(tmp_path / name)


def test_a_run_in_use_by_another_process_is_refused(copied):
    with only_builder(copied), pytest.raises(InputError, match="in use"):
        resume(copied)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_loss_that_is_not_finite_keeps_the_checkpoint_before_it_and_tells_the_replay(corpus, tmp_path):
    folder = tmp_path / "run"
    optimizer = replace(CONFIG.optimizer, peak_learning_rate=1e19, warmup_steps=0, clip_norm=1e-15)
    with pytest.raises(StepFailed, match=r"bytebound train --resume .*run --debug-step") as caught:
        train(
            tiny(optimizer=optimizer, steps_per_dispatch=1, log_interval=1, checkpoint_interval=1),
            corpus,
            folder,
            peak_flops=PEAK,
        )
    assert caught.value.step > 1
    run = open_run(folder)
    assert run.step == caught.value.step - 1 == read_log(folder / "metrics.jsonl")[-1]["step"]
    assert f"the checkpoint of step {run.step} is kept; look into" in str(caught.value)
    assert all(np.isfinite(parameter).all() for parameter in parameters(run))


@pytest.mark.slow
def test_a_run_that_failed_before_its_first_checkpoint_is_not_said_to_have_one_or_to_go_on(corpus, tmp_path):
    folder = tmp_path / "run"
    optimizer = replace(CONFIG.optimizer, peak_learning_rate=1e19, warmup_steps=0, clip_norm=1e-15)
    with pytest.raises(StepFailed, match="it came before the first checkpoint; look into it with") as caught:
        train(tiny(optimizer=optimizer, steps_per_dispatch=1, checkpoint_interval=12), corpus, folder, peak_flops=PEAK)
    assert "kept" not in str(caught.value)
    with pytest.raises(InputError, match="this goes on, or says why it can't: bytebound train --resume"):
        open_run(folder)


@pytest.mark.slow
def test_the_step_that_the_error_counts_is_the_step_that_is_replayed(corpus, tmp_path):
    optimizer = replace(CONFIG.optimizer, peak_learning_rate=1e19, warmup_steps=0, clip_norm=1e-15)
    with pytest.raises(StepFailed) as caught:
        train(tiny(optimizer=optimizer, checkpoint_interval=12), corpus, tmp_path / "run", peak_flops=PEAK)
    step = caught.value.step
    assert replay(tmp_path / "run", step).bad_gradients
    assert replay(tmp_path / "run", step - 1).bad_gradients == ()


FULL = "[os_error_code='28']"
ROOM = "RESOURCE_EXHAUSTED: Error writing"


@pytest.mark.slow
@pytest.mark.parametrize(
    "refusal",
    [OSError(errno.EFBIG, "File too large"), ValueError(f"{ROOM} params: Failed to write 9 bytes: no room {FULL}")],
    ids=["system", "tensorstore"],
)
@pytest.mark.parametrize("spoilt", ["params", "optimizer"])
def test_a_disk_that_is_full_is_told_in_one_line_and_the_run_goes_on_to_the_same_bits(
    refusal, spoilt, corpus, unbroken, tmp_path, monkeypatch, capfd
):
    monkeypatch.setattr(storage, "_SECONDS_TO_END", 0)
    save = ocp.Checkpointer.save

    def saving(self, path, **arguments):
        if path.name == spoilt and "8" in path.parent.name:
            print("Traceback of a thread", file=sys.stderr)
            logging.getLogger("absl").error("a thread failed")
            raise refusal
        save(self, path, **arguments)

    monkeypatch.setattr(ocp.Checkpointer, "save", saving)
    told = "run: expected a disk that takes the checkpoint of step 8, got (File too large|No space left on device); "
    with pytest.raises(InputError, match=f"{told}.*bytebound train --resume"):
        train(CONFIG, corpus, tmp_path / "run", peak_flops=PEAK)
    assert "thread" not in capfd.readouterr().err
    assert os.listdir(tmp_path / "run" / "checkpoints") == ["4"]
    monkeypatch.undo()
    resume(tmp_path / "run", corpus.folder, peak_flops=PEAK)
    assert_equal_runs(tmp_path / "run", unbroken)


def test_a_disk_without_room_for_a_checkpoint_is_refused_before_it_is_written(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda folder: SimpleNamespace(free=10))
    monkeypatch.setattr(ocp.Checkpointer, "save", None)
    with pytest.raises(InputError, match="the checkpoint of step 4, got No space left on device"):
        train(CONFIG, corpus, tmp_path / "run", peak_flops=PEAK)


def test_an_error_that_is_not_the_disks_is_shown_with_all_that_was_said(corpus, tmp_path, monkeypatch, capfd):
    def saving(self, path, **arguments):
        print("what a thread knows", file=sys.stderr)
        raise RuntimeError("RESOURCE_EXHAUSTED: Out of memory of the device")

    monkeypatch.setattr(ocp.Checkpointer, "save", saving)
    with pytest.raises(RuntimeError, match="of the device"):
        train(CONFIG, corpus, tmp_path / "run", peak_flops=PEAK)
    assert "what a thread knows" in capfd.readouterr().err


def test_a_stored_corpus_is_opened_from_the_manifest_alone(copied):
    assert open_corpus(copied / open_run(copied).manifest.corpus).manifest.recipe.validation == 0.3
