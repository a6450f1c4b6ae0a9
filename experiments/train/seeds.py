"""`--seeds N`: on a CPU processes of one core side by side, on an accelerator one program for all."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from contracts.errors import InputError
from experiments.ablation.pool import cores
from experiments.tables import number


def train_group(folder: Path, folders: Sequence[Path], corpus: Path, mesh: Callable[[], Any]) -> None:
    """Train, or go on with, the runs in `folders`, and say how.

    Raises:
        InputError: for a run that can't go on; the others are trained to their end first where they are processes.
    """
    import jax

    from research.stream import open_corpus
    from research.train.run import read_run_manifest
    from research.train.seeds import train_seeds

    command, platform = f"bytebound train --resume {folder}", jax.default_backend()
    if platform == "cpu":
        from experiments.train.side_by_side import train_side_by_side

        at_once = min(len(folders), len(cores()))
        _say(f"{len(folders)} seeds on {platform}: processes of one core, {at_once} at a time, each as it is alone")
        train_side_by_side(folders, corpus, go_on=command)
    else:
        _say(f"{len(folders)} seeds on {platform}: one program for all (vmap), each as it is alone but for rounding")
        config = read_run_manifest(folders[0]).config
        train_seeds(config, open_corpus(corpus), folders, mesh=mesh(), go_on=command)


def summarize_group(folder: Path, folders: Sequence[Path]) -> None:
    """Loss and bits per byte of each seed, and mean and deviation over them."""
    import numpy as np

    from research.train.log import read_log
    from research.train.run import EVALUATIONS, METRICS

    columns: dict[str, list[float]] = {}
    for place in folders:
        found = {"loss": read_log(place / METRICS)[-1]["loss"]}
        found |= {name: line[name] for line in read_log(place / EVALUATIONS)[-1:] for name in ("bpb_text", "bpb_total")}
        for name, value in found.items():
            columns.setdefault(name, []).append(value)
        print(f"{place.name}: " + ", ".join(f"{name} {value:.4f}" for name, value in found.items()))
    for name, values in columns.items():
        deviation = f", standard deviation {np.std(values, ddof=1):.4f}" if len(values) > 1 else ""
        print(f"{name}: mean {np.mean(values):.4f}{deviation}, of {number(len(values))} seeds")
    print(f"written: {folder}")


def require_group_options(seeds: int, tensorboard: bool, distributed: bool) -> None:
    """Refuse what several seeds can't be trained with."""
    if seeds < 1:
        raise InputError("--seeds", expected="at least 1", got=seeds)
    for option, is_given in (("--tensorboard", tensorboard), ("--distributed", distributed)):
        if is_given:
            raise InputError(option, expected="none for several seeds", got="one", hint="train the seeds one by one")


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
