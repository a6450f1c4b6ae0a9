"""Runs that differ in their seed alone, in one folder: `seeds.json` says which, and `seed-3/` is the run of seed 3."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from contracts.errors import InputError
from research.stream import StoredCorpus
from research.stream.journal import only_builder
from research.stream.manifest import read_json, write_json
from research.train.config import TrainConfig
from research.train.in_folder import begin_or_continue
from research.train.run import SEEDS, new_manifest

FORMAT = "bytebound seeds 1"


def begin_group(folder: Path, config: TrainConfig, count: int, corpus: StoredCorpus) -> list[Path]:
    """The folders of `count` seeds from the config's on, each made the run that it will be, or found to be it.

    Raises:
        InputError: for a folder with something else in it, and one of other seeds or of another run.
    """
    seeds = list(range(config.seed, config.seed + count))
    if (folder / SEEDS).exists():
        found = _seeds(folder)
        if found != seeds:
            hint = "choose another folder, or go on with it by --resume"
            raise InputError(str(folder), expected=f"the seeds {_told(seeds)}", got=_told(found), hint=hint)
    elif folder.exists() and any(folder.iterdir()):
        stranger = sorted(path.name for path in folder.iterdir())[0]
        raise InputError(str(folder), expected="a new or empty folder, or the same seeds", got=f"{stranger} in it")
    configs = [replace(config, seed=seed) for seed in seeds]
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / SEEDS, {"format": FORMAT, "seeds": seeds})
    places = group_folders(folder)
    for place, each in zip(places, configs, strict=True):
        with only_builder(place):
            begin_or_continue(place, new_manifest(each, corpus, place), corpus)
    return places


def is_group(folder: Path) -> bool:
    """Whether the runs of several seeds lie in `folder`."""
    return (folder / SEEDS).exists()


def group_folders(folder: Path) -> list[Path]:
    """The folder of each seed's run, ascending."""
    return [folder / f"seed-{seed}" for seed in _seeds(folder)]


def _seeds(folder: Path) -> list[int]:
    data = read_json(folder / SEEDS)
    with suppress(KeyError, TypeError, ValueError):
        if data["format"] == FORMAT:
            return [int(seed) for seed in data["seeds"]]
    raise InputError(str(folder / SEEDS), expected=f"format {FORMAT!r}", got="another")


def _told(seeds: Sequence[int]) -> str:
    return f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(*seeds)
