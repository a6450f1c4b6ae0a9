"""Running cells: what is done is never done again, what is interrupted goes on, what fails is named."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tiny_cells import SETTINGS, tiny_cell

from contracts.errors import InputError
from experiments.ablation.budget import announce
from experiments.ablation.outcome import Outcome
from experiments.ablation.pool import one_core_processes
from experiments.ablation.run import CellFailed, in_order, run_cells

CELLS = [tiny_cell(seed) for seed in range(4)]


def outcome_of(cell):
    return Outcome((1.0,), (10,), 7, cell.parameters, (), {}, float(cell.config.seed))


class Work:
    """Says what it was asked for; raises at the cells named."""

    def __init__(self, errors=None):
        self.asked, self.errors = [], errors or {}

    def __call__(self, cell):
        self.asked.append(cell.config.seed)
        if cell.config.seed in self.errors:
            raise self.errors[cell.config.seed]
        return outcome_of(cell)


def run(folder, work, cells=CELLS):
    with ThreadPoolExecutor(1) as executor:
        return run_cells(cells, folder, executor, work=work)


def test_outcomes_come_in_the_order_of_the_cells_and_are_not_computed_again(tmp_path):
    first, second = Work(), Work()
    expected = [outcome_of(cell) for cell in CELLS]
    assert run(tmp_path, first) == expected
    assert sorted(first.asked) == [0, 1, 2, 3]
    assert run(tmp_path, second, CELLS[::-1]) == expected[::-1]
    assert second.asked == []


def test_equal_cells_are_run_once(tmp_path):
    work = Work()
    assert len(run(tmp_path, work, [CELLS[0], tiny_cell(0, name="the same"), CELLS[0]])) == 3
    assert work.asked == [0]


def test_after_an_interrupt_only_what_was_not_done_is_run(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Work({2: KeyboardInterrupt()}))
    done = {cell.config.seed for cell in CELLS if (tmp_path / f"{cell.digest}.json").exists()}
    assert {0, 1} <= done <= {0, 1, 3}
    again = Work()
    run(tmp_path, again)
    assert set(again.asked) == {0, 1, 2, 3} - done


def test_a_cell_that_fails_is_named_and_the_others_are_kept(tmp_path):
    with pytest.raises(CellFailed, match=r"cell tiny, seed 1: ZeroDivisionError: by nothing"):
        run(tmp_path, Work({1: ZeroDivisionError("by nothing")}))
    assert (tmp_path / f"{CELLS[0].digest}.json").exists()
    with pytest.raises(InputError, match=r"cell tiny, seed 1: .* loss is nan"):
        run(tmp_path, Work({1: InputError("step 3", expected="a finite loss", got="loss is nan")}))


@pytest.mark.parametrize("content", ['{"outcome": {"loss": [1', "{}", '{"outcome": {"loss": [1], "scores": [{}]}}'])
def test_a_file_of_the_cache_that_is_no_outcome_is_refused_by_name(tmp_path, content):
    (tmp_path / f"{CELLS[0].digest}.json").write_text(content)
    with pytest.raises(InputError, match=f"{CELLS[0].digest}.json.*its cell is then run again"):
        run(tmp_path, Work())


def test_what_is_stored_says_which_cell_it_is_of(tmp_path):
    run(tmp_path, Work(), CELLS[:1])
    (path,) = tmp_path.glob("*")
    stored = json.loads(path.read_text())
    assert stored["cell"] == "tiny, seed 0"
    assert stored["description"] == json.loads(json.dumps(CELLS[0].description))


def test_the_dearest_go_first_and_seeds_of_one_program_one_after_the_other():
    dear = [
        tiny_cell(seed, settings=type(SETTINGS)(**{**vars(SETTINGS), "n_layers": 3}), name="dear") for seed in (0, 1)
    ]
    names = [cell.name for cell in in_order([CELLS[0], CELLS[1], *dear])]
    assert names == ["dear, seed 0", "tiny, seed 0", "dear, seed 1", "tiny, seed 1"]


def test_the_plan_counts_what_is_done(tmp_path):
    run(tmp_path, Work(), CELLS[:3])
    assert announce(CELLS, str(tmp_path), 2)[0].startswith("4 trainings, 3 of them done; ")
    assert announce(CELLS[:3], str(tmp_path), 2)[1] == "about 0 s"


def core_of_this_process(_):
    time.sleep(0.3)
    return os.getpid(), os.sched_getaffinity(0), os.environ["XLA_FLAGS"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system pins no process")
def test_each_process_has_one_core_of_its_own(tmp_path):
    count = min(2, len(os.sched_getaffinity(0)))
    with one_core_processes(count, tmp_path) as pool:
        found = list(pool.map(core_of_this_process, range(4)))
    cores = {process: frozenset(cores) for process, cores, _ in found}
    assert len(cores) == len(set(cores.values())) == count
    assert all(len(each) == 1 for each in cores.values())
    assert all("multi_thread_eigen=false" in flags for _, _, flags in found)


PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from tiny_cells import tiny_cell
from experiments.ablation.run import run_cells
if __name__ == "__main__":
    outcomes = run_cells([tiny_cell(seed) for seed in range(4)], sys.argv[1], processes=1)
    print(*[outcome.loss[-1] for outcome in outcomes])
"""


def started(script, folder):
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    command = [sys.executable, str(script), str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def children(process):
    return [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks /proc for the workers")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_run_leaves_no_worker_keeps_what_was_done_and_ends_like_one_that_was_not(tmp_path, number):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.format(here=str(Path(__file__).parent)))
    process = started(script, tmp_path / "killed")
    while not list((tmp_path / "killed").glob("*.json")):
        time.sleep(0.1)
        assert process.poll() is None, process.communicate()
    workers = children(process.pid)
    process.send_signal(number)
    process.wait(timeout=60)
    done = {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").glob("*.json")}
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        time.sleep(0.1)
        assert time.monotonic() < deadline
    again, straight = started(script, tmp_path / "killed"), started(script, tmp_path / "straight")
    results = [each.communicate(timeout=300) for each in (again, straight)]
    assert results[0][0] == results[1][0] != "", results
    assert all(path.stat().st_mtime_ns == before for path, before in done.items())
