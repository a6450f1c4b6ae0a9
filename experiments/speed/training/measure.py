"""The run: every shape in turn; at each the candidates train round by round, in an order that changes."""

from functools import partial
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from experiments.finding import Finding
from experiments.speed.training.figure import draw
from experiments.speed.training.findings import Findings, Measured, Timed, rows
from experiments.speed.training.question import CANDIDATES, OURS, Shape, TrainingSpeed, installed
from experiments.speed.training.tables import highlights, tables, verdict
from experiments.speed.training.workers import workers
from research.progress import Progress, progress


def measure(arguments: TrainingSpeed) -> Finding:
    """Rows, tables, figure and verdict. Raises `InputError` for a candidate that can't train here."""
    names, shapes = installed(), arguments.shapes
    with progress(
        "training beside peers", total=len(shapes) * len(names) * (arguments.rounds + 1), unit="turns"
    ) as bar:
        measured = [measure_shape(shape, names, arguments.rounds, arguments.seed, bar) for shape in shapes]
    absent = [name for name in CANDIDATES if name not in names]
    found = Findings(measured, absent, torch_version())
    return Finding(
        rows=rows(found),
        verdict=verdict(found),
        highlights=highlights(found),
        tables=tables(found),
        draw=[partial(draw, found=found)],
    )


def measure_shape(shape: Shape, names: tuple[str, ...], rounds: int, seed: int, bar: Progress) -> Measured:
    """Each candidate `rounds` times in turn, and between them the rate of the products alone."""
    from experiments.speed.training.matmuls import useful_flops

    order = np.random.default_rng(seed)
    with workers(names, shape, seed) as ready:
        bar.advance(len(names))
        own = next(worker for worker, _ in ready if worker.name == OURS)
        taken: dict[str, list[float]] = {name: [] for name in names}
        last: dict[str, dict[str, float]] = {}
        rates = []
        for _ in range(rounds):
            for index in order.permutation(len(ready)):
                worker = ready[index][0]
                last[worker.name] = worker.ask(f"steps {shape.steps}")
                taken[worker.name].append(last[worker.name]["seconds"] / shape.steps)
                bar.advance()
            rates.append(own.ask("matmuls")["matmul_rate"])
        timed = {
            worker.name: Timed(
                seconds=np.array(taken[worker.name]),
                first_seconds=first["first_seconds"],
                steps=shape.steps,
                peak_bytes=int(last[worker.name]["peak_bytes"]),
                imported_bytes=first["imported_bytes"],
                losses=(first["loss"], last[worker.name]["loss"]),
            )
            for worker, first in ready
        }
    return Measured(shape, timed, float(np.median(rates)), useful_flops(shape))


def torch_version() -> str:
    """Of the installed PyTorch; empty where there is none."""
    try:
        return version("torch")
    except PackageNotFoundError:
        return ""
