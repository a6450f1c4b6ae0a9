"""What a run found: seconds of every way in every round, what follows from them, and how it is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from contracts.results import Factor, Row
from experiments.figures import COLOURS, panels, save, say
from experiments.speed.seeds.question import AFTER, GAIN
from experiments.speed.timed import spread, timed_row
from experiments.tables import Table, number

Judgement = Literal["gains", "does not gain", "undecided"]

#: A later run on another machine counts as equal up to these relative differences.
_RATIO_TOLERANCE, _SECONDS_TOLERANCE = 0.5, 4.0


@dataclass(frozen=True)
class Measured:
    """All ways at one preset."""

    preset: str
    tokens: int
    """of all seeds of a job"""
    seconds: Mapping[str, np.ndarray]
    """of each job, one entry a round"""

    def gain(self, way: str) -> np.ndarray:
        """How many times as fast as one after another, round by round."""
        return self.seconds[AFTER] / self.seconds[way]

    def judgement(self, way: str) -> Judgement:
        """By the rule that stood before the run."""
        gain = self.gain(way)
        if gain.min() >= GAIN:
            return "gains"
        return "does not gain" if gain.max() < GAIN else "undecided"

    @property
    def others(self) -> list[str]:
        """The ways that are held against one after another."""
        return [way for way in self.seconds if way != AFTER]


@dataclass(frozen=True)
class Findings:
    """Every preset, and what a job was."""

    measured: Sequence[Measured]
    platform: str
    seeds: int
    steps: int


def rows(found: Findings) -> list[Row]:
    """Seconds of every way, and ratios."""
    result = []
    for one in found.measured:
        for way, seconds in one.seconds.items():
            factors: dict[str, Factor] = {"preset": one.preset, "way": way, "seeds": found.seeds, "steps": found.steps}
            factors["platform"] = found.platform
            result.append(timed_row("job_seconds", seconds, "seconds", factors, _SECONDS_TOLERANCE))
            if way != AFTER:
                result.append(timed_row("speedup", one.gain(way), "ratio", factors, _RATIO_TOLERANCE))
    return result


def verdict(found: Findings) -> str:
    """Each way at each preset."""
    return " ".join(
        f"{way[0].upper()}{way[1:]}: "
        + "; ".join(f"{spread(one.gain(way))} at {one.preset} ({one.judgement(way)})" for one in found.measured)
        + "."
        for way in found.measured[0].others
    )


def highlights(found: Findings) -> list[str]:
    """What to take home."""
    return [
        f"{found.seeds} seeds of {one.preset} take {spread(one.seconds[AFTER])} s one after another, "
        + ", ".join(f"{spread(one.seconds[way])} s {way}" for way in one.others)
        for one in found.measured
    ]


def tables(found: Findings) -> list[Table]:
    """One table: a line for each way at each preset."""
    lines = [
        (
            one.preset,
            way,
            spread(seconds),
            number(round(one.tokens / float(np.median(seconds)))),
            "" if way == AFTER else spread(one.gain(way)),
        )
        for one in found.measured
        for way, seconds in one.seconds.items()
    ]
    note = (
        f"{found.seeds} seeds of {found.steps} steps each on {found.platform}, from the first folder to the last "
        "checkpoint, compilation included; medians, with least and most over the rounds. One after another is one "
        "process with all cores, which compiles once."
    )
    return [Table("Seeds", ("preset", "way", "seconds", "tokens/s", "times as fast"), tuple(lines), note)]


def draw(folder: Path, found: Findings) -> list[str]:
    """Write `figure.png` and `figure.svg` into `folder`."""
    with panels(1, width=6.2) as (figure, (axes,)):
        ways, places = found.measured[0].others, np.arange(len(found.measured))
        width = 0.8 / len(ways)
        for index, way in enumerate(ways):
            gains = [one.gain(way) for one in found.measured]
            medians = np.array([np.median(gain) for gain in gains])
            ends = np.array([(np.median(gain) - gain.min(), gain.max() - np.median(gain)) for gain in gains]).T
            shifted = places + (index - (len(ways) - 1) / 2) * width
            axes.bar(shifted, medians, width, yerr=ends, capsize=2, color=COLOURS[index], label=way)
        axes.axhline(1, color="#444444", linestyle="--", linewidth=1)
        axes.set_xticks(places, [one.preset for one in found.measured])
        axes.grid(axis="x", visible=False)
        axes.set(ylabel="times as fast as one after another", xlabel="preset")
        axes.legend(fontsize=8.5)
        say(axes, f"{found.seeds} seeds on {found.platform}", "Above the dashed line a way is faster than one by one.")
        return save(figure, folder)
