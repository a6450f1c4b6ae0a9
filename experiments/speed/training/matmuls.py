"""The rate at which this machine does the decoder's own matrix products: what its step can at best come near."""

import statistics
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp

from experiments.speed.training.ours import config
from experiments.speed.training.question import Shape
from research.costs import causal_pairs, forward_flops, training_flops

_REPEATS = 5


class Product(NamedTuple):
    """(batch x) m x k by k x n, and how often a training step does it."""

    m: int
    k: int
    n: int
    times: int
    batch: int = 1

    @property
    def flops(self) -> int:
        """Of one."""
        return 2 * self.batch * self.m * self.k * self.n


def products(shape: Shape) -> list[Product]:
    """Those of a step of SwiGLU and dense attention: forward Y = X W, backward dX = dY W^T and dW = X^T dY."""
    tokens, width, layers = shape.tokens, shape.d_model, shape.n_layers
    head_dim, rows = width // shape.n_heads, shape.batch_size * shape.n_heads
    dense = [(width, width, 4 * layers), (width, shape.d_ff, 2 * layers), (shape.d_ff, width, layers)]
    found = []
    for k, n, times in (*dense, (width, shape.vocab_size, 1)):
        found += [Product(tokens, k, n, times), Product(tokens, n, k, times), Product(k, tokens, n, times)]
    for m, k, n in ((shape.length, head_dim, shape.length), (shape.length, shape.length, head_dim)):
        found.append(Product(m, k, n, 3 * layers, rows))
    return found


def matmul_rate(shape: Shape) -> float:
    """FLOPs a second over all products of a step, each at the median rate of a few runs of its own."""
    flops = seconds = 0.0
    for product in products(shape):
        flops += product.times * product.flops
        seconds += product.times * _seconds(product, shape.dtype)
    return flops / seconds


def useful_flops(shape: Shape) -> int:
    """FLOPs of a step by formula, forward and backward, with the pairs that a causal mask keeps: equal for all."""
    forward = forward_flops(config(shape).decoder, shape.length, causal_pairs(shape.length))
    return shape.batch_size * training_flops(forward.total)


def _seconds(product: Product, dtype: str) -> float:
    left = jnp.ones((product.batch, product.m, product.k), dtype)
    right = jnp.ones((product.batch, product.k, product.n), dtype)
    if product.batch == 1:
        left, right = left[0], right[0]
    multiply = jax.jit(jnp.matmul)
    multiply(left, right).block_until_ready()
    taken = []
    for _ in range(_REPEATS):
        before = time.perf_counter()
        multiply(left, right).block_until_ready()
        taken.append(time.perf_counter() - before)
    return statistics.median(taken)
