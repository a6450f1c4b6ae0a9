"""What an experiment's `measure` returns: rows, a verdict by a rule that stood before the run, how to show them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from contracts.results import Corpus, Row
from experiments.tables import Table


@dataclass(frozen=True)
class Finding:
    """What a run found: the rows, the verdict in a sentence, and how to show them."""

    rows: Sequence[Row]
    verdict: str
    highlights: Sequence[str] = ()
    """the sentences that a reader should take home"""
    tables: Sequence[Table] = ()
    draw: Sequence[Callable[[Path], list[str]]] = ()
    """each writes figures into a folder and returns their file names; the first one writes `figure.png`"""
    corpora: Sequence[Corpus] = ()
