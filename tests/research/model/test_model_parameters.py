"""The parameters that a decoder has, against the formula and against published counts, without allocating any."""

import math
from collections import Counter
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from contracts.decoder import DecoderConfig
from research.costs.parameters import decoder_parameters
from research.model import Decoder

LLAMA_2_7B = DecoderConfig(
    vocab_size=32_000, d_model=4096, n_layers=32, n_heads=32, n_kv_heads=32, head_dim=128, d_ff=11_008
)
MISTRAL_7B = replace(LLAMA_2_7B, n_kv_heads=8, d_ff=14_336)

GROUP = {
    "embed": "embedding",
    "head": "head",
    "mixer": "attention",
    "feed_forward": "feed_forward",
    "mixer_norm": "norms",
    "feed_forward_norm": "norms",
    "norm": "norms",
}


def abstract(config):
    """The decoder with shapes in the place of its arrays."""
    return nnx.eval_shape(lambda: Decoder(config, rngs=nnx.Rngs(0)))


def count_by_group(config):
    counts = Counter(dict.fromkeys(GROUP.values(), 0))
    for path, leaf in nnx.to_flat_state(nnx.state(abstract(config))):
        counts[next(GROUP[name] for name in path if name in GROUP)] += math.prod(leaf.shape)
    return dict(counts)


def random_config(rng):
    n_kv_heads, scan_layers = int(rng.integers(1, 9)), bool(rng.integers(2))
    return DecoderConfig(
        vocab_size=int(rng.integers(1, 70_000)),
        d_model=int(rng.integers(1, 5000)),
        n_layers=int(rng.integers(1, 100 if scan_layers else 3)),
        n_heads=n_kv_heads * int(rng.integers(1, 9)),
        n_kv_heads=n_kv_heads,
        head_dim=2 * int(rng.integers(1, 100)),
        d_ff=int(rng.integers(1, 20_000)),
        tied=bool(rng.integers(2)),
        scan_layers=scan_layers,
    )


def test_the_formula_equals_the_leaves_in_every_group():
    rng = np.random.default_rng(0)
    for _ in range(10):
        config = random_config(rng)
        assert decoder_parameters(config).groups == count_by_group(config), config


@pytest.mark.slow
def test_the_formula_equals_the_leaves_in_every_group_of_two_hundred_more():
    rng = np.random.default_rng(1)
    for _ in range(200):
        config = random_config(rng)
        assert decoder_parameters(config).groups == count_by_group(config), config


@pytest.mark.parametrize("scan_layers", [pytest.param(False, marks=pytest.mark.slow), True], ids=["loop", "scan"])
@pytest.mark.parametrize(
    ("published", "parameters"), [(LLAMA_2_7B, 6_738_415_616), (MISTRAL_7B, 7_241_732_096)], ids=["llama", "mistral"]
)
def test_a_7b_decoder_is_checked_without_allocating_a_weight(published, parameters, scan_layers):
    config = replace(published, scan_layers=scan_layers, context_length=4096, compute_dtype="bfloat16")
    before = {id(array) for array in jax.live_arrays()}
    decoder = abstract(config)
    logits = jax.eval_shape(lambda decoder, t: decoder(t), decoder, jax.ShapeDtypeStruct((3, 4096), jnp.int32))
    assert (logits.shape, logits.dtype) == ((3, 4096, 32_000), jnp.float32)
    assert sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(nnx.state(decoder))) == parameters
    assert decoder_parameters(config).total == parameters
    assert [array.shape for array in jax.live_arrays() if id(array) not in before] == []
