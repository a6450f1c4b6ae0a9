"""Contracts inside programs: a deep decoder traced and lowered, a compiled training step, and the compilation cache."""

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from contracts.decoder import DecoderConfig
from experiments.contract_cost.clock import Samples, interleaved
from experiments.contract_faults.regimes import Copies, Regime, copies_by_regime

#: GPT-2's smallest shape but for its depth, which is an argument; bytes in, and nothing of it is allocated.
WIDE = DecoderConfig(
    vocab_size=257, d_model=768, n_layers=12, n_heads=12, n_kv_heads=12, head_dim=64, d_ff=2048, context_length=256
)
SMALL = DecoderConfig(
    vocab_size=257, d_model=64, n_layers=2, n_heads=4, n_kv_heads=4, head_dim=16, d_ff=256, context_length=64
)


@cache
def regimes() -> Mapping[str, Copies]:
    """The decoder and a training step with contracts off, under the stock tools, and with ours."""
    copies, _ = copies_by_regime()
    return {"off": Copies(Regime("off")), "stock": copies["stock"], "ours": copies["ours"]}


class Lowered(NamedTuple):
    """A program's StableHLO."""

    lines: int
    sha256: str


Programs = Mapping[str, Mapping[str, Lowered]]
"""what is lowered, to regime, to its text"""


def lowered_programs(config: DecoderConfig) -> Programs:
    """The decoder and the training step of each regime, to be compared."""
    windows = jax.ShapeDtypeStruct(_windows().shape, jnp.int32)
    decoders = {name: _lowering(copies, config)() for name, copies in regimes().items()}
    steps = {name: _step(copies, flags=False).lower(_leaves(copies), windows) for name, copies in regimes().items()}
    return {
        what: {name: _text(lowered.as_text()) for name, lowered in programs.items()}
        for what, programs in (("decoder", decoders), ("training step", steps))
    }


def _text(text: str) -> Lowered:
    return Lowered(text.count("\n"), hashlib.sha256(text.encode()).hexdigest())


def lowering_times(config: DecoderConfig, repeats: int, seed: int) -> Samples:
    """Seconds to trace and lower the decoder."""
    calls = {name: _lowering(copies, config) for name, copies in regimes().items()}
    return interleaved("tracing and lowering", calls, repeats, seed)


def _lowering(copies: Copies, config: DecoderConfig) -> Callable[[], Any]:
    make = copies["research.model"].Decoder
    decoder = nnx.eval_shape(lambda: make(config, rngs=nnx.Rngs(0)))
    tokens = jax.ShapeDtypeStruct((4, config.context_length), jnp.int32)

    def forward(model: Any, tokens: Any) -> Any:
        return model(tokens)

    # a new function each time, for JAX remembers what it has traced
    return lambda: jax.jit(lambda model, tokens: forward(model, tokens)).lower(decoder, tokens)


def step_times(repeats: int, seed: int) -> Samples:
    """Seconds of a compiled training step; `flags` returns checks of values with the metrics, made in the program."""
    windows, leaves = _windows(), _leaves(regimes()["ours"])
    steps = {name: _step(copies, flags=False) for name, copies in regimes().items()}
    steps["flags"] = _step(regimes()["ours"], flags=True)

    def call(step: Callable[..., Any]) -> Callable[[], Any]:
        return lambda: jax.block_until_ready(step(leaves, windows))

    calls = {name: call(step) for name, step in steps.items()}
    # many threads compute it, so that only the wall clock sees all of it
    return interleaved("training steps", calls, repeats, seed, time.perf_counter, sample_seconds=0.1)


def _windows() -> np.ndarray:
    """Rows of bytes, each the beginning of a document."""
    windows = np.random.default_rng(0).integers(0, 256, (8, SMALL.context_length + 1)).astype(np.int32)
    windows[:, 0] = 256
    return windows


def _leaves(copies: Copies) -> list[Any]:
    return jax.tree.leaves(copies["research.model"].Decoder(SMALL, rngs=nnx.Rngs(0)))


def _step(copies: Copies, flags: bool) -> Any:
    training = copies["experiments.contract_faults.subjects.training_step"]
    decoder = nnx.eval_shape(lambda: copies["research.model"].Decoder(SMALL, rngs=nnx.Rngs(0)))
    structure = jax.tree.structure(decoder)

    @jax.jit
    def step(leaves: list[Any], windows: Any) -> Any:
        batch = training.batch_of(windows, 256)
        after, metrics = training.train_step(jax.tree.unflatten(structure, leaves), batch, 0.1, 1.0)
        found = jax.tree.leaves(after)
        if flags:
            metrics |= {
                "tokens_in_range": jnp.all((windows >= 0) & (windows < SMALL.vocab_size)),
                "loss_finite": jnp.isfinite(metrics["loss"]),
                "parameters_finite": jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in found])),
            }
        return found, metrics

    return step


_COMPILE = """
import jax, jax.numpy as jnp
from flax import nnx
from contracts.decoder import DecoderConfig
from research.model import Decoder
config = DecoderConfig(vocab_size=257, d_model=32, n_layers=2, n_heads=4, n_kv_heads=4, head_dim=8, d_ff=64)
decoder = nnx.eval_shape(lambda: Decoder(config, rngs=nnx.Rngs(0)))
tokens = jax.ShapeDtypeStruct((2, 16), jnp.int32)
jax.jit(lambda model, tokens: model(tokens)).lower(decoder, tokens).compile()
"""


def cache_entries() -> tuple[int, int]:
    """Entries in a persistent compilation cache after a process with contracts off, and after one with them on."""
    with tempfile.TemporaryDirectory() as folder:
        return _entries_after("off", folder), _entries_after("on", folder)


def _entries_after(switch: str, folder: str) -> int:
    settings = {
        "CONTRACTS": switch,
        "JAX_COMPILATION_CACHE_DIR": folder,
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    subprocess.run([sys.executable, "-c", _COMPILE], env={**os.environ, **settings}, capture_output=True, check=True)
    return sum(path.name.endswith("-cache") for path in Path(folder).iterdir())
