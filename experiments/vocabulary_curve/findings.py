"""Everything that one run measured, for rows, tables, figure and verdict to read."""

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.vocabulary_curve.costs import Costs
from experiments.vocabulary_curve.curve import Curve
from experiments.vocabulary_curve.decoders import CostedDecoder
from experiments.vocabulary_curve.question import VocabularyCurve
from research.tokenizers import BPETokenizer


@dataclass(frozen=True)
class Findings:
    """One run. The first curve is that of all held-out text together."""

    arguments: VocabularyCurve
    tokenizer: BPETokenizer
    taught_by: int
    """UTF-8 bytes"""
    sizes: Sequence[int]
    decoders: Sequence[CostedDecoder]
    curves: Sequence[Curve]
    costs: Sequence[Costs]
    """every text under every decoder"""

    @property
    def listed(self) -> list[int]:
        """The sizes that tables list: the powers of two, what lies half-way, and the largest."""
        powers = {256 << octave for octave in range(24)}
        half_way = {round(power * 2**0.5) for power in powers}
        return [size for size in self.sizes if size in powers | half_way | {self.sizes[-1]}]

    @property
    def decoder_names(self) -> tuple[str, ...]:
        """Their headings."""
        return tuple(decoder.label for decoder in self.decoders)

    def costs_of(self, curve: Curve, decoder: CostedDecoder) -> Costs:
        """One text under one decoder."""
        return next(one for one in self.costs if one.curve is curve and one.decoder is decoder)
