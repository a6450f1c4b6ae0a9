"""The figure: the ladder for faults in code and for what is handed over, and both checkers class by class."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.contract_faults.ladder import EQUAL, HANDED, RUNGS, Fault, Kind, classes, kinds_on, rungs, silent
from experiments.figures import COLOURS, panels, save, say

_KINDS: Mapping[Kind, tuple[str, str]] = {
    "error": ("an error of JAX or Python", "#9AA5AD"),
    "contract": ("a contract", COLOURS[0]),
    "boundary": ("a check of data", COLOURS[2]),
    "ahead": ("tracing beforehand", COLOURS[5]),
    "law": ("a law of verify", COLOURS[4]),
    "silent": ("nobody: a wrong number", COLOURS[1]),
}
_SMALL = 8.5


def draw(folder: Path, found: Mapping[str, Sequence[Fault]]) -> list[str]:
    """Write `figure.png` and `figure.svg` into `folder`."""
    with panels(3, width=5.3, height=4.5) as (figure, axes):
        _ladder(axes[0], found[EQUAL], "Faults in code", "Run at equal sizes; each rung adds to the one above it.")
        _ladder(
            axes[1],
            found[HANDED],
            "Faults in what is handed over",
            "Wrong data, checkpoints, tokenizers, batches and caches.",
        )
        _by_class(axes[2], found[EQUAL])
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=6, fontsize=_SMALL, title="", borderpad=0.2)
        return save(figure, folder)


def _ladder(axes: Any, chosen: Sequence[Fault], title: str, sentence: str) -> None:
    say(axes, title, sentence)
    steps = rungs(chosen)
    for place, rung in enumerate(steps):
        left, kinds = 0, kinds_on(chosen, rung)
        for kind, (_, colour) in _KINDS.items():
            count = kinds[kind]
            axes.barh(place, count, left=left, color=colour, height=0.7)
            if count > len(chosen) / 25:
                axes.text(left + count / 2, place, f"{count}", ha="center", va="center", fontsize=_SMALL, color="white")
            left += count
    for label, colour in _KINDS.values():
        axes.barh(0, 0, color=colour, label=label)
    axes.set_yticks(range(len(steps)), [RUNGS[rung] for rung in steps])
    axes.invert_yaxis()
    axes.set_xlabel(f"faults (of {len(chosen)})")
    axes.grid(axis="y", visible=False)


def _by_class(axes: Any, chosen: Sequence[Fault]) -> None:
    say(axes, "Caught in each class", "Ring: stock tools. Dot: ours. Band: JAX to all rungs.")
    groups = classes(chosen)
    for place, members in enumerate(groups.values()):
        jax, stock, ours, laws = (1 - silent(members, r) / len(members) for r in ("jax", "stock", "ours", "laws"))
        axes.hlines(place, jax, laws, color="#C8CED3", linewidth=6)
        axes.plot(stock, place, marker="o", markersize=8, color=COLOURS[6], fillstyle="none")
        axes.plot(ours, place, marker="o", markersize=4.5, color=COLOURS[0])
    axes.set_yticks(range(len(groups)), [f"{name} ({len(members)})" for name, members in groups.items()])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.03)
    axes.set_xlabel("share of the faults that end in an error")
    axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
