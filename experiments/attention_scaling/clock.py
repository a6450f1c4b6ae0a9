"""The clock: every part at every length, in interleaved repeats, and what the operating system did meanwhile.

Each repeat visits every part and length once, in a new order, so that a slow second of the machine falls on all alike.
Intervals come from resampling the repeats, all parts and lengths of a repeat together.
"""

import math
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float64, Int64

from experiments.attention_scaling.curves import Estimate, crossing_length, estimate, fitted_slope, slopes
from experiments.attention_scaling.programs import Part
from research.progress import progress

Repeats = Float64[np.ndarray, "repeats lengths"]

_SAMPLE_SECONDS = 0.004  # a shorter program is called until this is filled
_DRAWS = 2000

_Call = tuple[Callable[[], Any], int]


class Sample(NamedTuple):
    """What one call took, a mean over the calls of a sample."""

    seconds: float
    fresh_bytes: float
    """memory that the operating system had to hand out anew: minor page faults times the page size"""
    system_seconds: float
    """of all threads, inside the operating system"""
    cpu_seconds: float
    """of all threads, everywhere"""


@dataclass(frozen=True)
class Timings:
    """Samples of one call, compilation excluded, by part."""

    lengths: tuple[int, ...]
    samples: dict[str, Float64[np.ndarray, "fields repeats lengths"]]
    seed: int

    @property
    def repeats(self) -> int:
        """How often every part was timed at every length."""
        return next(iter(self.samples.values())).shape[1]

    def seconds(self, part: str) -> Repeats:
        """Every timing."""
        return self.samples[part][Sample._fields.index("seconds")]

    def median(self, part: str) -> Float64[np.ndarray, "lengths"]:
        """The median time at each length."""
        return np.median(self.seconds(part), axis=0)

    def local_exponents(self, part: str) -> list[Estimate]:
        """d log time / d log T between neighbouring lengths."""
        return _estimates(slopes(self.lengths, self.median(part)), slopes(self.lengths, self._medians[part]))

    def fitted_exponent(self, part: str) -> Estimate:
        """The least-squares slope of log time on log T over all lengths."""
        draws = fitted_slope(self.lengths, self._medians[part])
        return estimate(float(fitted_slope(self.lengths, self.median(part))), draws)

    def ratio(self, part: str, other: str) -> list[Estimate]:
        """Time of `part` in units of the time of `other`, at each length."""
        return _estimates(self.median(part) / self.median(other), self._medians[part] / self._medians[other])

    def crossing(self, part: str, other: str) -> Estimate | None:
        """The length at which `part` takes as long as `other`, drawn on beyond the sweep if need be.

        `None` where the ratio does not rise, so that no length can be named.
        """
        value = crossing_length(self.lengths, self.median(part) / self.median(other))
        draws = [crossing_length(self.lengths, ratio) for ratio in self._medians[part] / self._medians[other]]
        known = [length for length in draws if length is not None]
        if value is None or len(known) < 0.95 * len(draws):
            return None
        return estimate(value, np.asarray(known))

    def fresh_bytes(self, part: str) -> list[Estimate]:
        """Mean memory that a call had to get from the operating system, at each length."""
        fresh = self.samples[part][Sample._fields.index("fresh_bytes")]
        return _estimates(fresh.mean(axis=0), fresh[self._chosen].mean(axis=1))

    def system_share(self, part: str) -> list[Estimate]:
        """Share of processor time spent inside the operating system, at each length."""
        system, cpu = self.samples[part][Sample._fields.index("system_seconds") :]
        draws = system[self._chosen].sum(axis=1) / cpu[self._chosen].sum(axis=1)
        return _estimates(system.sum(axis=0) / cpu.sum(axis=0), draws)

    @cached_property
    def _chosen(self) -> Int64[np.ndarray, "draws repeats"]:
        return np.random.default_rng(self.seed).integers(self.repeats, size=(_DRAWS, self.repeats))

    @cached_property
    def _medians(self) -> dict[str, Float64[np.ndarray, "draws lengths"]]:
        """Medians of the resampled repeats; a draw takes the same repeats for all parts and lengths."""
        return {part: np.median(self.seconds(part)[self._chosen], axis=1) for part in self.samples}


def measure_times(parts: Sequence[Part], lengths: Sequence[int], repeats: int, seed: int) -> Timings:
    """Compile and warm up every part at every length, then time them in interleaved repeats."""
    rng = np.random.default_rng(seed)
    cells = [(part, column) for part in parts for column in range(len(lengths))]
    compiled = {part.name: jax.jit(part.run) for part in parts}
    calls = []
    with progress("compiling", total=len(cells), unit="programs") as bar:
        for part, column in cells:
            calls.append(_warmed_up(compiled[part.name], part, lengths[column], rng))
            bar.advance()
    samples = {part.name: np.empty((len(Sample._fields), repeats, len(lengths))) for part in parts}
    with progress("timing", total=repeats, unit="repeats") as bar:
        for repeat in range(repeats):
            for cell in rng.permutation(len(cells)):
                part, column = cells[cell]
                samples[part.name][:, repeat, column] = _sample(*calls[cell])
            bar.advance()
    return Timings(tuple(lengths), samples, seed)


def _warmed_up(run: Callable[..., Any], part: Part, length: int, rng: np.random.Generator) -> _Call:
    """A compiled call on random arrays, and how many of it fill one sample."""
    arrays = jax.tree.map(lambda shape: _random(shape, rng), (part.weights, *part.inputs(length)))

    def call() -> Any:
        return run(*arrays)

    jax.block_until_ready([call(), call()])
    return call, max(1, math.ceil(_SAMPLE_SECONDS / _sample(call, 1).seconds))


def _random(shape: jax.ShapeDtypeStruct, rng: np.random.Generator) -> jax.Array:
    """Byte ids for integers; numbers of variance 1, or 1 / fan-in for a matrix, as a fresh model has them."""
    if jnp.issubdtype(shape.dtype, jnp.integer):
        return jnp.asarray(rng.integers(256, size=shape.shape), shape.dtype)
    scale = shape.shape[0] ** -0.5 if len(shape.shape) == 2 else 1.0
    return jnp.asarray(scale * rng.standard_normal(shape.shape, dtype=np.float32), shape.dtype)


def _sample(call: Callable[[], Any], times: int) -> Sample:
    before, begun = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    for _ in range(times):
        jax.block_until_ready(call())
    seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF)
    system, user = after.ru_stime - before.ru_stime, after.ru_utime - before.ru_utime
    fresh = (after.ru_minflt - before.ru_minflt) * resource.getpagesize()
    return Sample(*(value / times for value in (seconds, fresh, system, system + user)))


def _estimates(values: np.ndarray, draws: np.ndarray) -> list[Estimate]:
    return [estimate(value, draws[:, column]) for column, value in enumerate(values)]
