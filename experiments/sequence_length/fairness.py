"""How unevenly a tokenizer charges the languages of one group for the same content."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contracts.results import Factor, Row
from experiments.corpora import english_of
from experiments.sequence_length.columns import Column
from experiments.sequence_length.parity import aligned
from experiments.sequence_length.question import SequenceLength
from experiments.sequence_length.texts import Text
from research.measures import Gini, paired_gini


@dataclass(frozen=True)
class Fairness:
    """The Gini coefficient of the tokens of all aligned languages of a group under one tokenizer."""

    group: str
    languages: int
    column: Column
    gini: Gini


def fairness(texts: Sequence[Text], columns: Sequence[Column], arguments: SequenceLength) -> list[Fairness]:
    """Every group of at least two aligned languages, one of them English, under every column."""
    found = []
    for group in dict.fromkeys(text.group for text in texts):
        members = _languages([text for text in texts if text.group == group])
        if len(members) < 2:
            continue
        for column in columns:
            costs = np.stack([column.counts[texts.index(text)] for text in members])
            coefficient = paired_gini(costs, arguments.resamples, arguments.seed)
            found.append(Fairness(group, len(members), column, coefficient))
    return found


def _languages(group: Sequence[Text]) -> list[Text]:
    """The texts that are aligned with the English one, itself among them; none where there is no English."""
    cut = english_of([text.cut for text in group])
    english = next((text for text in group if text.cut is cut), None)
    return [] if english is None else [text for text in group if aligned(text, english)]


def fairness_rows(found: Sequence[Fairness]) -> list[Row]:
    """The coefficient with its interval."""
    rows = []
    for one in found:
        factors: dict[str, Factor] = {"group": one.group, "languages": one.languages, **one.column.factors}
        gini = one.gini
        rows.append(Row("gini", gini.value, "coefficient", "estimated", "count", factors, gini.low, gini.high, gini.n))
    return rows
