"""What a character costs a decoder at every size: fewer tokens, each dearer by the logits of the rows added."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from experiments.vocabulary_curve.curve import Curve
from experiments.vocabulary_curve.decoders import CostedDecoder
from experiments.vocabulary_curve.question import AS_GOOD


@dataclass(frozen=True, eq=False)
class Costs:
    """One text under one decoder; the context is `context` characters whatever the vocabulary."""

    curve: Curve
    decoder: CostedDecoder
    sizes: tuple[int, ...]
    context: int

    @cached_property
    def flops(self) -> dict[int, float]:
        """Forward FLOPs a character, by size: tokens a character times the mean FLOPs of a token."""
        return {size: self.curve.tokens_per_character(size) * self._per_token(size) for size in self.sizes}

    def cache_bytes(self, size: int) -> float:
        """Bytes of keys and values that a character adds to a cache."""
        return self.curve.tokens_per_character(size) * self.decoder.cache_bytes_per_token()

    @property
    def best(self) -> int:
        """The size that costs the fewest FLOPs; of several, the smallest."""
        return min(self.sizes, key=self.flops.__getitem__)

    @property
    def as_good(self) -> list[int]:
        """Every size that costs at most 1 % more, the best one among them."""
        return [size for size in self.sizes if self.over_best(size) <= 1 + AS_GOOD]

    def over_best(self, size: int) -> float:
        """FLOPs relative to the cheapest size."""
        return self.flops[size] / self.flops[self.best]

    @property
    def judgement(self) -> str:
        """The decision rule: `optimum`, `still falling` or `bytes`."""
        if self.best == self.sizes[0]:
            return "bytes"
        return "still falling" if self.best == self.sizes[-1] else "optimum"

    def break_even(self, size: int) -> float:
        """Tokens of a million characters that a row has to save at this size to pay for itself.

        With t tokens of F FLOPs each, a row that saves s of them and adds 2 D to the others pays from
        (t - s) (F + 2 D) = t F on: s = 2 D t / (F + 2 D). Shorter attention, which helps, is left out.
        """
        row, tokens = self.decoder.row_flops(), 1e6 * self.curve.tokens_per_character(size)
        return row * tokens / (self._per_token(size) + row)

    def _per_token(self, size: int) -> float:
        return self.decoder.flops_per_token(size, self.curve.context_tokens(size, self.context))


def costs(
    curves: Sequence[Curve], decoders: Sequence[CostedDecoder], sizes: Sequence[int], context: int
) -> list[Costs]:
    """Every text under every decoder, text by text."""
    return [Costs(curve, decoder, tuple(sizes), context) for curve in curves for decoder in decoders]
