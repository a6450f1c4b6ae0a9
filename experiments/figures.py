"""Figures that look alike: colour-blind safe, readable at a glance, and the same bytes on every run.

Every figure says in a sentence what to see; axes carry their unit.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: Okabe and Ito's eight colours, which people with any common colour vision tell apart (jfly.uni-koeln.de/color).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

_STYLE: Any = {
    "figure.dpi": 110,
    "savefig.dpi": 110,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "text.parse_math": False,  # a file's name may hold dollar signs
    "svg.hashsalt": "bytebound",
    "svg.fonttype": "path",
}


@contextmanager
def panels(columns: int, rows: int = 1, width: float = 5.2, height: float = 4.0) -> Iterator[tuple[Any, list[Any]]]:
    """`(figure, axes)` in the project's style; closed afterwards."""
    import matplotlib
    from cycler import cycler

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context({**_STYLE, "axes.prop_cycle": cycler(color=COLOURS)}):
        figure, axes = pyplot.subplots(
            rows, columns, figsize=(width * columns, height * rows), layout="constrained", squeeze=False
        )
        try:
            yield figure, list(axes.flat)
        finally:
            pyplot.close(figure)


def say(axes: Any, title: str, sentence: str) -> None:
    """A title, and under it the sentence that says what to see."""
    axes.set_title(f"{title}\n", loc="left", fontweight="bold")
    axes.annotate(
        sentence,
        xy=(0, 1),
        xycoords="axes fraction",
        xytext=(0, 4),
        textcoords="offset points",
        fontsize=8.5,
        color="#444444",
    )


def save(figure: Any, folder: Path, name: str = "figure") -> list[str]:
    """Write `name.png` and `name.svg`, without date or version, and return their names."""
    _spell_powers(figure)
    figure.savefig(folder / f"{name}.png", metadata={"Software": None})
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
    return [f"{name}.png", f"{name}.svg"]


_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _spell_powers(figure: Any) -> None:
    """Ticks of logarithmic axes as `10⁴`: matplotlib writes them in a markup that the style does not read."""
    from matplotlib.axis import Axis
    from matplotlib.ticker import LogFormatterSciNotation

    class Powers(LogFormatterSciNotation):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return _power(super().__call__(x, pos))

    for axis in figure.findobj(Axis):
        major, minor = axis.get_major_formatter(), axis.get_minor_formatter()
        if isinstance(major, LogFormatterSciNotation):
            axis.set_major_formatter(Powers(labelOnlyBase=major.labelOnlyBase))
        if isinstance(minor, LogFormatterSciNotation):
            axis.set_minor_formatter(Powers(labelOnlyBase=minor.labelOnlyBase))


def _power(markup: str) -> str:
    """`2×10⁻³` for `$\\mathdefault{2\\times10^{-3}}$`."""
    text = re.sub(r"\^\{(.*?)\}", lambda found: found[1].translate(_SUPERSCRIPTS), markup)
    return re.sub(r"\$|\\mathdefault|[{}]", "", text).replace("\\times", "×")
