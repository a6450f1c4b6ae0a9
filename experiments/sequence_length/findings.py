"""Everything that one run measured, for tables, figure and verdict to read."""

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.sequence_length.columns import Column, Taught, View
from experiments.sequence_length.fairness import Fairness
from experiments.sequence_length.intrinsic import Intrinsic
from experiments.sequence_length.joint import Joint
from experiments.sequence_length.losses import Baselines, Guess
from experiments.sequence_length.parity import Parities
from experiments.sequence_length.question import SequenceLength
from experiments.sequence_length.reformatted import Reformatted
from experiments.sequence_length.signs import Decomposed, Emoji
from experiments.sequence_length.texts import Text


@dataclass(frozen=True)
class Findings:
    """One run. `columns` are all tokenizers, `shown` those that a reader sees side by side."""

    arguments: SequenceLength
    texts: Sequence[Text]
    documents: int
    taught: Taught
    columns: Sequence[Column]
    shown: Sequence[Column]
    parities: Parities
    joint: Joint | str
    """the comparison, or why there is none"""
    baselines: Sequence[Baselines]
    guesses: Sequence[Guess]
    intrinsics: Sequence[Intrinsic]
    fairness: Sequence[Fairness]
    emoji: Sequence[Emoji]
    decomposed: Sequence[Decomposed]
    reformatted: Sequence[Reformatted]

    @property
    def requested(self) -> int:
        """The largest vocabulary asked for."""
        return max(self.arguments.vocab_sizes)

    def tokens(self, text: Text, column: Column, view: View = "unseen") -> int:
        """Tokens of the whole text; a column that was not learned here has one view."""
        counts = column.seen if view == "seen" and column.seen is not None else column.counts
        return int(counts[self.texts.index(text)].sum())
