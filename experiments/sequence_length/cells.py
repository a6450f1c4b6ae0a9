"""What the tables and the figure share: how a number is spelled, and in which order texts are shown."""

from collections.abc import Callable, Sequence

from experiments.sequence_length.columns import Column
from experiments.sequence_length.findings import Findings
from experiments.sequence_length.texts import Text
from research.measures import Ratio


def spelled(ratio: Ratio | None) -> str:
    """`1.31 [1.29, 1.33]`; with three decimals where two would hide the interval."""
    if ratio is None:
        return "-"
    digits = 2 if ratio.high - ratio.low >= 0.015 else 3
    return f"{ratio.value:.{digits}f} [{ratio.low:.{digits}f}, {ratio.high:.{digits}f}]"


def by_text(
    found: Findings, columns: Sequence[Column], cell: Callable[[Text, Column], str]
) -> tuple[tuple[str, ...], ...]:
    """A row for each text, a cell for each column."""
    return tuple((text.name, *(cell(text, column) for column in columns)) for text in found.texts)


def names(columns: Sequence[Column]) -> tuple[str, ...]:
    """Their headings."""
    return tuple(column.name for column in columns)


def ranked(found: Findings) -> list[Text]:
    """Texts with a yardstick, group by group, the dearest under the last tokenizer first."""
    last = found.shown[-1].name
    texts = list(dict.fromkeys(text for text, _ in found.parities))
    groups = list(dict.fromkeys(text.group for text in texts))
    return sorted(texts, key=lambda text: (groups.index(text.group), -found.parities[text, last].value))
