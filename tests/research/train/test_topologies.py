"""One command on one device, on eight, and on two processes of four: the same run but for rounding."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from placed_bytes import CONFIG
from run_folders import untimed_log
from tiny_run import DOCUMENTS, TOKENIZER

from experiments.contracts.mesh import placements
from research.stream import build_corpus
from research.train.checkpoint import finished_steps

STEPS = 24
SETTINGS = ["d_model=64", "n_layers=1", "n_heads=2", "n_kv_heads=1", "head_dim=8", "d_ff=40"]
OPTIONS = ["--steps", STEPS, "--batch-size", 16, "--accumulate", 2, "--length", 12, "--warmup-steps", 3]
OPTIONS += ["--checkpoint-interval", 10, "--set", *(f"decoder.{setting}" for setting in SETTINGS)]
OPTIONS += ["log_interval=1", "steps_per_dispatch=2"]


def environment(devices):
    """One without the tests' own options, and with so many devices of the host."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    here = Path(__file__).parent
    path = os.pathsep.join((str(here.parents[2]), str(here)))
    return {**kept, "PYTHONPATH": path, "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}


def start(devices, *arguments):
    command = [sys.executable, "-m", "experiments.cli", "train", *map(str, arguments)]
    return subprocess.Popen(
        command, env=environment(devices), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(*processes):
    """What each wrote to standard output, if all came to their end."""
    told = []
    try:
        for process in processes:
            told.append(process.communicate(timeout=240))
    finally:
        for process in processes:
            process.kill()
    for process, (_, error) in zip(processes, told, strict=True):
        assert process.returncode == 0, error
    return [output for output, _ in told]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def two_processes(*arguments):
    """The same command in two processes of four devices; what each wrote."""
    where = [*arguments, "--distributed", "--coordinator", f"127.0.0.1:{free_port()}", "--processes", 2]
    return finish(*(start(4, *where, "--process", process) for process in (0, 1)))


def losses(folder):
    return np.array([line["loss"] for line in untimed_log(folder)])


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("topologies")
    (folder / "text.txt").write_text("\n".join(DOCUMENTS), encoding="utf-8")
    return build_corpus([folder / "text.txt"], TOKENIZER, folder / "corpus", separator="\n", validation=0.3).folder


@pytest.fixture(scope="module")
def one_device(corpus):
    """The folder of the run on one device."""
    finish(start(1, "--corpus", corpus, "--out", corpus.parent / "one", *OPTIONS))
    return corpus.parent / "one"


@pytest.fixture(scope="module")
def distributed(corpus):
    """The folder of the run in two processes of four devices, two copies of the parameters, and what they said."""
    folder = corpus.parent / "distributed"
    return folder, two_processes("--corpus", corpus, "--out", folder, *OPTIONS, "--replicas", 2)


@pytest.mark.slow
def test_eight_devices_make_the_steps_of_one(one_device, corpus, tmp_path):
    finish(start(8, "--corpus", corpus, "--out", tmp_path / "run", *OPTIONS))
    np.testing.assert_allclose(losses(tmp_path / "run"), losses(one_device), rtol=1e-5)


@pytest.mark.slow
def test_two_processes_of_four_devices_make_the_steps_of_one(one_device, distributed):
    folder, _ = distributed
    assert len(losses(folder)) == STEPS
    np.testing.assert_allclose(losses(folder), losses(one_device), rtol=1e-5)
    scores = [json.loads((run / "evaluations.jsonl").read_text()) for run in (folder, one_device)]
    np.testing.assert_allclose(scores[0]["bpb_total"], scores[1]["bpb_total"], rtol=1e-5)


@pytest.mark.slow
def test_the_first_process_alone_writes_and_speaks(distributed):
    folder, (first, second) = distributed
    assert f"written: {folder}" in first
    assert "written" not in second
    assert "steps" not in second
    assert [line["step"] for line in untimed_log(folder)] == list(range(1, STEPS + 1))
    assert not list(folder.glob(".*"))


@pytest.mark.slow
def test_a_checkpoint_of_one_topology_is_gone_on_with_on_another(one_device, distributed, corpus, tmp_path):
    for origin, devices in ((one_device, 8), (distributed[0], 1)):
        run = shutil.copytree(origin, tmp_path / origin.name)
        newest = finished_steps(run / "checkpoints")[-1]
        shutil.rmtree(run / "checkpoints" / str(newest))
        finish(start(devices, "--resume", run, "--corpus", corpus))
        assert len(losses(run)) == STEPS
        np.testing.assert_allclose(losses(run), losses(one_device), rtol=1e-5)


@pytest.mark.slow
def test_ctrl_c_in_one_process_stops_both_after_the_same_step(corpus, tmp_path):
    folder = tmp_path / "run"
    arguments = ["--corpus", corpus, "--out", folder, *OPTIONS, "steps=100000", "checkpoint_interval=50000"]
    where = ["--distributed", "--coordinator", f"127.0.0.1:{free_port()}", "--processes", 2]
    both = [start(1, *arguments, *where, "--process", process) for process in (0, 1)]
    try:
        while not (folder / "metrics.jsonl").exists() or not untimed_log(folder):
            assert both[0].poll() is None, both[0].communicate()
            time.sleep(0.1)
        both[1].send_signal(signal.SIGINT)
        errors = [process.communicate(timeout=120)[1] for process in both]
    finally:
        for process in both:
            process.kill()
    assert [process.returncode for process in both] == [130, 130]
    (step,) = finished_steps(folder / "checkpoints")
    assert f"stopped after step {step:,} of 100,000, which is saved" in errors[0]
    assert untimed_log(folder)[-1]["step"] == step
    assert not any("Traceback" in error for error in errors)


@pytest.mark.slow
def test_a_device_holds_its_part_of_parameters_and_optimizer_and_no_more():
    program = Path(__file__).parent / "placed_bytes.py"
    run = subprocess.run(
        [sys.executable, str(program)], env=environment(8), capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    for replicas, found in json.loads(run.stdout).items():
        sharing = 8 // int(replicas)
        expected = sum(placement.bytes_of_a_device(sharing) for placement in placements(CONFIG.decoder, sharing))
        for when in ("first", "trained"):
            assert found[when]["params"] == [expected] * 8
            # both moments, and the counters of AdamW and of its schedule, four bytes each
            assert found[when]["optimizer"] == [2 * expected + 2 * 4] * 8
        # parameters are sent to where they are computed with, and never the rows of other devices
        assert found["gathered"]
        assert all(shape in found["shapes"] for shape in found["gathered"])
        whole, part = found["embedding"]
        assert whole == [257, 64]
        assert part == [257, 64 // sharing]


@pytest.mark.slow
def test_rows_that_devices_can_not_share_end_every_process_with_a_line(corpus, tmp_path):
    process = start(8, "--corpus", corpus, "--out", tmp_path / "run", *OPTIONS, "accumulate=4")
    _, error = process.communicate(timeout=240)
    assert process.returncode == 2
    assert error.startswith("error: batch_size / accumulate: expected rows of a part of a step that 8 devices divide")
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()
