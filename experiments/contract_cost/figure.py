"""The figure: what an eager call and a decoration take, and how much longer programs take with contracts on."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.contract_cost.clock import Samples, Spread, spread
from experiments.contract_cost.findings import Findings
from experiments.contract_cost.question import DECORATION_US
from experiments.figures import COLOURS, panels, save, say

_STOCK, _OURS, _BARE = COLOURS[1], COLOURS[0], "#9AA5AD"
_BOTH = ("stock", "ours")
_SMALL = 8.5


def draw(folder: Path, found: Findings) -> list[str]:
    """Write `figure.png` and `figure.svg` into `folder`."""
    with panels(3, width=4.7, height=3.6) as (figure, axes):
        _bars(
            axes[0], found.calls, "An eager call", "Of the 48 arrays in caches, stock looks at none.", ("none", *_BOTH)
        )
        _bars(
            axes[1],
            found.decorations,
            "Decorating a function",
            "Ours puts off most of its work to the first call.",
            _BOTH,
        )
        axes[0].legend(fontsize=_SMALL, loc="upper left")
        axes[1].axhline(DECORATION_US, color="black", linestyle="--", linewidth=1)
        axes[1].set_xlim(right=2.8)
        axes[1].text(2.47, DECORATION_US * 1.1, "aim", fontsize=_SMALL)
        _programs(axes[2], found)
        return save(figure, folder)


def _bars(axes: Any, groups: Mapping[str, Samples], title: str, sentence: str, candidates: Sequence[str]) -> None:
    say(axes, title, sentence)
    look = {"none": (_BARE, "no contract"), "stock": (_STOCK, "jaxtyping + beartype"), "ours": (_OURS, "ours")}
    width = 0.8 / len(candidates)
    for index, candidate in enumerate(candidates):
        colour, label = look[candidate]
        found = [spread(samples[candidate]).times(1e6) for samples in groups.values()]
        places = [place + (index - (len(candidates) - 1) / 2) * width for place in range(len(found))]
        axes.bar(
            places, [each.median for each in found], width * 0.92, color=colour, label=label, yerr=_whiskers(found)
        )
    axes.set_xticks(
        range(len(groups)), [name.replace("'s ", "'s\n").replace("layers' ", "layers'\n") for name in groups]
    )
    axes.set(yscale="log", ylabel="microseconds")
    axes.set_ylim(top=8 * axes.get_ylim()[1])  # room for the legend
    axes.grid(axis="x", visible=False)


def _programs(axes: Any, found: Findings) -> None:
    say(axes, "Programs", "With contracts on against off; 1 is no difference.")
    ratios = {
        "import of the\nwhole package": spread(found.imports["on"] / found.imports["off"]),
        f"trace and lower,\n{found.layers} layers": spread(found.lowering["ours"] / found.lowering["off"]),
        "compiled\ntraining step": spread(found.steps["ours"] / found.steps["off"]),
        "the step with\nflags of values": spread(found.steps["flags"] / found.steps["off"]),
    }
    each = list(ratios.values())
    axes.errorbar([r.median for r in each], range(len(each)), xerr=_whiskers(each), fmt="o", color=_OURS, capsize=3)
    axes.axvline(1, color="black", linestyle="--", linewidth=1)
    axes.set_yticks(range(len(each)), list(ratios))
    axes.set_ylim(len(each) - 0.5, -0.5)
    axes.set_xlabel("times as long (10th to 90th percentile)")


def _whiskers(found: Sequence[Spread]) -> list[list[float]]:
    return [[each.median - each.low for each in found], [each.high - each.median for each in found]]
