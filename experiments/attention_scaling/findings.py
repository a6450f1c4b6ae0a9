"""Everything that a run found, before it becomes rows, tables, sentences and a figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contracts.decoder import DecoderConfig
from experiments.attention_scaling.clock import Timings
from experiments.attention_scaling.counting import KNOWN, Counted, Crossing
from experiments.attention_scaling.curves import Estimate
from experiments.attention_scaling.growth import ClockCrossing, Growth
from experiments.attention_scaling.texts import TextCost, Units

#: The known decoder whose cost of a text is shown beside the swept one's.
LARGE = "Llama 3 8B"


@dataclass(frozen=True)
class Findings:
    """What was counted, what was timed, and how long the texts are."""

    config: DecoderConfig
    counted: Sequence[Counted]
    crossings: Sequence[Crossing]
    """the swept shape's first"""
    timings: Timings
    growth: Mapping[str, Growth]
    """by part, at the timed lengths"""
    clock_crossing: ClockCrossing
    texts: Sequence[TextCost]
    units: Units
    decisions: Sequence[str] = ()
    """which files were cut into lines, and why"""

    @property
    def lengths(self) -> tuple[int, ...]:
        """The timed lengths."""
        return self.timings.lengths

    @property
    def decoders(self) -> dict[str, DecoderConfig]:
        """The shapes whose cost of a text is compared, by name."""
        return {"swept": self.config, LARGE: KNOWN[LARGE][0]}

    @property
    def softmax_shares(self) -> list[Estimate]:
        """Share of the core's time that it would not need without mask and softmax, at each timed length."""
        ratios = self.timings.ratio("core matmuls", "core")
        return [Estimate(1 - ratio.value, 1 - ratio.high, 1 - ratio.low) for ratio in ratios]

    @property
    def gain_of_blocks(self) -> list[Estimate]:
        """How many times as long the core takes as the same in blocks of queries, at each timed length."""
        return self.timings.ratio("core", "core in blocks")

    @property
    def dearer(self) -> list[Estimate]:
        """Time of a FLOP of the core over that of a FLOP of the rest, at each timed length."""
        core, rest = self.growth["core"].flops, self.growth["rest"].flops
        ratios = zip(self.timings.ratio("core", "rest"), core, rest, strict=True)
        return [ratio.scaled(theirs / ours) for ratio, ours, theirs in ratios]

    def score_bytes(self, column: int) -> int:
        """Bytes of one array of scores: H x T x T in float32."""
        return 4 * self.config.n_heads * self.lengths[column] ** 2
