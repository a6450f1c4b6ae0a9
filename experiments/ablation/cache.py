"""Outcomes on disk, each under the digest of the cell that it belongs to: there whole, or not there."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import InputError
from experiments.ablation.cell import Cell
from experiments.ablation.outcome import Outcome


@dataclass(frozen=True)
class Cache:
    """A folder of outcomes. Whoever finds one there may use it: all that can change it is in the digest."""

    folder: Path

    def path(self, cell: Cell) -> Path:
        """Where the outcome of `cell` lies when it is done."""
        return self.folder / f"{cell.digest}.json"

    def get(self, cell: Cell) -> Outcome | None:
        """The outcome of `cell`, if it is done. Raises `InputError` for a file that no run of ours left so."""
        path = self.path(cell)
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            return Outcome.from_json(stored["outcome"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            hint = "remove the file; its cell is then run again"
            raise InputError("stored cell", expected="an outcome", got=str(error), where=str(path), hint=hint) from None

    def put(self, cell: Cell, outcome: Outcome) -> None:
        """Keep an outcome, with the description that a reader can tell it by."""
        self.folder.mkdir(parents=True, exist_ok=True)
        stored = {"cell": cell.name, "description": cell.description, "outcome": outcome.to_json()}
        partial = self.folder / f".{cell.digest}-{os.getpid()}"
        try:
            with open(partial, "w", encoding="utf-8") as out:
                json.dump(stored, out, ensure_ascii=False, allow_nan=False)
                out.flush()
                os.fsync(out.fileno())
            os.replace(partial, self.path(cell))
        finally:
            partial.unlink(missing_ok=True)
