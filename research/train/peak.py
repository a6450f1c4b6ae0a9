"""What a token costs in training, and what the machine can do at best: the rate of matrix products, measured."""

import time

import jax
import jax.numpy as jnp

from research.costs import causal_pairs, forward_flops, training_flops
from research.train.config import TrainConfig

_SIZES = {"cpu": 1024}
_REPEATS = 5


def flops_per_token(config: TrainConfig) -> float:
    """Training FLOPs of a position: every matmul, and of attention the pairs that causality keeps."""
    forward = forward_flops(config.decoder, config.length, causal_pairs(config.length)).total
    return training_flops(forward) / config.length


def matmul_peak(dtype: str, seconds: float = 0.5) -> float:
    """FLOPs a second of all local devices: the fastest of some products n x n, 2 n^3 FLOPs each.

    The best of several is taken, for what slows a product down is never the product.
    """
    device = jax.local_devices()[0]
    size = _SIZES.get(device.platform, 8192)
    factor = jax.device_put(jnp.ones((size, size), dtype), device)
    product = jax.jit(jnp.matmul)
    product(factor, factor).block_until_ready()
    best, begun = float("inf"), time.perf_counter()
    for _ in range(_REPEATS):
        before = time.perf_counter()
        product(factor, factor).block_until_ready()
        best = min(best, time.perf_counter() - before)
        if time.perf_counter() - begun > seconds:
            break
    shared = 1 if device.platform == "cpu" else jax.local_device_count()  # host devices share the cores
    return shared * jax.process_count() * 2 * size**3 / best
