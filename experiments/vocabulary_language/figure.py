"""The figure: each language under the three vocabularies, cost and gain of sharing, and what joint merges are worth."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.figures import COLOURS, MARKERS, panels, save, say
from experiments.tables import number
from experiments.vocabulary_language.compare import Comparison, alone
from experiments.vocabulary_language.languages import Language
from experiments.vocabulary_language.worth import Worth

_SMALL = 8.5
_STYLES = ("--", "-", ":")
#: Room for a legend above curves that fill their panel.
_HEADROOM = 0.3


def draw(folder: Path, found: Comparison, worths: Sequence[Worth]) -> list[str]:
    """Write `figure.png` and `figure.svg` into `folder`."""
    with panels(2, 2, width=5.2, height=3.9) as (figure, axes):
        _density(axes[0], found, found.english)
        _density(axes[1], found, found.other)
        _ratios(axes[2], found)
        _worths(axes[3], found, worths)
        for one in axes:
            _sizes_below(one, found.sizes)
        return save(figure, folder)


def _density(axes: Any, found: Comparison, language: Language) -> None:
    say(axes, f"Unseen {language.name}", "Same size, same training bytes. Higher is cheaper.")
    for one, colour, marker, style in zip(found.vocabularies, COLOURS, MARKERS, _STYLES, strict=False):
        densities = found.bytes_per_token(one.name, language)
        axes.plot(found.sizes, densities, style, color=colour, marker=marker, markersize=5, label=one.name)
    low, high = axes.get_ylim()
    axes.set(ylabel="bytes a token", ylim=(min(low, 0.95), high + _HEADROOM * (high - low)))
    axes.legend(fontsize=_SMALL, loc="upper left", ncols=3)


def _ratios(axes: Any, found: Comparison) -> None:
    own = alone(found.english)
    say(axes, f"Joint against {own}", "Above the line joint is dearer, below cheaper. Bars: 95 % intervals.")
    for (vocabulary, name), colour, marker in zip(
        (key for key in found.over_alone if key[0] == own), COLOURS[3:], MARKERS, strict=False
    ):
        ratios = found.over_alone[vocabulary, name]
        values = np.array([ratio.value for ratio in ratios])
        ends = np.array([(ratio.low, ratio.high) for ratio in ratios]).T
        axes.errorbar(
            found.sizes, values, yerr=np.abs(ends - values), color=colour, marker=marker, markersize=5, label=name
        )
    axes.axhline(1, color="#999999", linewidth=1)
    axes.set(ylabel=f"tokens, relative to {own}", ylim=(0, 1.45))
    axes.legend(fontsize=_SMALL, loc="upper left", ncols=3)


def _worths(axes: Any, found: Comparison, worths: Sequence[Worth]) -> None:
    say(axes, "What joint merges are worth", "In merges of a language's own vocabulary, as a share of the joint ones.")
    for language, colour, marker in zip(found.languages, COLOURS[3:], MARKERS, strict=False):
        some = [worth for worth in worths if worth.language is language]
        sizes, shares = [worth.size for worth in some], [100 * worth.share for worth in some]
        axes.plot(sizes, shares, color=colour, marker=marker, markersize=5, label=language.name)
    axes.set(ylabel="per cent of the joint merges", ylim=(0, 109))
    axes.legend(fontsize=_SMALL, loc="upper left", ncols=2)


def _sizes_below(axes: Any, sizes: Sequence[int]) -> None:
    axes.set(xscale="log", xlabel="vocabulary (text tokens)")
    axes.set_xticks(sizes, [number(size) for size in sizes])
    axes.minorticks_off()
    axes.set_xlim(sizes[0] / 1.15, sizes[-1] * 1.15)
