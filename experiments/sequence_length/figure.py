"""The figure: the same content by tokenizer, how a larger vocabulary shortens it, and joint against English-only."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.figures import COLOURS, MARKERS, panels, save, say
from experiments.sequence_length.cells import ranked
from experiments.sequence_length.findings import Findings
from experiments.sequence_length.joint import Joint
from experiments.sequence_length.question import DEARER
from experiments.sequence_length.texts import Text
from experiments.sequence_length.verdict import named_texts
from experiments.tables import number

_SMALL = 8.5
_MOST_CURVES = 5
_HEIGHT, _ROW_HEIGHT = 7.2, 0.24
_FEW_ROWS = 6
_BAND, _LINE = "#e8e8e8", "#999999"


def draw(folder: Path, found: Findings) -> list[str]:
    """Write `figure.png` and `figure.svg` into `folder`."""
    if found.parities:
        rows, left = len(ranked(found)), _parity
    else:
        rows, left = len(found.texts), _density
    alone = isinstance(found.joint, str)
    height = max(_HEIGHT / 1.6 if alone else _HEIGHT, _ROW_HEIGHT * rows + 1.4)
    with panels(2, 1 if alone else 2, width=5.2, height=height if alone else height / 2) as (figure, axes):
        tall = _left_column(figure, axes)
        left(tall, found)
        figure.legend(*tall.get_legend_handles_labels(), loc="outside lower left", ncols=5, fontsize=_SMALL)
        _curves(axes[1], found)
        if not isinstance(found.joint, str):
            _joint(axes[3], found.joint)
        return save(figure, folder)


def _left_column(figure: Any, axes: Sequence[Any]) -> Any:
    """One panel where the left ones were."""
    grid = axes[0].get_gridspec()
    for index in range(0, len(axes), 2):
        axes[index].remove()
    return figure.add_subplot(grid[:, 0])


def _parity(axes: Any, found: Findings) -> None:
    texts = ranked(found)
    yardsticks = [found.parities[text, "bytes"].yardstick.name for text in texts]
    borders = [row for row in range(1, len(texts)) if texts[row].group != texts[row - 1].group]
    relative = ", below the line to ".join(dict.fromkeys(yardsticks)) if len(borders) < 2 else "its group's yardstick"
    say(axes, "The same content", f"Tokens relative to {relative}. Grey: on a par.")
    axes.axvspan(1 / DEARER, DEARER, color=_BAND, zorder=0)
    for index, column in enumerate(found.shown):
        some = [found.parities[text, column.name] for text in texts]
        values = np.array([parity.value for parity in some])
        ends = np.array([(p.ratio.low, p.ratio.high) if p.ratio else (p.value, p.value) for p in some])
        axes.errorbar(
            values,
            np.arange(len(texts)) + _offset(index, len(found.shown), len(texts)),
            xerr=np.abs(ends.T - values),
            fmt=MARKERS[index % len(MARKERS)],
            color=COLOURS[index % len(COLOURS)],
            markersize=5,
            elinewidth=1.2,
            label=column.name,
        )
    _name_rows(axes, [text.name for text in texts], borders)
    axes.set(xscale="log", xlabel="tokens, relative to the same content in the yardstick")
    low, high = axes.get_xlim()
    ticks = [tick for tick in (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 12, 20, 40) if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def _density(axes: Any, found: Findings) -> None:
    say(axes, "Every text", "Bytes that a token stands for: further right is cheaper.")
    for index, column in enumerate(found.shown):
        axes.plot(
            [text.bytes / found.tokens(text, column) for text in found.texts],
            np.arange(len(found.texts)) + _offset(index, len(found.shown), len(found.texts)),
            MARKERS[index % len(MARKERS)],
            color=COLOURS[index % len(COLOURS)],
            markersize=5,
            label=column.name,
        )
    _name_rows(axes, [text.name for text in found.texts], borders=[])
    axes.set(xlabel="bytes a token")


def _offset(index: int, count: int, rows: int) -> float:
    """Markers of one row stand a little apart, but never as far as they could where rows are few."""
    return (index - (count - 1) / 2) * 0.6 / count * min(1, rows / _FEW_ROWS)


def _name_rows(axes: Any, labels: Sequence[str], borders: Sequence[int]) -> None:
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    for border in borders:
        axes.axhline(border - 0.5, color=_LINE, linewidth=1)


def _curves(axes: Any, found: Findings) -> None:
    picked = _picked(found)
    some = f" {len(picked)} of {len(found.texts)} texts shown." if len(picked) < len(found.texts) else ""
    say(axes, "A larger vocabulary", f"Dotted: the text that taught them.{some}")
    learned = [column for column in found.columns if column.learned]
    sizes = [256, *(column.vocabulary for column in learned)]
    for text, colour, marker in zip(picked, COLOURS, MARKERS, strict=False):
        unseen = [text.bytes / found.tokens(text, column) for column in learned]
        seen = [text.bytes / found.tokens(text, column, "seen") for column in learned]
        axes.plot(sizes, [1, *unseen], color=colour, marker=marker, markersize=4, label=text.name)
        axes.plot(sizes, [1, *seen], ":", color=colour)
    _finish(axes, sizes)


def _picked(found: Findings) -> list[Text]:
    """English, the texts that the verdict names, then others spread over the whole range; few enough to follow."""
    largest = [column for column in found.columns if column.learned][-1]
    first = [text for text in found.texts if text.cut.is_english][:1]
    first += [] if isinstance(found.joint, str) else [found.joint.english, found.joint.other]
    first = list(dict.fromkeys([*first, *named_texts(found)]))[: len(COLOURS)]
    others = [text for text in found.texts if text not in first]
    others.sort(key=lambda text: found.tokens(text, largest) / text.bytes)
    room = max(0, min(_MOST_CURVES - len(first), len(others)))
    return first + [others[round(place)] for place in np.linspace(0, len(others) - 1, room)]


def _joint(axes: Any, joint: Joint) -> None:
    english, other = joint.english.name, joint.other.name
    say(axes, "One size, two vocabularies", f"What {english} gives up for {other}: unseen text, equal training bytes.")
    sizes = [256, *joint.sizes]
    for text, colour, marker in ((joint.english, COLOURS[0], "o"), (joint.other, COLOURS[1], "s")):
        for vocabulary, style, fill in (("joint", "-", "full"), ("english-only", "--", "none")):
            densities = [1, *joint.bytes_per_token(vocabulary, text, "unseen")]
            label = f"{text.name}, {'joint' if vocabulary == 'joint' else f'{english} alone'}"
            axes.plot(sizes, densities, style, color=colour, marker=marker, fillstyle=fill, label=label)
    _finish(axes, sizes)


def _finish(axes: Any, sizes: Sequence[int]) -> None:
    """Sizes as ticks, and room for the legend above the curves, which all start at one byte."""
    axes.set(xscale="log", xlabel="vocabulary (text tokens)", ylabel="bytes a token")
    axes.set_xticks(sizes, [number(size) for size in sizes])
    axes.minorticks_off()
    axes.set_xlim(sizes[0] / 1.1, sizes[-1] * 1.15)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.3 * (high - low))
    axes.legend(fontsize=_SMALL, loc="upper left", ncols=2)
