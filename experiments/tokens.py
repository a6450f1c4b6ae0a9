"""`bytebound tokens`: one text under several tokenizers, side by side, with counts.

A row ends where all tokenizers have a border, so what stands in one row is the same text.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from contracts.errors import InputError
from experiments.tables import Table, number
from experiments.vocabularies import short_name, tokenizer_named

Piece = tuple[int, bytes, int]  # id, bytes, byte offset


@dataclass(frozen=True)
class Tokens:
    """Show the tokens of a text under several tokenizers, side by side.

    Without a text or --file, standard input is read. Bytes that are no text on their own are shown as <ea>.
    """

    text: tyro.conf.Positional[str | None] = None
    """the text itself, in quotes"""
    file: str | None = None
    """read the text from this file instead ('-' is standard input)"""
    tokenizer: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="NAME|FILE")] = ()
    """bytes, bpe-SIZE (trained on the embedded corpus), a saved vocabulary or a tokenizer.json; repeatable
    (default: bytes and bpe-4096)"""
    ids: bool = False
    """show the ids under the pieces"""
    most: int = 40
    """rows to show; 0 shows all"""

    def run(self) -> None:
        """Read, encode, print."""
        if self.most < 0:
            raise InputError("--most", expected="0 for all rows, or more", got=self.most)
        text = self._read()
        names = self.tokenizer or ("bytes", "bpe-4096")
        tokenizers = [tokenizer_named(name) for name in names]
        pieces = [tokenizer.pieces(text) for tokenizer in tokenizers]
        print(_counts(text, names, tokenizers, pieces).plain())
        self._side_by_side(names, pieces)

    def _read(self) -> str:
        from research.text import read_documents

        if self.text is not None and self.file is not None:
            raise InputError("text", expected="a text or --file", got="both")
        if self.text is not None:
            return self.text
        if self.file not in (None, "-"):
            if not Path(str(self.file)).is_file():
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

    def _side_by_side(self, names: Sequence[str], pieces: Sequence[Sequence[Piece]]) -> None:
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=None, pad_edge=False, padding=(0, 3, 0, 0))
        for name in names:
            table.add_column(short_name(name), overflow="fold")
        rows = list(common_rows(pieces)) if len(pieces) > 1 else [list(pieces)]
        for row in rows if self.most == 0 else rows[: self.most]:
            table.add_row(*(Text.assemble(*_coloured(cell, self.ids)) for cell in row))
        console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
        console.print(table)
        if self.most and len(rows) > self.most:
            console.print(f"... and {len(rows) - self.most:,} more rows; --most 0 shows all")


def common_rows(pieces: Sequence[Sequence[Piece]]) -> Iterator[list[list[Piece]]]:
    """Cut each tokenizer's pieces at the byte offsets where all of them have a border."""
    ends = [{offset + len(data) for _, data, offset in column} for column in pieces]
    positions = [0] * len(pieces)
    for border in sorted(set.intersection(*ends)):
        row = []
        for column, start in enumerate(positions):
            stop = start
            while stop < len(pieces[column]) and pieces[column][stop][2] < border:
                stop += 1
            row.append(list(pieces[column][start:stop]))
            positions[column] = stop
        yield row


def readable(data: bytes) -> str:
    """The piece as text; a space as ␣, a line end as ⏎, bytes that are no text alone as <ea>."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "".join(f"<{byte:02x}>" for byte in data)
    marks = {" ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥"}
    return "".join(marks.get(c, c if c.isprintable() or c == "\u200d" else f"<U+{ord(c):04X}>") for c in text)


def _coloured(cell: Sequence[Piece], ids: bool) -> list[Any]:
    styles = ("black on #a6d8f0", "black on #f7d08a", "black on #b8e0b0", "black on #e6b8d8")
    parts: list[Any] = []
    for number_in_row, (token, data, _) in enumerate(cell):
        parts.append((readable(data), styles[token % len(styles)]))
        if ids:
            parts.append((f" {token}", "dim"))
        if number_in_row + 1 < len(cell):
            parts.append("|" if not sys.stdout.isatty() else " ")
    return parts


def _counts(text: str, names: Sequence[str], tokenizers: Sequence[Any], pieces: Sequence[Sequence[Piece]]) -> Table:
    size = len(text.encode())
    rows = tuple(
        (
            short_name(name),
            f"{tokenizer.vocab_size:,}",
            f"{len(column):,}",
            number(size / len(column)) if column else "-",
            number(len(text) / len(column)) if column else "-",
        )
        for name, tokenizer, column in zip(names, tokenizers, pieces, strict=True)
    )
    title = f"{len(text):,} characters, {size:,} bytes"
    return Table(title, ("tokenizer", "vocabulary", "tokens", "bytes a token", "characters a token"), rows)
