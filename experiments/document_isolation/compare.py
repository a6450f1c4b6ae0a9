"""What the trained decoders say: leakage, loss of documents read alone, loss by position; each against `cross`."""

from dataclasses import dataclass
from functools import cached_property

from experiments.ablation.outcome import Outcome
from experiments.ablation.statistics import Difference, Verdict, paired_difference, verdict
from experiments.document_isolation.arms import ALONE, CROSS, ONLY_POSITIONS, OWN, Prepared
from experiments.document_isolation.pairs import Pairs
from experiments.document_isolation.question import MARGIN

ALL = "all"
#: Text tokens that stand between a token and the boundary that opened its document.
POSITIONS = (0, 1, 2, 4, 8, 16, 32)
#: A position is stated if so many held-out tokens stand there. Nats of tokens spread by about 2, so that the mean over
#: other documents would be as far off as 0.3; the intervals, which are over seeds, don't know of it.
LEAST_TOKENS = 50


@dataclass(frozen=True)
class Leak:
    """The largest trace of another document over all seeds of a policy; 0 is none, to the last bit."""

    policy: str
    logits: float
    """of a logit of another document when the text of the first one is replaced"""
    gradient: float
    """of the gradient of the others' nats, in any parameter"""
    positions: int
    """that were looked at, in all"""

    @property
    def isolates(self) -> bool:
        """Nothing arrives; that it would have been seen is what `cross` shows."""
        return self.logits == 0 and self.gradient == 0 and self.positions > 0


@dataclass(frozen=True)
class Comparison:
    """An arm against `cross` on one text, at equal text bytes."""

    arm: str
    text: str
    context: str
    difference: Difference
    """in bits a byte; below 0 the arm is better"""
    verdict: Verdict


@dataclass(frozen=True, eq=False)
class Results:
    """Every outcome, and what was made of them."""

    prepared: Prepared
    outcomes: dict[str, tuple[Outcome, ...]]
    pairs: dict[str, Pairs]
    windows: Pairs
    """of windows over the stream, which cut documents at their edges"""

    @property
    def judged(self) -> list[str]:
        """All texts together, and each of them."""
        return [ALL, *self.prepared.texts.names]

    def texts(self, text: str) -> list[str]:
        """The texts that a name stands for."""
        return list(self.prepared.texts.names) if text == ALL else [text]

    @property
    def others(self) -> list[str]:
        """The arms that are compared with `cross`."""
        return [arm for arm in self.outcomes if arm != CROSS]

    @cached_property
    def leaks(self) -> list[Leak]:
        """By policy, those that were only asked about too."""
        found = []
        for policy in (*self.outcomes, ONLY_POSITIONS):
            asked = [one.leakage[policy] for each in self.outcomes.values() for one in each if policy in one.leakage]
            found.append(
                Leak(
                    policy,
                    max(leak["logits"] for leak in asked),
                    max(leak["gradient"] for leak in asked),
                    int(sum(leak["positions"] for leak in asked)),
                )
            )
        return found

    @cached_property
    def text_bytes(self) -> int:
        """What every training has read at least: where all are compared."""
        return min(one.reached("text_bytes") for each in self.outcomes.values() for one in each)

    def values(self, arm: str, text: str, context: str = ALONE) -> list[float]:
        """bpb_total when `text_bytes` were read, seed by seed: of documents alone, or in the arm's own rows."""
        return [one.at("text_bytes", self.text_bytes, context, self.texts(text)) for one in self.outcomes[arm]]

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """Every arm against `cross`: documents alone, and as the arm reads them."""
        found = []
        for context in (ALONE, OWN):
            for arm in self.others:
                for text in self.judged:
                    difference = paired_difference(self.values(arm, text, context), self.values(CROSS, text, context))
                    found.append(Comparison(arm, text, context, difference, verdict(difference, MARGIN)))
        return found

    def judgement(self, arm: str) -> Comparison:
        """The one that the rule is about."""
        return next(one for one in self.comparisons if (one.arm, one.text, one.context) == (arm, ALL, ALONE))

    @cached_property
    def positions(self) -> list[int]:
        """The positions that enough held-out tokens stand at; none, where few documents are held out."""
        scores = [self.outcomes[CROSS][0].last(ALONE, text) for text in self.texts(ALL)]
        counted = [sum(score.position_tokens[place] for score in scores) for place in POSITIONS]
        return [place for place, tokens in zip(POSITIONS, counted, strict=True) if tokens >= LEAST_TOKENS]

    def at_position(self, arm: str, place: int, context: str) -> list[float]:
        """Mean nats of the tokens at a position of all texts when `text_bytes` were read, seed by seed."""
        texts = self.texts(ALL)
        return [one.at_position("text_bytes", self.text_bytes, context, texts, place) for one in self.outcomes[arm]]

    def position_difference(self, arm: str, place: int, context: str) -> Difference:
        """Against `cross`, in nats a token."""
        return paired_difference(self.at_position(arm, place, context), self.at_position(CROSS, place, context))
