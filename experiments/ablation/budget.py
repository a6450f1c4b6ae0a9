"""What a set of cells will take, said beforehand: trainings, FLOPs, and seconds at the pace of an ordinary core."""

from collections.abc import Sequence
from pathlib import Path

from experiments.ablation.cache import Cache
from experiments.ablation.cell import Cell
from experiments.ablation.pool import cores
from experiments.tables import si

#: Measured on a core of a 2020s server: matmul FLOPs a second of a training step (width 64), its evaluations included.
_FLOPS_A_SECOND = 20e9
#: Seconds to start and trace a cell, and to compile a program that no cell before it had.
_CELL_SECONDS, _COMPILE_SECONDS = 2.0, 8.0


def announce(cells: Sequence[Cell], folder: str, processes: int) -> list[str]:
    """How many trainings are to be run, how many FLOPs and about how many seconds they take."""
    cache = Cache(Path(folder))
    missing = [cell for cell in {cell.digest: cell for cell in cells}.values() if not cache.path(cell).exists()]
    side_by_side = max(1, min(processes or len(cores()), len(missing)))
    done, flops = len(cells) - len(missing), si(sum(cell.flops for cell in missing), "FLOPs")
    return [
        f"{len(cells)} trainings, {done} of them done; {flops} in processes of one core, {side_by_side} at a time",
        f"about {seconds(missing) / side_by_side:.0f} s",
    ]


def seconds(cells: Sequence[Cell]) -> float:
    """What the cells take on one core, one after another."""
    programs = {(cell.config.decoder, cell.config.policy, cell.config.batch_size, cell.config.length) for cell in cells}
    flops = sum(cell.flops for cell in cells)
    return flops / _FLOPS_A_SECOND + _CELL_SECONDS * len(cells) + _COMPILE_SECONDS * len(programs)
