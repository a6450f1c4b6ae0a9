"""`bytebound tokens`: one text under several tokenizers, side by side, with counts.

A row ends where all tokenizers have a border, so what stands in one row is the same text; under one tokenizer it is a
line. Ids stay arrays, and only what is shown is taken apart, so that megabytes take as long as encoding them.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from jaxtyping import Int64
from tyro.constructors import PrimitiveConstructorSpec

from contracts.errors import InputError
from contracts.tokenizer import TokenIds
from experiments.tables import Table, number
from experiments.vocabularies import short_name, tokenizer_named

Verbatim = Annotated[
    str | None,
    PrimitiveConstructorSpec(
        nargs=1,
        metavar="STR",
        instance_from_str=lambda given: given[0],
        is_instance=lambda value: value is None or isinstance(value, str),
        str_from_instance=lambda value: [str(value)],
    ),
]
"""text as it was given, or none if none was; of itself tyro takes the word None for none"""

Cell = list[tuple[int, bytes]]
"""tokens: id and bytes"""


@dataclass(frozen=True, eq=False)
class Column:
    """A text under one tokenizer."""

    name: str
    tokenizer: Any
    ids: TokenIds

    @cached_property
    def ends(self) -> Int64[np.ndarray, "N"]:
        """The byte offset at which each token ends."""
        return np.cumsum(self.tokenizer.token_byte_lengths[self.ids], dtype=np.int64)

    def cell(self, begin: int, end: int) -> Cell:
        """The tokens between two byte offsets that are borders."""
        first, last = np.searchsorted(self.ends, [begin, end], side="right")
        return [(token, self.tokenizer.token_bytes(token)) for token in self.ids[first:last].tolist()]


@dataclass(frozen=True)
class Tokens:
    """Show the tokens of a text under several tokenizers, side by side.

    Without a text or --file, standard input is read. Bytes that are no text on their own are shown as <ea>.
    """

    text: tyro.conf.Positional[Verbatim] = None
    """the text itself, in quotes"""
    file: Verbatim = None
    """read the text from this file instead ('-' is standard input)"""
    tokenizer: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="NAME|FILE")] = ()
    """bytes, bpe-SIZE (trained on the embedded corpus), a saved vocabulary or a tokenizer.json; repeatable
    (default: bytes and bpe-4096)"""
    ids: bool = False
    """show the ids under the pieces"""
    most: int = 40
    """rows to show, where all have a border, or lines under one tokenizer; 0 shows all"""

    def run(self) -> None:
        """Read, encode, print."""
        if self.most < 0:
            raise InputError("--most", expected="0 for all rows, or more", got=self.most)
        text = self._read()
        names = self.tokenizer or ("bytes", "bpe-4096")
        tokenizers = [tokenizer_named(name) for name in names]
        columns = [
            Column(short_name(name), tokenizer, tokenizer.encode(text))
            for name, tokenizer in zip(names, tokenizers, strict=True)
        ]
        print(_counts(text, columns).plain())
        self._side_by_side(columns)

    def _read(self) -> str:
        from research.text import read_documents

        if self.text is not None and self.file is not None:
            raise InputError("text", expected="a text or --file", got="both")
        if self.text is not None:
            if os.path.isfile(self.text):
                print(f"{self.text!r} is taken as text, not as a file: --file {self.text} reads that", file=sys.stderr)
            return self.text
        if self.file not in (None, "-"):
            if Path(str(self.file)).is_dir() or not Path(str(self.file)).exists():
                raise InputError("--file", expected="a text file", got=str(self.file))
            return "\n".join(document.text for document in read_documents(str(self.file)))
        if sys.stdin is None:
            raise InputError("text", expected="a text, --file or standard input", got="a closed standard input")
        if sys.stdin.isatty():
            print("reading standard input until Ctrl-D", file=sys.stderr)
        data = sys.stdin.buffer.read()
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise InputError(
                "standard input", expected="UTF-8", got=f"byte 0x{data[error.start]:02x}", where=f"byte {error.start}"
            ) from None

    def _side_by_side(self, columns: Sequence[Column]) -> None:
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=None, pad_edge=False, padding=(0, 3, 0, 0))
        for column in columns:
            table.add_column(column.name, overflow="fold")
        ends = row_ends(columns)
        shown = ends if self.most == 0 else ends[: self.most]
        for row in rows(columns, shown):
            table.add_row(*(Text.assemble(*coloured(cell, self.ids)) for cell in row))
        console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
        console.print(table)
        if len(shown) < len(ends):
            console.print(f"... and {len(ends) - len(shown):,} more rows; --most 0 shows all")


def row_ends(columns: Sequence[Column]) -> Int64[np.ndarray, "rows"]:
    """The byte offsets at which rows end: where all columns have a border, or in a single column a line ends."""
    size = max(column.ends[-1] if len(column.ends) else 0 for column in columns)
    if len(columns) == 1:
        (column,) = columns
        holds_line_end = np.array([b"\n" in token for token in column.tokenizer.vocabulary.tokens], bool)
        return np.union1d(column.ends[holds_line_end[column.ids]], column.ends[-1:])
    common = np.ones(size + 1, bool)
    for column in columns:
        borders = np.zeros(size + 1, bool)
        borders[column.ends] = True
        common &= borders
    return np.flatnonzero(common)


def rows(columns: Sequence[Column], ends: Int64[np.ndarray, "rows"]) -> Iterator[list[Cell]]:
    """For each row the cell of every column."""
    begin = 0
    for end in ends.tolist():
        yield [column.cell(begin, end) for column in columns]
        begin = end


def readable(data: bytes) -> str:
    """The piece as text; a space as ␣, a line end as ⏎, bytes that are no text alone as <ea>."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "".join(f"<{byte:02x}>" for byte in data)
    marks = {" ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥"}
    return "".join(marks.get(c, c if c.isprintable() or c == "\u200d" else f"<U+{ord(c):04X}>") for c in text)


def coloured(cell: Cell, ids: bool) -> list[Any]:
    """A cell as parts of a rich text: tokens side by side never have one colour."""
    styles = ("black on #a6d8f0", "black on #f7d08a", "black on #b8e0b0", "black on #e6b8d8")
    parts: list[Any] = []
    for number_in_row, (token, data) in enumerate(cell):
        parts.append((readable(data), styles[number_in_row % len(styles)]))
        if ids:
            parts.append((f" {token}", "dim"))
        if number_in_row + 1 < len(cell):
            parts.append("|" if not sys.stdout.isatty() else " ")
    return parts


def _counts(text: str, columns: Sequence[Column]) -> Table:
    size = len(text.encode())
    found = tuple(
        (
            column.name,
            f"{column.tokenizer.vocab_size:,}",
            f"{len(column.ids):,}",
            number(size / len(column.ids)) if len(column.ids) else "-",
            number(len(text) / len(column.ids)) if len(column.ids) else "-",
        )
        for column in columns
    )
    title = f"{len(text):,} characters, {size:,} bytes"
    return Table(title, ("tokenizer", "vocabulary", "tokens", "bytes a token", "characters a token"), found)
