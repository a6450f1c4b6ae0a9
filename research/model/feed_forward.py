"""The feed-forward layer: a gated pair of projections to width F and one back, for each position on its own."""

import jax
from flax import nnx

from contracts.core import contract
from contracts.decoder import DecoderConfig, Hidden
from research.model.layers import linear, residual_stddev


class SwiGLU(nnx.Module):
    """A `FeedForward`: down(silu(gate(x)) * up(x)); gate and up D x F, down F x D, without biases.

    Source: Shazeer 2020, arXiv 2002.05202, equation 6.
    """

    def __init__(self, config: DecoderConfig, *, rngs: nnx.Rngs) -> None:
        self.config = config
        self.gate = linear(config, config.d_model, config.d_ff, rngs=rngs)
        self.up = linear(config, config.d_model, config.d_ff, rngs=rngs)
        self.down = linear(config, config.d_ff, config.d_model, rngs=rngs, stddev=residual_stddev(config, config.d_ff))

    @contract
    def __call__(self, x: Hidden) -> Hidden:
        return self.down(jax.nn.silu(self.gate(x)) * self.up(x))
