"""Rotary position embedding: pairs of a head's features turn by an angle proportional to the position.

The dot product of two turned vectors depends only on how far apart they stand, so attention becomes relative and
nothing about positions is learned. Source: Su et al., RoFormer, arXiv 2104.09864, section 3.2.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from contracts.core import contract
from contracts.decoder import Positions


@contract
def rotate(x: Float[Array, "B T heads K"], positions: Positions, theta: float) -> Float[Array, "B T heads K"]:
    """Turn features i and i + K/2 of every head by `positions * theta ** (-2 i / K)` radians.

    Halves are paired as in GPT-NeoX and Llama checkpoints; the paper pairs neighbours, which is a permutation of the
    features. Angles are float32, for bfloat16 has no odd integer above 256; the result has the dtype of `x`.
    """
    half = x.shape[-1] // 2
    frequencies = theta ** (-jnp.arange(half, dtype=jnp.float32) / half)
    angles = positions.astype(jnp.float32)[:, :, None, None] * frequencies[None, None, None, :]
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    first, second = x[..., :half].astype(jnp.float32), x[..., half:].astype(jnp.float32)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1).astype(x.dtype)
