"""What a result is: rows of one quantity each, and a manifest whose question stood before the run.

A row says how its value is known: `exact` values are equal on every machine, `timed` ones hold within `tolerance`,
`estimated` ones carry the interval they were estimated with.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

from contracts.errors import InputError

Kind = Literal["exact", "timed", "estimated"]
Witness = Literal["formula", "eval_shape", "jaxpr", "clock", "count"]
Factor = str | int | float | bool | None


@dataclass(frozen=True)
class Row:
    """One measured or derived number."""

    quantity: str
    """what, in words with underscores: `attention_flops`"""
    value: float | int
    unit: str
    """`tokens`, `FLOPs`, `bytes`, `seconds`, `ratio`, ..."""
    kind: Kind
    witness: Witness
    factors: Mapping[str, Factor] = field(default_factory=dict)
    """what was varied or held: `{"boundary": "shared", "d_model": 16}`"""
    low: float | None = None
    high: float | None = None
    """bounds of the 95 % interval, or the observed spread of timings"""
    n: int | None = None
    """how many observations stand behind the value"""
    tolerance: float | None = None
    """largest relative difference at which a later run counts as equal; for timed rows"""

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem:
            raise InputError(f"row {self.quantity!r}", expected=problem, got=repr(self.value))

    def _problem(self) -> str:
        if not self.quantity or not self.unit:
            return "a quantity and a unit"
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)) or not math.isfinite(self.value):
            return "a finite number as value"
        if self.kind not in get_args(Kind) or self.witness not in get_args(Witness):
            return f"kind in {get_args(Kind)} and witness in {get_args(Witness)}"
        if self.kind == "timed" and (self.tolerance is None or self.n is None):
            return "n and tolerance on a timed row"
        if self.kind == "estimated" and (self.low is None or self.high is None):
            return "low and high on an estimated row"
        if self.kind == "exact" and (self.low is not None or self.high is not None):
            return "no interval on an exact row"
        if not all(isinstance(value, get_args(Factor)) for value in self.factors.values()):
            return "factors that are text, numbers or None"
        return ""

    def to_json(self) -> str:
        """One line of `rows.jsonl`; what is `None` is left out."""
        kept = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps(kept, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, line: str, where: str = "") -> "Row":
        """Read one line back; unknown or missing fields are refused."""
        try:
            data = json.loads(line)
            return cls(**data)
        except (ValueError, TypeError) as error:
            if isinstance(error, InputError):
                raise
            names = ", ".join(f.name for f in fields(cls))
            raise InputError("row", expected=f"a JSON object with {names}", got=line[:80], where=where) from None


@dataclass(frozen=True)
class Corpus:
    """Which text a result speaks of: a name and a digest, never a path of somebody's machine."""

    name: str
    sha256: str
    documents: int
    bytes: int


@dataclass(frozen=True)
class Question:
    """What an experiment asks, and how its answer will be judged; fixed before anything is measured."""

    name: str
    """file and folder name: `boundary_cost`"""
    question: str
    hypothesis: str
    decision_rule: str


@dataclass(frozen=True)
class Manifest:
    """How rows came to be: enough to run them again and to know whether the same thing ran."""

    name: str
    question: str
    hypothesis: str
    decision_rule: str
    verdict: str | None
    """`None` until the run has ended"""
    arguments: Mapping[str, Any]
    arguments_sha256: str
    corpora: tuple[Corpus, ...]
    versions: Mapping[str, str]
    device: str
    contracts_sha256: str
    contracts: Literal["on", "off"]

    def to_json(self) -> str:
        """The text of `manifest.json`."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
