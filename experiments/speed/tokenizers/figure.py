"""The figure: rates of every library, job by job."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.figures import COLOURS, MARKERS, panels, save, say
from experiments.speed.tokenizers.clock import OURS, Job
from experiments.speed.tokenizers.findings import Findings
from experiments.speed.tokenizers.peers import PEERS

_LOOK = {name: (COLOURS[index], MARKERS[index]) for index, name in enumerate((OURS, *PEERS))}


#: Inches of a row, whose name has two lines.
_ROW = 0.3


def draw(folder: Path, found: Findings) -> list[str]:
    """Write the figure into `folder`."""
    most = max(len(found.of(task)) for task in ("training", "encoding", "decoding"))
    with panels(3, width=5.4, height=max(5.2, 1.6 + _ROW * most)) as (figure, axes):
        _rates(axes[0], found.of("training"), "Training", "From the file to merges, vocabulary sizes as stated.")
        _rates(axes[1], found.of("encoding"), "Encoding", "To an array, one thread; cold: a new encoder.")
        _rates(axes[2], found.of("decoding"), "Decoding", "From an array to bytes, one thread.")
        handles: dict[str, Any] = {}
        for panel in axes:
            lines, labels = panel.get_legend_handles_labels()
            handles |= dict(zip(labels, lines, strict=True))
        names = [name for name in _LOOK if name in handles]
        figure.legend([handles[name] for name in names], names, loc="outside lower center", ncols=len(names))
        return save(figure, folder)


def _rates(axes: Any, jobs: Sequence[Job], title: str, sentence: str) -> None:
    names = [f"{job.corpus}\n{job.setting}" for job in jobs]
    for name, (colour, marker) in _LOOK.items():
        found = [(job.rate(name), place) for place, job in enumerate(jobs) if name in job.seconds]
        if found:
            values = [rate.value for rate, _ in found]
            spread = [[r.value - r.low for r, _ in found], [r.high - r.value for r, _ in found]]
            axes.errorbar(
                values, [place for _, place in found], xerr=spread, color=colour, marker=marker, ms=5, lw=0,
                elinewidth=1.2, label=name,
            )  # fmt: skip
    axes.set_yticks(range(len(names)), names, fontsize=6.5)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set(xscale="log", xlabel="MB/s (min to max)")
    say(axes, title, sentence)
