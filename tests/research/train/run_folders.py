"""What tests ask of the folder of a run: its arrays as orbax reads them, and its log without the clock."""

import numpy as np
import orbax.checkpoint as ocp

from research.train.checkpoint import PARTS, finished_steps
from research.train.log import read_log

TIMED = ("tokens_per_second", "peak_share")


def stored_arrays(checkpoint):
    """Path to array of everything in a checkpoint."""
    reader = ocp.Checkpointer(ocp.StandardCheckpointHandler())
    return {f"{part} {name}": array for part in PARTS for name, array in reader.restore(checkpoint / part).items()}


def untimed_log(folder):
    """The lines of the log without what depends on the clock."""
    return [{k: v for k, v in line.items() if k not in TIMED} for line in read_log(folder / "metrics.jsonl")]


def assert_equal_runs(one, other):
    """Bit for bit: every array of the newest state, and every line that was logged."""
    steps = [finished_steps(run / "checkpoints")[-1] for run in (one, other)]
    assert steps[0] == steps[1]
    found, expected = (stored_arrays(run / "checkpoints" / str(steps[0])) for run in (one, other))
    assert found.keys() == expected.keys()
    for name in found:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
    assert untimed_log(one) == untimed_log(other)
    assert read_log(one / "evaluations.jsonl") == read_log(other / "evaluations.jsonl")
