"""Trains in children that are killed with SIGKILL at random moments, each going on where the last one was killed.

    kill_training.py CORPUS OUT KILLS [SEED]

Trains into OUT/0; a run that comes to its end before it is killed is followed by one in OUT/1, and so on. After that
many kills the last one is finished. Prints a line for each kill: which run, and the step of its newest checkpoint.
Without kills OUT/0 is trained in one go.

A program of its own, so that the process that forks has one Python thread, and no device.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from tiny_run import tiny

from research.stream import open_corpus
from research.train import train
from research.train.checkpoint import finished_steps

RUN = tiny(steps=120, steps_per_dispatch=2, checkpoint_interval=4, evaluation_interval=20, log_interval=1)


def run(corpus, out):
    train(RUN, open_corpus(corpus), out, peak_flops=1e9)


def start(corpus, out):
    child = os.fork()
    if child == 0:
        run(corpus, out)
        os._exit(0)
    return child


def was_killed(child):
    """End the child, and say whether it was not at its end already."""
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status) and os.waitstatus_to_exitcode(status):
        sys.exit(f"a child failed with {os.waitstatus_to_exitcode(status)}")
    return os.WIFSIGNALED(status)


def newest(out):
    return max(finished_steps(Path(out, "checkpoints")), default=0)


def seconds_to_a_checkpoint(corpus, out):
    """From the start of a child to its first new checkpoint; it is killed then."""
    begun, child, before = time.monotonic(), start(corpus, out), newest(out)
    while newest(out) == before:
        time.sleep(0.01)
    was_killed(child)
    return time.monotonic() - begun


def main(corpus, out, kills, seed="0"):
    if kills == "0":
        return run(corpus, Path(out, "0"))
    moments, number, done = random.Random(int(seed)), 0, 0
    seconds_to_a_checkpoint(corpus, Path(out, "0"))  # fills the compilation cache, where there is one
    longest = 1.5 * seconds_to_a_checkpoint(corpus, Path(out, "0"))
    while done < int(kills):
        child = start(corpus, Path(out, str(number)))
        time.sleep(moments.uniform(0, longest))  # while it starts, in a step, or in a checkpoint
        if was_killed(child):
            done += 1
            print(json.dumps({"run": number, "newest": newest(Path(out, str(number)))}), flush=True)
        else:
            number += 1
    _, status = os.waitpid(start(corpus, Path(out, str(number))), 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
