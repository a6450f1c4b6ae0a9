"""Runs a decoder for its laws: compiled where it can be traced, as it was given where that is the point."""

from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from contracts.laws.decoder_view import DecoderView
from contracts.laws.search import raised

#: Rows and positions, all different and none a multiple of another: no swapped axis hides behind an equal size, and no
#: block of 2, 4 or 16 positions behind a length that it divides.
SIZES = ((1, 1), (2, 7), (3, 13), (5, 19))


class DecoderRun:
    """A decoder with its parameters, called from NumPy."""

    def __init__(self, view: DecoderView) -> None:
        self.view = view
        self._leaves, self._treedef = jax.tree_util.tree_flatten(view.params)
        self._arrays = [index for index, leaf in enumerate(self._leaves) if hasattr(leaf, "dtype")]
        given = [self._leaves[index] for index in self._arrays]
        self.arrays = [_noise(leaf, index) if _is_zero_matrix(leaf) else leaf for index, leaf in enumerate(given)]
        self.noised = sum(map(_is_zero_matrix, given))
        self._compiled = jax.jit(self.apply)

    @property
    def remark(self) -> str:
        """What a reader of the report has to know about how the decoder was run."""
        return f"{self.noised} matrices of zeros were given noise, so that they hide nothing" if self.noised else ""

    @cached_property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """(B, T) to try: those of `SIZES` that the decoder takes, and its longest row if that is shorter."""
        longest = self.view.max_length
        if longest is None or longest >= SIZES[-1][1]:
            return SIZES
        return (*(size for size in SIZES if size[1] < longest), (4, longest))

    @property
    def short(self) -> int:
        """Positions of a short row."""
        return self.sizes[min(1, len(self.sizes) - 1)][1]

    @property
    def long(self) -> int:
        """Positions of a long row."""
        return self.sizes[-1][1]

    @cached_property
    def vocab_size(self) -> int:
        """The last axis of the logits."""
        return int(self.form((1, self.short)).shape[-1])

    def spread(self, length: int) -> np.ndarray:
        """Tokens 1 x length from the whole vocabulary, its first and its last id among them."""
        return np.linspace(0, self.vocab_size - 1, length).round().astype(np.int32)[None]

    def whole_vocabulary(self) -> np.ndarray:
        """Every id, in long rows; the last row begins again with the first ids. At most 100,000 ids."""
        ids = np.arange(min(self.vocab_size, 100_000), dtype=np.int32)
        return np.resize(ids, (-(-len(ids) // self.long), self.long))

    @cached_property
    def tolerance(self) -> float:
        """Relative error that another order of summation may make in the numbers that the decoder computes with."""
        if self.view.tolerance is not None:
            return self.view.tolerance
        if self.problem:
            return 1e-4
        program = str(jax.make_jaxpr(self.apply)(self.arrays, jnp.zeros((1, self.short), jnp.int32), None))
        return 3e-2 if "bf16[" in program or "f16[" in program else 1e-4

    @cached_property
    def problem(self) -> str:
        """Why the decoder can't be traced, so that it is run as it was given; empty if it can."""
        try:
            jax.eval_shape(self.apply, self.arrays, jnp.zeros((1, self.short), jnp.int32), None)
        except Exception as error:
            return raised(error)
        return ""

    def apply(self, arrays: list[Any], tokens: Any, segments: Any) -> Any:
        """Logits as a function of the arrays among the parameters."""
        documents = {} if segments is None else {self.view.segments: segments}
        return self.view.apply(self.rebuilt(arrays), tokens, **documents)

    def rebuilt(self, arrays: list[Any]) -> Any:
        """The parameters with these arrays in them."""
        leaves = list(self._leaves)
        for index, array in zip(self._arrays, arrays, strict=True):
            leaves[index] = array
        return jax.tree_util.tree_unflatten(self._treedef, leaves)

    def form(self, size: tuple[Any, Any]) -> Any:
        """Shape and dtype of the logits of B x T tokens: traced, or of a run where that can't be."""
        if self.problem:
            return self.as_given(np.zeros(size, np.int32))
        return jax.eval_shape(self.apply, self.arrays, jax.ShapeDtypeStruct(size, jnp.int32), None)

    def as_given(self, tokens: np.ndarray) -> Any:
        """Logits of the decoder that was given, which is neither copied nor compiled."""
        return self.view.apply(self.view.params, jnp.asarray(tokens))

    def logits(self, tokens: np.ndarray, segments: np.ndarray | None = None) -> np.ndarray:
        """Logits B x T x V."""
        inputs = jnp.asarray(tokens), None if segments is None else jnp.asarray(segments)
        run = self.apply if self.problem else self._compiled
        return np.asarray(run(self.arrays, *inputs).astype(jnp.float32))


def _is_zero_matrix(leaf: Any) -> bool:
    return leaf.ndim >= 2 and jnp.issubdtype(leaf.dtype, jnp.floating) and not np.any(leaf)


def _noise(leaf: Any, seed: int) -> Any:
    """A layer that starts at zero hides what it would do after one step of training."""
    return 0.05 * jax.random.normal(jax.random.key(seed), leaf.shape, leaf.dtype)
