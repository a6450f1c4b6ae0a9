"""What is run with a fault in it: the decoder, its training step and its cache, each at two kinds of sizes.

`equal`: powers of two, several of them equal, as in most configs. `distinct`: no two alike, and T no multiple of 4.
"""

import copy
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from contracts.decoder import DecoderConfig
from experiments.contract_faults.regimes import Copies


class Sizes(NamedTuple):
    """A config, and rows B x T."""

    name: str
    config: DecoderConfig
    rows: int
    length: int

    @property
    def boundary_id(self) -> int:
        """The last id."""
        return self.config.vocab_size - 1


EQUAL = Sizes(
    "equal",
    DecoderConfig(
        vocab_size=32, d_model=16, n_layers=1, n_heads=4, n_kv_heads=4, head_dim=4, d_ff=64, context_length=16
    ),
    rows=8,
    length=8,
)
DISTINCT = Sizes(
    "distinct",
    DecoderConfig(
        vocab_size=53, d_model=42, n_layers=1, n_heads=6, n_kv_heads=3, head_dim=10, d_ff=110, context_length=16
    ),
    rows=2,
    length=7,
)
ALL_SIZES = (EQUAL, DISTINCT)


class Program(NamedTuple):
    """Something that a fault can make wrong."""

    name: str
    modules: tuple[str, ...]
    """where faults are planted"""
    build: Callable[[Copies, DecoderConfig], Any]
    """the models that it needs"""
    run: Callable[[Copies, Any, Sizes, Any], Any]
    """(copies, models, sizes, input) to all that leaves it"""
    width: Callable[[Sizes], int]
    """positions of its input"""

    def input(self, sizes: Sizes) -> np.ndarray:
        """Random ids in which every row has two documents."""
        width = self.width(sizes)
        ids = np.random.default_rng(7).integers(0, sizes.boundary_id, (sizes.rows, width)).astype(np.int32)
        ids[:, 0] = ids[np.arange(sizes.rows), 2 + np.arange(sizes.rows) % 4] = sizes.boundary_id
        return ids

    def symbolic_input(self, sizes: Sizes) -> jax.ShapeDtypeStruct:
        """Ids of any number of rows, of any length that the config allows; of its own width where that is fixed."""
        rows, length = jax.export.symbolic_shape("b, t", constraints=["t >= 2", f"t <= {sizes.config.context_length}"])
        return jax.ShapeDtypeStruct((rows, self.width(sizes) if self is CACHE else length), jnp.int32)


def _decoder(copies: Copies, config: DecoderConfig) -> Any:
    return copies["research.model"].Decoder(config, rngs=nnx.Rngs(0))


def _decoders(copies: Copies, config: DecoderConfig) -> Any:
    untied = _decoder(copies, config)
    tied = copy.copy(untied)
    tied.head = None
    return untied, tied


def _run_decoder(copies: Copies, models: Any, sizes: Sizes, tokens: Any) -> Any:
    """An untied decoder on two documents, a tied one on the plain row."""
    untied, tied = models
    opens = tokens == sizes.boundary_id
    index = jnp.arange(tokens.shape[1], dtype=jnp.int32)[None, :]
    positions = index - jax.lax.cummax(jnp.where(opens, index, 0), axis=1)
    return untied(tokens, jnp.cumsum(opens, axis=1, dtype=jnp.int32), positions), tied(tokens)


class _Stand(nnx.Module):
    """A mixer in the place of attention, which other programs try: needs what it needs, and is quick to trace."""

    def __init__(self, config: DecoderConfig, *, rngs: nnx.Rngs) -> None:
        pass

    def __call__(self, x: Any, positions: Any, segments: Any) -> Any:
        seen = positions if segments is None else positions + 7 * segments
        return x * jnp.sin(seen[:, :, None].astype(x.dtype))


def _trained_decoder(copies: Copies, config: DecoderConfig) -> Any:
    return copies["research.model"].Decoder(config, rngs=nnx.Rngs(0), mixer=_Stand)


def _run_training(copies: Copies, decoder: Any, sizes: Sizes, windows: Any) -> Any:
    training = copies["experiments.contract_faults.subjects.training_step"]
    batch = training.batch_of(windows, sizes.boundary_id)
    return batch, training.train_step(decoder, batch, 0.5, 1.0)


def _deep_decoder(copies: Copies, config: DecoderConfig) -> Any:
    return _decoder(copies, replace(config, n_layers=2))


def _run_cache(copies: Copies, decoder: Any, sizes: Sizes, tokens: Any) -> Any:
    """All tokens but the last at once, the caches stored and read back, then the last one."""
    caching = copies["experiments.contract_faults.subjects.cached_decoding"]
    cached, last = caching.CachedDecoder(decoder), sizes.length - 1
    before, caches = cached.step(tokens[:, :last], cached.empty(tokens, sizes.length + 1), jnp.int32(0))
    after, caches = cached.step(tokens[:, last:], caching.in_order(caching.by_name(caches)), jnp.int32(last))
    return before, after, caches


DECODER = Program(
    "decoder",
    (
        "research.model.rotary",
        "research.model.layers",
        "research.model.feed_forward",
        "research.model.attention",
        "research.model.decoder",
    ),
    _decoders,
    _run_decoder,
    lambda sizes: sizes.length,
)
TRAINING = Program(
    "training step",
    ("experiments.contract_faults.subjects.training_step",),
    _trained_decoder,
    _run_training,
    lambda sizes: sizes.length + 1,
)
CACHE = Program(
    "cache",
    ("experiments.contract_faults.subjects.cached_decoding",),
    _deep_decoder,
    _run_cache,
    lambda sizes: sizes.length,
)
PROGRAMS = (DECODER, TRAINING, CACHE)


@contextmanager
def laboratory() -> Iterator[Callable[[], None]]:
    """Inside, weights start as NumPy's random numbers, which is quick, and axes broadcast as JAX does if left alone.

    Yields what begins the random numbers again, to be called before each model.
    """
    drawn = itertools.count()

    def again() -> None:
        nonlocal drawn
        drawn = itertools.count()

    def normal(stddev: float = 1.0) -> Callable[..., Any]:
        def initial(key: Any, shape: tuple[int, ...], dtype: Any = jnp.float32, **options: Any) -> Any:
            return jnp.asarray(np.random.default_rng(next(drawn)).normal(0.0, stddev, shape), dtype)

        return initial

    filtering = jax.config.jax_traceback_filtering  # type: ignore[attr-defined]
    jax.config.update("jax_traceback_filtering", "off")  # nobody reads these tracebacks, and filtering them takes long
    try:
        with mock.patch.object(nnx.initializers, "normal", normal), jax.numpy_rank_promotion("allow"):
            yield again
    finally:
        jax.config.update("jax_traceback_filtering", filtering)


def parameters_of(model: nnx.Module) -> dict[str, Any]:
    """Path to array, for everything that the model holds."""
    return {".".join(map(str, path)): leaf for path, leaf in nnx.to_flat_state(nnx.state(model))}


def first_module(models: Any) -> Any:
    """The module, or the first of several, which the others are copies of."""
    return models[0] if isinstance(models, tuple) else models
