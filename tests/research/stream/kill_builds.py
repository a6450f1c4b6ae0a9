"""Kills builds of a corpus with SIGKILL, each at a later step to the disk than the one before.

`fresh`: every build has a folder of its own, `OUT/0`, `OUT/1`, ..., and is then finished. `same`: all build in one
folder, `OUT/0`, each from where the last was killed. `fresh-long` and `same-long`: the same with documents that are
encoded and committed in parts. Prints how many kills there were.

A program of its own, so that the process that forks has one thread.
"""

import io
import os
import signal
import sys
from contextlib import nullcontext
from pathlib import Path

from small_parts import small_parts

from research.stream import corpus
from research.stream.corpus import build_corpus
from research.tokenizers import ByteTokenizer


class Doomed:
    """Counts the steps that reach the disk and kills the process at the one of that number, half of it done."""

    def __init__(self, number):
        self.number = number

    def step(self, half=lambda: None):
        self.number -= 1
        if self.number < 0:
            half()
            os.kill(os.getpid(), signal.SIGKILL)

    def wrap(self, function):
        def wrapped(*arguments, **options):
            self.step()
            return function(*arguments, **options)

        return wrapped


class TornFile(io.BufferedWriter):
    """A file of which a killed process leaves what it flushed, or that and half of what it was writing."""

    doomed: Doomed

    def write(self, data):
        data = bytes(data)
        self.doomed.step(half=lambda: (super(TornFile, self).write(data[: len(data) // 2]), self.flush()))
        return super().write(data)


def build(source, out, boundary):
    build_corpus([source], ByteTokenizer(boundary), out, separator="\n", validation=0.3)


def doomed_build(source, out, boundary, number):
    doomed = TornFile.doomed = Doomed(number)
    os.fsync, os.replace, os.mkdir = map(doomed.wrap, (os.fsync, os.replace, os.mkdir))
    Path.unlink = doomed.wrap(Path.unlink)
    append = sys.modules["research.stream.append"]
    append.open = lambda path, mode: TornFile(io.FileIO(path, mode[0]))
    build(source, out, boundary)


def main(source, out, boundary, mode):
    mode, _, is_long = mode.partition("-")
    corpus.COMMIT_BYTES, corpus.TOGETHER = 20, 1 if mode == "same" else 25  # one line, or two
    with small_parts(most=30, commit=20, together=corpus.TOGETHER) if is_long else nullcontext():
        return kill(source, out, boundary, mode)


def kill(source, out, boundary, mode):
    os.fsync = lambda descriptor: None  # what a killed process has written survives it; to wait for the disk is slow
    ByteTokenizer().encode("")  # imports what every child would have to
    kills = 0
    while True:
        folder = Path(out, str(kills if mode == "fresh" else 0))
        child = os.fork()
        if child == 0:
            doomed_build(source, folder, boundary, kills)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            break
        kills += 1
        if mode == "fresh":
            build(source, folder, boundary)
    print(kills)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
