"""What every part of the model is made of, with two policies in one place: dtypes and initial scale.

Parameters are kept in `param_dtype` and multiplied in `compute_dtype`. Matrices start as normal noise: 1/sqrt(fan-in),
so that a layer keeps the variance of its input; smaller where 2 L layers add up; 0.02 in the embedding and the head,
so that the first loss is close to ln V.
"""

import jax.numpy as jnp
from flax import nnx

from contracts.decoder import DecoderConfig

VOCABULARY_STDDEV = 0.02
"""embedding and head; Source: GPT-2 (Radford et al. 2019)"""


def linear(config: DecoderConfig, d_in: int, d_out: int, *, rngs: nnx.Rngs, stddev: float | None = None) -> nnx.Linear:
    """A matmul without bias; its kernel d_in x d_out starts at `stddev`, 1/sqrt(d_in) if not given."""
    return nnx.Linear(
        d_in,
        d_out,
        use_bias=False,
        dtype=jnp.dtype(config.compute_dtype),
        param_dtype=jnp.dtype(config.param_dtype),
        kernel_init=nnx.initializers.normal(d_in**-0.5 if stddev is None else stddev),
        rngs=rngs,
    )


def residual_stddev(config: DecoderConfig, d_in: int) -> float:
    """1/sqrt(2 L d_in): what the 2 L projections add to the residual stream has variance 1 in sum, at any depth.

    Source: GPT-2 (Radford et al. 2019), section 2.3.
    """
    return float((2 * config.n_layers * d_in) ** -0.5)


def rms_norm(config: DecoderConfig, *, rngs: nnx.Rngs) -> nnx.RMSNorm:
    """A scale and no bias; the mean square is taken in float32 (Zhang and Sennrich 2019, arXiv 1910.07467)."""
    return nnx.RMSNorm(
        config.d_model,
        dtype=jnp.dtype(config.compute_dtype),
        param_dtype=jnp.dtype(config.param_dtype),
        rngs=rngs,
    )


def embedding(config: DecoderConfig, *, rngs: nnx.Rngs) -> nnx.Embed:
    """The table V x D, read in the compute dtype."""
    return nnx.Embed(
        config.vocab_size,
        config.d_model,
        dtype=jnp.dtype(config.compute_dtype),
        param_dtype=jnp.dtype(config.param_dtype),
        embedding_init=nnx.initializers.normal(VOCABULARY_STDDEV),
        rngs=rngs,
    )


def head(config: DecoderConfig, *, rngs: nnx.Rngs) -> nnx.Linear:
    """The output projection D x V."""
    return linear(config, config.d_model, config.vocab_size, rngs=rngs, stddev=VOCABULARY_STDDEV)
