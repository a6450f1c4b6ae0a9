"""Running cells: those that are done are read, the others go to an executor, and each is kept as soon as it is done."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path

from contracts.errors import InputError
from contracts.specification import digest
from experiments.ablation.cache import Cache
from experiments.ablation.cell import Cell
from experiments.ablation.outcome import Outcome
from experiments.ablation.pool import cores, interrupts_held_back, one_core_processes
from experiments.ablation.train import train_cell
from research.progress import Progress, progress

_GIGA = 1e9
#: Seconds between two looks at the clock while no cell ends.
_HEARTBEAT = 2.0

Work = Callable[[Cell], Outcome]


def run_cells(
    cells: Sequence[Cell],
    folder: str | os.PathLike[str],
    executor: Executor | None = None,
    processes: int = 0,
    work: Work = train_cell,
) -> list[Outcome]:
    """The outcome of every cell, in order; what the cache in `folder` holds is not run again.

    Without an `executor` (any of `concurrent.futures`, or of a cluster) cells run in `processes` processes of one core
    each, as many as there are cores if 0. The dearest go first. What is done is kept, however the rest ends.

    Raises:
        InputError: for what a cell was given, a worker that died, or a file in the cache that is no outcome.
        CellFailed: for anything else that a cell raises; the error itself is its cause.
    """
    cache = Cache(Path(folder))
    known = {cell.digest: cache.get(cell) for cell in cells}
    found = {key: outcome for key, outcome in known.items() if outcome is not None}
    missing = {cell.digest: cell for cell in cells if cell.digest not in found}
    found.update(_run(in_order(missing.values()), cache, executor, processes, work))
    return [found[cell.digest] for cell in cells]


def in_order(cells: Iterable[Cell]) -> list[Cell]:
    """The dearest first, so that no long one is left at the end; but of cells that differ in their seed one after the
    other, so that the first has compiled what the next ones run."""
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(digest({**cell.description, "config": {**cell.config.to_json(), "seed": 0}}), []).append(cell)
    rounds = ((number, cell) for alike in found.values() for number, cell in enumerate(alike))
    return [cell for _, cell in sorted(rounds, key=lambda each: (each[0], -each[1].flops))]


class CellFailed(RuntimeError):
    """A cell raised an error that is nobody's input."""


def _run(
    cells: Sequence[Cell], cache: Cache, executor: Executor | None, processes: int, work: Work
) -> Iterator[tuple[str, Outcome]]:
    if not cells:
        return
    total = sum(cell.flops for cell in cells) / _GIGA
    with (
        progress(f"{len(cells)} trainings", total=total, unit="GFLOPs") as bar,
        _executor(executor, min(processes or len(cores()), len(cells)), cache.folder) as pool,
    ):
        with interrupts_held_back():
            running = {pool.submit(work, cell): cell for cell in cells}
        try:
            while running:
                done, _ = wait(running, timeout=_HEARTBEAT, return_when=FIRST_COMPLETED)
                for future in done:
                    cell = running[future]
                    outcome = _result(future, cell)
                    cache.put(cell, outcome)
                    del running[future]
                    _tell(bar, cell, len(cells) - len(running), len(cells))
                    yield cell.digest, outcome
                if not done:
                    bar.advance(0)
        except BaseException:
            _keep_finished(running, cache)
            raise


def _keep_finished(running: "Mapping[Future[Outcome], Cell]", cache: Cache) -> None:
    """What was done when another cell failed, or a person had enough; the rest is not begun."""
    for future, cell in running.items():
        if not future.cancel() and future.done() and future.exception() is None:
            cache.put(cell, future.result())


@contextmanager
def _executor(executor: Executor | None, processes: int, folder: Path) -> Iterator[Executor]:
    if executor is not None:
        yield executor
        return
    with one_core_processes(processes, (folder / "compiled").absolute()) as pool:
        yield pool


def _result(future: "Future[Outcome]", cell: Cell) -> Outcome:
    try:
        return future.result()
    except InputError as error:
        raise InputError(f"cell {cell.name}", expected="a training that ends well", got=str(error)) from error
    except BrokenProcessPool:
        hint = "too little memory is the usual reason; what was done is kept, and fewer --processes need less"
        raise InputError(f"cell {cell.name}", expected="a worker that lives", got="one that died", hint=hint) from None
    except Exception as error:
        raise CellFailed(f"cell {cell.name}: {type(error).__name__}: {error}") from error


def _tell(bar: Progress, cell: Cell, done: int, cells: int) -> None:
    bar.note = f"{done} of {cells}, the last one {cell.name}"
    bar.advance(cell.flops / _GIGA)
