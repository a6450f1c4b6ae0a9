"""How much longer the same content is than its yardstick: English, or compact JSON among the formats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from contracts.results import Factor, Row
from experiments.corpora import english_of
from experiments.sequence_length.columns import Column
from experiments.sequence_length.lengths import named
from experiments.sequence_length.question import DEARER, SequenceLength
from experiments.sequence_length.texts import Text
from research.measures import Ratio, paired_ratios

FORMAT_YARDSTICK = "json-compact"


@dataclass(frozen=True)
class Parity:
    """Tokens of a text over those of its yardstick; `ratio` has an interval only where units are aligned."""

    text: Text
    yardstick: Text
    column: Column
    value: float
    ratio: Ratio | None

    @property
    def judgement(self) -> str:
        """The decision rule: `dearer`, `cheaper`, `on a par` or `undecided`; `not aligned` without an interval."""
        if self.ratio is None:
            return "not aligned"
        if self.ratio.above(DEARER):
            return "dearer"
        if self.ratio.below(1 / DEARER):
            return "cheaper"
        return "on a par" if self.ratio.above(1 / DEARER) and self.ratio.below(DEARER) else "undecided"


Parities = Mapping[tuple[Text, str], Parity]


def yardstick_of(text: Text, texts: Sequence[Text]) -> Text | None:
    """What `text` is compared with: the English text of its group, else compact JSON; `None` if there is neither."""
    group = [other for other in texts if other.group == text.group]
    english = english_of([other.cut for other in group])
    formats = [other.cut for other in group if other.name == FORMAT_YARDSTICK]
    cut = english or next(iter(formats), None)
    return next((other for other in group if other.cut is cut), None)


def parities(texts: Sequence[Text], columns: Sequence[Column], arguments: SequenceLength) -> Parities:
    """Every text that has a yardstick, under every column (learned ones on unseen text), in order."""
    found: dict[tuple[Text, str], Parity] = {}
    for yardstick in dict.fromkeys(yardstick_of(text, texts) for text in texts):
        if yardstick is None:
            continue
        others = [text for text in texts if text is not yardstick and yardstick_of(text, texts) is yardstick]
        pairs = [(text, column) for text in others if aligned(text, yardstick) for column in columns]
        ratios = dict(zip(pairs, _ratios(texts, yardstick, pairs, arguments), strict=True)) if pairs else {}
        for text in others:
            for column in columns:
                value = _tokens(texts, text, column) / _tokens(texts, yardstick, column)
                found[text, column.name] = Parity(text, yardstick, column, value, ratios.get((text, column)))
    return found


def aligned(text: Text, yardstick: Text) -> bool:
    """Whether unit i of both says the same, so that units can be resampled together."""
    return text.cut.aligned and yardstick.cut.aligned and len(text.units) == len(yardstick.units)


def _ratios(
    texts: Sequence[Text], yardstick: Text, pairs: Sequence[tuple[Text, Column]], arguments: SequenceLength
) -> list[Ratio]:
    numerators = np.stack([column.counts[texts.index(text)] for text, column in pairs])
    denominators = np.stack([column.counts[texts.index(yardstick)] for _, column in pairs])
    return paired_ratios(numerators, denominators, arguments.resamples, arguments.seed)


def _tokens(texts: Sequence[Text], text: Text, column: Column) -> int:
    return int(column.counts[texts.index(text)].sum())


def parity_rows(found: Parities) -> list[Row]:
    """Parity and its square with their intervals; for texts that are not aligned the bare ratio of the whole texts."""
    rows = []
    for parity in found.values():
        factors = {**named(parity.text), **parity.column.factors, "yardstick": parity.yardstick.name}
        squared = {**factors, "of": "tokens", "against": parity.yardstick.name}
        if parity.ratio is None:
            rows.append(Row("whole_text_ratio", parity.value, "ratio", "exact", "count", factors))
            rows.append(Row("attention_ratio", parity.value**2, "ratio", "exact", "count", squared))
        else:
            rows.append(ratio_row("parity", parity.ratio, factors))
            rows.append(ratio_row("attention_ratio", parity.ratio.squared(), squared))
    return rows


def ratio_row(quantity: str, ratio: Ratio, factors: Mapping[str, Factor]) -> Row:
    """A ratio with its 95 % interval as a row."""
    return Row(quantity, ratio.value, "ratio", "estimated", "count", factors, ratio.low, ratio.high, ratio.n)
