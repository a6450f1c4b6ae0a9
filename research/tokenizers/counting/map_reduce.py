"""Counting as map and reduce, over any `concurrent.futures` executor: threads, processes, the workers of a cluster.

Parts are counted anywhere and added up here in their order, so that what is saved is always the counts of the first so
many parts, and a count that was killed goes on from there.
"""

import json
import os
import time
import zipfile
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from contracts.errors import InputError
from research.progress import progress
from research.text.documents import source_files
from research.tokenizers.counting import parts as cut
from research.tokenizers.counting.parts import Part
from research.tokenizers.pretokenize import Pretokenizer

if TYPE_CHECKING:
    from research.tokenizers.kernels.count import WordCounter, WordCounts

SAVE_SECONDS = 10.0

FORMAT = 2
"""Part of what is saved; a new number where counts or parts would come out otherwise than before."""

_AHEAD, _CARRIED = 64, 1 << 26
"""Parts handed out and not added up yet: so many, or so many bytes of text that travel with them."""


def count_part(part: Part, pretokenizer: Pretokenizer) -> "WordCounts":
    """The map: one part's counts. It runs wherever the executor takes it."""
    from research.tokenizers import kernels
    from research.tokenizers.kernels.count import WordCounter

    kernels.load()
    counter = WordCounter()
    counter.add(part.texts(pretokenizer), pretokenizer)
    return counter.result()


def count(
    parts: Iterable[Part],
    pretokenizer: Pretokenizer,
    executor: Executor | None = None,
    total: int | None = None,
    saved: "Saved | None" = None,
) -> "WordCounts":
    """The reduce: the counts of all parts together.

    Without an `executor` the threads of this process count, one for each core it may use. `total` bytes are for the
    progress bar. With `saved`, parts that are in the file already are left out, and the file is kept up to date.
    """
    from research.tokenizers.kernels.count import WordCounter

    counter = WordCounter()
    with progress("counting pre-tokens", total=total, unit="bytes") as bar:
        done = saved.restore(counter) if saved else 0
        rest = iter(parts)
        for part in islice(rest, done):
            bar.skip(part.size)
        with _executing(executor) as workers:
            for part, counts in _counted(rest, pretokenizer, workers):
                counter.add_counts(counts)
                done += 1
                bar.advance(part.size)
                if saved:
                    saved.save_sometimes(counter, done)
        if saved:
            saved.save(counter, done)
    return counter.result()


@contextmanager
def _executing(executor: Executor | None) -> Iterator[Executor]:
    if executor is not None:
        yield executor
        return
    with ThreadPoolExecutor(usable_cores()) as threads:
        yield threads


def usable_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _counted(
    parts: Iterator[Part], pretokenizer: Pretokenizer, executor: Executor
) -> Iterator[tuple[Part, "WordCounts"]]:
    """Every part with its counts, in order; what is handed out ahead is bounded."""
    waiting: deque[tuple[Part, Future[WordCounts]]] = deque()
    try:
        for part in parts:
            waiting.append((part, executor.submit(count_part, part, pretokenizer)))
            while len(waiting) > _AHEAD or sum(each.carried for each, _ in waiting) > _CARRIED:
                yield _first(waiting)
        while waiting:
            yield _first(waiting)
    finally:
        for _, future in waiting:  # after an error or Ctrl-C nobody wants them
            future.cancel()


def _first(waiting: "deque[tuple[Part, Future[WordCounts]]]") -> tuple[Part, "WordCounts"]:
    part, future = waiting.popleft()
    try:
        return part, future.result()
    except BaseException:
        future.cancel()
        raise


@dataclass
class Saved:
    """Counts on disk while they grow: the file is always whole, and says of what it holds the counts."""

    path: Path
    recipe: str
    """what is counted and how; counts of another recipe are not used"""
    saved_at: float = 0.0

    @classmethod
    def of(
        cls, path: str | Path, files: Sequence[str | os.PathLike[str]], pretokenizer: Pretokenizer, **reading: object
    ) -> "Saved":
        """For the files as they are now (names, sizes and times of the last change), cut as they are cut now.

        Raises `InputError` for a `path` that can't be written, or that would be read as a part of the corpus.
        """
        path = Path(path)
        if path.is_dir() or not path.parent.is_dir():
            expected = "a file in a folder that exists, to keep counts in"
            raise InputError(str(path), expected=expected, got="a folder" if path.is_dir() else "no such folder")
        if corpus := cut.lies_in(path, files):
            raise InputError(str(path), expected="counts kept outside of the corpus", got=f"a place in {corpus}")
        found = [file for given in files for file in source_files(given)]
        stamps = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in found]
        recipe = [FORMAT, cut.SIZE, stamps, pretokenizer.identity_line, reading]
        return cls(path, json.dumps(recipe, sort_keys=True))

    def restore(self, counter: "WordCounter") -> int:
        """Add what the file holds; of how many parts these are the counts."""
        from research.tokenizers.kernels.count import WordCounts

        self.saved_at = time.monotonic()
        if not self.path.exists():
            return 0
        try:
            with zipfile.ZipFile(self.path), np.load(self.path) as kept:
                recipe, done = str(kept["recipe"]), int(kept["done"])
                words = WordCounts(kept["text"], kept["starts"], kept["counts"])
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error):
            raise _unusable(self.path, "another file") from None
        if recipe != self.recipe:
            raise _unusable(self.path, "counts of another corpus, pattern or release")
        counter.add_counts(words)
        return done

    def save_sometimes(self, counter: "WordCounter", done: int) -> None:
        """Save if the last time is long enough ago."""
        if time.monotonic() - self.saved_at >= SAVE_SECONDS:
            self.save(counter, done)

    def save(self, counter: "WordCounter", done: int) -> None:
        """Put the counts of the first `done` parts in the place of what was there."""
        words = counter.result()
        unfinished = self.path.with_name(f".{self.path.name}.unfinished")
        try:
            with open(unfinished, "wb") as file:
                np.savez(file, recipe=self.recipe, done=done, text=words.text, starts=words.starts, counts=words.counts)
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, self.path)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            raise InputError(str(self.path), expected="a file to keep counts in", got=str(error.strerror)) from None
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        self.saved_at = time.monotonic()


def _unusable(path: Path, got: str) -> InputError:
    hint = "remove it to count anew"
    return InputError(str(path), expected="the counts of this corpus and pattern", got=got, hint=hint)
