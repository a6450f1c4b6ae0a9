"""The picture: tokens a second of each candidate, and this project's speed relative to each."""

from pathlib import Path
from typing import Any

import numpy as np

from experiments.figures import COLOURS, MARKERS, panels, save, say
from experiments.speed.training.findings import AIMS, Findings, Spread

_SMALL = 8.5


def draw(folder: Path, found: Findings) -> list[str]:
    """Write `figure.png` and `figure.svg` into `folder`."""
    with panels(2, width=5.6, height=3.9) as (figure, axes):
        names = list(found.measured[0].timed)
        _marks(axes[0], found, {name: [one.tokens_per_second(name) for one in found.measured] for name in names})
        axes[0].set(yscale="log", ylabel="tokens a second")
        say(axes[0], "A training step", "Higher is faster. Bars: least and most over the rounds.")
        _marks(axes[1], found, {name: [one.speedup(name) for one in found.measured] for name in found.peers}, first=1)
        for index, name in enumerate(found.peers, start=1):
            axes[1].axhline(AIMS[name], color=COLOURS[index], linestyle="--", linewidth=1)
        axes[1].set(ylabel="bytebound's tokens a second, relative")
        axes[1].set_ylim(0, 1.35 * axes[1].get_ylim()[1])
        say(axes[1], "Against each peer", "Above 1 bytebound is faster. Dashed: what is aimed at.")
        return save(figure, folder)


def _marks(axes: Any, found: Findings, groups: dict[str, list[Spread]], first: int = 0) -> None:
    places = np.arange(len(found.measured))
    for index, (name, spreads) in enumerate(groups.items()):
        values = np.array([one.value for one in spreads])
        ends = np.array([(one.value - one.low, one.high - one.value) for one in spreads]).T
        shifted = places + 0.12 * (index - (len(groups) - 1) / 2)
        colour, marker = COLOURS[index + first], MARKERS[index + first]
        axes.errorbar(shifted, values, ends, fmt=marker, ms=6, capsize=2, color=colour, label=name)
    axes.set_xticks(places, [one.shape.name.replace(", ", "\n") for one in found.measured])
    axes.set_xlim(-0.5, len(places) - 0.5)
    axes.grid(axis="x", visible=False)
    if groups:
        axes.legend(fontsize=_SMALL, loc="upper right")
