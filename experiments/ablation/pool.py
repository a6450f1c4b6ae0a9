"""Processes of one core each: for small decoders, two of them get more done than one process with two cores.

Each is pinned and told so before jax is imported there, so that XLA makes no more threads than it has cores.
"""

import math
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


def cores() -> list[int]:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


@contextmanager
def one_core_processes(count: int, compiled: Path) -> Iterator[ProcessPoolExecutor]:
    """An executor of `count` processes. On an error, a Ctrl-C too, they are ended at once instead of waited for.

    `compiled` is a folder in which they keep compiled programs: cells that differ in their seed alone share them.
    """
    context = multiprocessing.get_context("spawn")
    available, queue = cores(), context.SimpleQueue()
    for number in range(count):
        queue.put(available[number % len(available)])
    before = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(count, context, initializer=_begin, initargs=(queue, os.fspath(compiled)))
    try:
        yield executor
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Processes that are started inside ignore Ctrl-C from their first instruction: their parent ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _begin(queue: Any, compiled: str) -> None:
    """Make a fresh process a worker of one core."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    become_one_core(queue.get(), compiled)


def become_one_core(core: int, compiled: str) -> None:
    """Keep this process to a core, and XLA to one thread; `compiled` is the folder of compiled programs. Before JAX."""
    if hasattr(os, "sched_setaffinity"):
        with suppress(OSError):  # a core that was taken offline meanwhile
            os.sched_setaffinity(0, {core})
    flags = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_multi_thread_eigen=false".strip()
    os.environ["JAX_COMPILATION_CACHE_DIR"] = compiled
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"

    from research.progress import Progress

    Progress.quiet_seconds = math.inf  # the parent shows the progress of all


def _end_with(parent: Any) -> None:
    """A parent that was killed leaves no workers behind."""
    parent.join()
    os._exit(1)
