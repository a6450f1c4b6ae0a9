"""What each row policy trains on, told by running it: three tiny documents, every prediction with what it sees.

`python -m research.stream.describe > docs/row_policies.md` writes the page.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, get_args

import numpy as np

from contracts.batch import Packing, RowPolicy, Waste
from contracts.tokenizer import PROTOCOL_NAMES, Boundary
from research.stream.build import build_stream
from research.stream.rows import Rows
from research.tokenizers import BPETokenizer, ByteTokenizer

AnyTokenizer = ByteTokenizer | BPETokenizer

DOCUMENTS = ("ab", "c", "def")
LENGTH = 6

INTRODUCTION = f"""# What each row policy trains on

Written by `python -m research.stream.describe`, which runs the code that makes the batches on the documents `ab`, `c`
and `def` under the byte tokenizer, in rows of {LENGTH} positions. A test runs it again and compares.

A `RowPolicy` is four choices, each of which changes one thing:

- `packing`: which tokens stand in which row. `concatenate` cuts the stream wherever a row is full. `fit` puts whole
  documents into rows by best fit, boundary tokens between them; only a document longer than a row is split, into
  pieces of which each begins with the last target of the one before.
- `isolation`: what a position sees. Under `cross` all that stands before it in its row, under `segments` only its own
  document. `reset` gives each document rows of its own.
- `positions`: the number that rotary embedding turns by. `continue` counts through the row, `restart` begins at 0 with
  each document. It hides nothing: under `cross`, restarted positions see the same tokens.
- `loss`: the weight of a join. Under `no-cross` no document's first token is trained on from another's last. Where
  neighbours share a boundary token there is no join: it closes one document as a target and opens the next as an
  input.

Which boundary tokens there are is the tokenizer's choice; a document's opening and closing belong to it.

Padding is not shown. It stands behind the last prediction of a row, has weight 0 and segment -1, and holds a boundary
token (id 0 under `none`, which has no other).
"""


class Prediction(NamedTuple):
    """One position of one row: what it sees (itself last), what it has to predict, and whether it is trained to."""

    row: int
    position: int
    """what rotary embedding turns by"""
    context: str
    target: str
    weight: float


def describe(
    policy: RowPolicy, tokenizer: AnyTokenizer, documents: Sequence[str] = DOCUMENTS, length: int = LENGTH
) -> list[Prediction]:
    """Every prediction of one epoch over `documents` in rows of `length` positions; padding is left out."""
    rows = _rows(policy, tokenizer, documents, length)
    return [found for row in range(rows.rows_per_epoch) for found in _predictions(rows, row, tokenizer)]


def page() -> str:
    """The page of the documentation: every boundary under every policy."""
    return INTRODUCTION + "".join(_section(boundary) for boundary in get_args(Boundary))


def _rows(policy: RowPolicy, tokenizer: AnyTokenizer, documents: Sequence[str], length: int) -> Rows:
    return Rows(build_stream(documents, tokenizer), tokenizer, policy, batch_size=1, length=length)


def _predictions(rows: Rows, row: int, tokenizer: AnyTokenizer) -> Iterator[Prediction]:
    def shown(ids: np.ndarray) -> str:
        return tokenizer.debug_decode(ids).replace("<|", "<").replace("|>", ">")

    tokens, targets, segments, positions, weights = (field[0] for field in rows.in_order(row))
    for at in np.flatnonzero(segments >= 0):
        seen = tokens[: at + 1][segments[: at + 1] == segments[at]]
        yield Prediction(row, int(positions[at]), shown(seen), shown(targets[at : at + 1]), float(weights[at]))


def _section(boundary: Boundary) -> str:
    names = " and ".join(f"`<{name}>`" for name in PROTOCOL_NAMES[boundary]) or "no token"
    tokenizer = ByteTokenizer(boundary)
    tables = [_packed("concatenate", tokenizer), _packed("fit", tokenizer), _reset(tokenizer)]
    return f"\n## Boundary `{boundary}`: {names}\n" + "".join(tables)


def _packed(packing: Packing, tokenizer: AnyTokenizer) -> str:
    """One table for the eight policies of a packing: their choices are independent, so two runs show all values."""
    loose = RowPolicy(packing, "cross", "continue", "all")
    strict = RowPolicy(packing, "segments", "restart", "no-cross")
    lines = []
    for a, b in zip(describe(loose, tokenizer), describe(strict, tokenizer), strict=True):
        texts = [_code(text) for text in (a.target, a.context, b.context)]
        numbers = [f"{number:g}" for number in (a.position, b.position, a.weight, b.weight)]
        lines.append([f"{a.row}", *texts, *numbers])
    columns = ["row", "predicts", "`cross` sees", "`segments` sees", "position, `continue`", "`restart`"]
    table = _table([*columns, "weight, `all`", "`no-cross`"], lines)
    every, fewer = _waste(loose, tokenizer), _waste(strict, tokenizer)
    return (
        f"\n### `{packing}`\n\n{table}\n{_rows_held(every)} Joins not trained on: {every.unscored} under `all`, "
        f"{fewer.unscored} under `no-cross`. Text tokens that nothing is trained to predict: {every.untrained_tokens} "
        f"under `all`, {fewer.untrained_tokens} under `no-cross`.\n"
    )


def _reset(tokenizer: AnyTokenizer) -> str:
    """A row of one document has no join and nothing to restart: all `reset` policies are one."""
    policy = RowPolicy("fit", "reset", "restart", "all")
    lines = [
        [f"{found.row}", _code(found.target), _code(found.context), f"{found.position}", f"{found.weight:g}"]
        for found in describe(policy, tokenizer)
    ]
    table = _table(["row", "predicts", "sees", "position", "weight"], lines)
    waste = _waste(policy, tokenizer)
    return (
        f"\n### `fit`, `reset`\n\n{table}\n{_rows_held(waste)} Text tokens that nothing is trained "
        f"to predict: {waste.untrained_tokens}.\n"
    )


def _table(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [columns, ["---"] * len(columns), *lines]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _code(text: str) -> str:
    return f"`{text}`"


def _waste(policy: RowPolicy, tokenizer: AnyTokenizer) -> Waste:
    return _rows(policy, tokenizer, DOCUMENTS, LENGTH).waste


def _rows_held(waste: Waste) -> str:
    return (
        f"Rows: {waste.rows}; positions: {waste.positions}, of them padded: {waste.padded}; "
        f"documents split: {waste.split_documents}."
    )


if __name__ == "__main__":
    print(page(), end="")
