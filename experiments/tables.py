"""Tables once, shown twice: as Markdown in `table.md` and as plain text on a terminal."""

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A titled table of cells that are already text; the first column is text, the others are numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    """what to see in it, or how it was measured; one or two sentences"""

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"table {self.title!r}: every row needs {len(self.columns)} cells")

    def markdown(self) -> str:
        """The table with its title and note, as GitHub and every editor show it."""
        lines = [f"### {self.title}", ""]
        if self.note:
            lines += [self.note, ""]
        lines.append("| " + " | ".join(map(_cell, self.columns)) + " |")
        lines.append("|" + "|".join([" --- "] + [" ---: "] * (len(self.columns) - 1)) + "|")
        lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"

    def plain(self) -> str:
        """The table for a terminal, aligned by display width (Hangul takes two columns)."""
        rows = [self.columns, *self.rows]
        widths = [max(_width(row[i]) for row in rows) for i in range(len(self.columns))]
        lines = [self.title]
        for number, row in enumerate(rows):
            cells = [_pad(cell, widths[i], left=i == 0) for i, cell in enumerate(row)]
            lines.append("  " + "  ".join(cells).rstrip())
            if number == 0:
                lines.append("  " + "  ".join("-" * width for width in widths))
        return "\n".join(lines) + "\n"


def number(value: float, digits: int = 2) -> str:
    """Thousands separated, integers without decimals: `38,597,376`, `2.39`."""
    if isinstance(value, int) or (float(value).is_integer() and abs(value) >= 1000):
        return f"{int(value):,}"
    return f"{value:,.{digits}f}"


def si(value: float, unit: str = "") -> str:
    """Three significant digits with an SI prefix: `854 MFLOPs`, `1.23 GB`."""
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}".rstrip()


def percent(share: float) -> str:
    """A share with two significant digits, never in scientific notation: `12 %`, `0.35 %`, `0.000058 %`."""
    value = 100 * share
    places = max(0, 1 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:.{places}f} %"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in text)


def _pad(text: str, width: int, left: bool) -> str:
    space = " " * (width - _width(text))
    return text + space if left else space + text


def sentences(lines: Sequence[str]) -> str:
    """A Markdown list."""
    return "".join(f"- {line}\n" for line in lines)
