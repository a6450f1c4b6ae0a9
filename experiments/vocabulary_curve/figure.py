"""The figure: shorter text, FLOPs a character with their bottom, what a row saves and has to, and what rows are for."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from experiments.figures import COLOURS, MARKERS, panels, save, say
from experiments.tables import number
from experiments.vocabulary_curve.costs import Costs
from experiments.vocabulary_curve.curve import Curve
from experiments.vocabulary_curve.findings import Findings
from experiments.vocabulary_curve.question import AS_GOOD

_SMALL = 8.5
_MOST_CURVES = 5
_BLACK = "#000000"
_LARGEST_RATIO = 12.0
#: Room for a legend above curves that fill their panel.
_HEADROOM = 0.25


def draw(folder: Path, found: Findings) -> list[str]:
    """Write `figure.png` and `figure.svg` into `folder`."""
    with panels(2, 2, width=5.2, height=3.9) as (figure, axes):
        _density(axes[0], found)
        _flops(axes[1], found)
        _rows(axes[2], found)
        _shares(axes[3], found)
        for one in axes:
            _sizes_below(one, found.sizes)
        return save(figure, folder)


def _density(axes: Any, found: Findings) -> None:
    say(axes, "Shorter text", "A larger vocabulary makes longer tokens. Higher is cheaper.")
    together, *texts = found.curves
    for curve, colour, marker in zip(_picked(texts, found.sizes[-1]), COLOURS, MARKERS, strict=False):
        axes.plot(
            found.sizes,
            _bytes_a_token(curve, found.sizes),
            color=colour,
            marker=marker,
            markersize=3.5,
            label=curve.name,
        )
    axes.plot(found.sizes, _bytes_a_token(together, found.sizes), "--", color=_BLACK, label="all held-out text")
    low, high = axes.get_ylim()
    axes.set(ylabel="bytes a token", ylim=(low, high + _HEADROOM * (high - low)))
    axes.legend(fontsize=_SMALL, loc="upper left", ncols=2)


def _bytes_a_token(curve: Curve, sizes: Sequence[int]) -> list[float]:
    return [curve.bytes / curve.tokens(size) for size in sizes]


def _picked(texts: Sequence[Curve], size: int) -> list[Curve]:
    """Few enough to follow, spread over the whole range."""
    ranked = sorted(texts, key=lambda curve: -curve.bytes / curve.tokens(size))
    places = np.linspace(0, len(ranked) - 1, min(_MOST_CURVES, len(ranked)))
    return [ranked[round(place)] for place in places]


def _flops(axes: Any, found: Findings) -> None:
    say(axes, "FLOPs a character", f"Star: the cheapest size. Thick line: all sizes within {100 * AS_GOOD:g} % of it.")
    for costs, colour, marker in _by_decoder(found):
        ratios = [costs.over_best(size) for size in found.sizes]
        near = costs.as_good
        axes.plot(found.sizes, ratios, color=colour, marker=marker, markersize=3.5, label=_legend(costs))
        axes.plot(near, [costs.over_best(size) for size in near], color=colour, linewidth=6, alpha=0.35)
        axes.plot(costs.best, 1, marker="*", markersize=13, color=colour)
    top = min(_LARGEST_RATIO, axes.get_ylim()[1])
    ticks = [tick for tick in (1, 1.25, 1.5, 2, 3, 4, 6, 8, 12) if tick <= top]
    axes.set(yscale="log", ylabel="forward FLOPs a character,\nrelative to the cheapest size")
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(0.93, top)
    axes.legend(fontsize=_SMALL, loc="upper right")


def _legend(costs: Costs) -> str:
    decoder = costs.decoder
    size = f"d={decoder.shape.d_model} L={decoder.shape.n_layers}"
    return size if decoder.label == size else f"{decoder.label} ({size})"


def _rows(axes: Any, found: Findings) -> None:
    say(axes, "What one more row saves", "It pays where the black line is above the decoder's.")
    together = found.curves[0]
    saved = [together.saved_by_a_row(smaller, size) for smaller, size in pairwise(found.sizes)]
    axes.plot(found.sizes[1:], saved, color=_BLACK, marker=".", label="a row saves")
    for costs, colour, _ in _by_decoder(found):
        needed = [costs.break_even(size) for size in found.sizes]
        axes.plot(found.sizes, needed, "--", color=colour, label=f"{costs.decoder.label} needs")
    axes.set(yscale="log", ylabel="tokens of a million characters")
    axes.legend(fontsize=_SMALL, loc="upper right")


def _shares(axes: Any, found: Findings) -> None:
    say(axes, "What rows are for", "Solid: rows that stand in held-out text. Dashed: embedding and head.")
    axes.plot(
        found.sizes,
        [100 * found.curves[0].used[size] for size in found.sizes],
        color=_BLACK,
        marker=".",
        label="rows used",
    )
    for costs, colour, _ in _by_decoder(found):
        shares = [100 * costs.decoder.embedding_share(size) for size in found.sizes]
        axes.plot(found.sizes, shares, "--", color=colour, label=f"{costs.decoder.label}, of its parameters")
    axes.set(ylabel="per cent", ylim=(0, 103))
    axes.legend(fontsize=_SMALL, loc="best")


def _by_decoder(found: Findings) -> list[tuple[Costs, str, str]]:
    together = found.curves[0]
    costs = (found.costs_of(together, decoder) for decoder in found.decoders)
    return list(zip(costs, COLOURS, MARKERS, strict=False))


def _sizes_below(axes: Any, sizes: Sequence[int]) -> None:
    powers = [256 << octave for octave in range(24)]
    ticks = [power for power in powers if power <= sizes[-1]]
    axes.set(xscale="log", xlabel="vocabulary (text tokens)")
    axes.set_xticks(ticks, [number(tick) if tick < 1024 else f"{tick // 1024}k" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(sizes[0] / 1.1, sizes[-1] * 1.15)
