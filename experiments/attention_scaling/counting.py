"""FLOPs of every part by formula and by walking its trace, equal term by term, and the length at which attention costs
as much as the rest of a layer. Nothing runs here, so T may be far larger than memory allows.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp

from contracts.decoder import DecoderConfig
from contracts.results import Factor, Row
from experiments.attention_scaling.programs import Part, core_matmuls, term_flops
from research.costs import causal_crossover, causal_pairs, forward_flops, full_crossover
from research.costs.jaxpr import count_flops
from research.progress import progress

#: Known decoders, and how many matrices their feed forward has.
KNOWN = {
    "GPT-2 124M": (DecoderConfig(50_257, 768, 12, 12, 12, 64, 3072, tied=True), 2),
    "Llama 2 7B": (DecoderConfig(32_000, 4096, 32, 32, 32, 128, 11_008), 3),
    "Llama 3 8B": (DecoderConfig(128_256, 4096, 32, 32, 8, 128, 14_336), 3),
}


@dataclass(frozen=True)
class Counted:
    """FLOPs of one part at one length, by term; the two witnesses agree."""

    part: str
    length: int
    formula: Mapping[str, int]
    traced: Mapping[str, int]

    def __post_init__(self) -> None:
        if self.formula != self.traced:
            raise AssertionError(f"{self.part} at T = {self.length}: formula {self.formula}, jaxpr {self.traced}")

    @property
    def flops(self) -> int:
        """All terms."""
        return sum(self.formula.values())


@dataclass(frozen=True)
class Crossing:
    """The length at which attention (scores and weighted sum) costs as much as all other matmuls of a layer."""

    shape: str
    full: float
    """all T^2 pairs are computed"""
    causal: float
    """only the pairs that a causal mask keeps"""
    traced: int | None = None
    """the first length at which the traced core has at least as many FLOPs as the traced rest; `None`: not traced"""

    def __post_init__(self) -> None:
        if self.traced is not None and self.traced != math.ceil(self.full):
            raise AssertionError(f"{self.shape}: closed form {self.full}, jaxpr {self.traced}")


def count_parts(parts: Sequence[Part], config: DecoderConfig, lengths: Sequence[int]) -> list[Counted]:
    """Every part at every length. Raises `AssertionError` where formula and trace differ in a term."""
    found = []
    with progress("counting", total=len(parts) * len(lengths), unit="traces") as bar:
        for part in parts:
            for length in lengths:
                counted = Counted(part.name, length, _formula(part, config, length), _traced(part, length))
                found.append(counted)
                bar.advance()
    return found


def crossings(parts: Sequence[Part], config: DecoderConfig) -> list[Crossing]:
    """Of the swept shape and of the textbook's, by formula and by trace; of known shapes by formula.

    The textbook's has as many key-value as query heads, an attention as wide as the model, and two matrices with
    F = 4 D. Raises `AssertionError` where a traced crossing is not the closed form, rounded up.
    """
    core, rest = (next(part for part in parts if part.name == name) for name in ("core", "rest"))
    width = config.d_model
    textbook = DecoderConfig(d_model=width, n_heads=1, n_kv_heads=1, head_dim=width, d_ff=4 * width)
    return [
        _crossing("swept", config, 3, first_crossing(_total(core), _total(rest))),
        _crossing(f"textbook, D = {width}", textbook, 2, first_crossing(*_textbook_totals(width))),
        *(_crossing(name, shape, matrices) for name, (shape, matrices) in KNOWN.items()),
    ]


def first_crossing(attention: Callable[[int], int], rest: Callable[[int], int]) -> int:
    """The smallest length at which `attention` costs at least as much as `rest`, if its share only grows."""
    high = 1
    while attention(high) < rest(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if attention(middle) >= rest(middle) else (middle, high)
    return high


def flops_rows(counted: Sequence[Counted]) -> list[Row]:
    """Both witnesses of every term."""
    rows = []
    for count in counted:
        for term in count.formula:
            factors: dict[str, Factor] = {"part": count.part, "length": count.length, "term": term}
            rows.append(Row("flops", count.formula[term], "FLOPs", "exact", "formula", factors))
            rows.append(Row("flops", count.traced[term], "FLOPs", "exact", "jaxpr", factors))
    return rows


def useful_rows(config: DecoderConfig, lengths: Sequence[int]) -> list[Row]:
    """FLOPs of the core for the pairs that a causal mask keeps."""
    layer = replace(config, n_layers=1)
    return [
        Row(
            "useful_flops",
            forward_flops(layer, length, causal_pairs(length)).attention,
            "FLOPs",
            "exact",
            "formula",
            {"part": "core", "length": length},
        )
        for length in lengths
    ]


def crossing_rows(found: Sequence[Crossing]) -> list[Row]:
    """The closed forms, and the traced crossings where there are any."""
    rows = []
    for crossing in found:
        for pairs, length in (("full", crossing.full), ("causal", crossing.causal)):
            factors = {"shape": crossing.shape, "pairs": pairs}
            rows.append(Row("crossing_length", length, "tokens", "exact", "formula", factors))
        if crossing.traced is not None:
            factors = {"shape": crossing.shape, "pairs": "full"}
            rows.append(Row("crossing_length", crossing.traced, "tokens", "exact", "jaxpr", factors))
    return rows


def _formula(part: Part, config: DecoderConfig, length: int) -> dict[str, int]:
    """By term; with all pairs that the program computes before it masks."""
    terms = forward_flops(replace(config, n_layers=part.n_layers), length, part.pairs(length)).terms
    return {name: terms[name] for name in part.terms}


def _traced(part: Part, length: int) -> dict[str, int]:
    return term_flops(count_flops(part.run, part.weights, *part.inputs(length)))


def _total(part: Part) -> Callable[[int], int]:
    return lambda length: sum(_traced(part, length).values())


def _crossing(name: str, shape: DecoderConfig, matrices: int, traced: int | None = None) -> Crossing:
    return Crossing(name, full_crossover(shape, matrices), causal_crossover(shape, matrices), traced)


def _textbook_totals(width: int) -> tuple[Callable[[int], int], Callable[[int], int]]:
    """Traced FLOPs of the textbook's core, and of its four projections and an MLP of two matrices."""

    def array(*shape: int) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, jnp.float32)

    def others(x: jax.Array, square: jax.Array, up: jax.Array, down: jax.Array) -> jax.Array:
        queries, keys, values = x @ square, x @ square, x @ square
        output = (queries + keys + values) @ square
        return jax.nn.gelu(output @ up) @ down

    def core(length: int) -> int:
        return count_flops(core_matmuls, *[array(1, length, 1, width)] * 3).matmul

    def rest(length: int) -> int:
        matrices = array(width, width), array(width, 4 * width), array(4 * width, width)
        return count_flops(others, array(length, width), *matrices).matmul

    return core, rest
