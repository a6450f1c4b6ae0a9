"""A pre-norm decoder in one screen: embedding, blocks of a mixer and a feed-forward layer, final norm, output head.

The mixer is the ablation boundary: any module with the signature of `contracts.decoder.Mixer` goes in its place.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from flax import nnx

from contracts.core import conforms, contract, through
from contracts.decoder import DecoderConfig, Hidden, Logits, Mixer, Positions, Segments, Tokens
from contracts.errors import ShapeError
from research.model.attention import Attention
from research.model.feed_forward import SwiGLU
from research.model.layers import embedding, head, rms_norm

MakeMixer = Callable[..., Mixer]
"""`make(config, rngs=rngs)`: a mixer's class, or a function that returns one."""


class Block(nnx.Module):
    """One layer: what other positions know is added to the residual stream, then what follows from it."""

    def __init__(self, config: DecoderConfig, *, rngs: nnx.Rngs, mixer: MakeMixer = Attention) -> None:
        self.config = config
        self.mixer_norm = rms_norm(config, rngs=rngs)
        self.mixer = mixer(config, rngs=rngs)
        conforms(type(self.mixer), Mixer)
        self.feed_forward_norm = rms_norm(config, rngs=rngs)
        self.feed_forward = SwiGLU(config, rngs=rngs)

    @contract
    def __call__(self, x: Hidden, positions: Positions, segments: Segments | None) -> Hidden:
        mixed = through(Mixer, self.mixer)(self.mixer_norm(x), positions, segments)
        x = x + mixed.astype(x.dtype)  # another's mixer may answer in float32; the residual stream stays as it was
        return x + self.feed_forward(self.feed_forward_norm(x))


class Decoder(nnx.Module):
    """A `LanguageModel`: embedding V x D, L blocks, final norm, and a head D x V unless the embedding is the head.

    `blocks` is a list, or under `config.scan_layers` one block whose parameters have a leading axis L. Either way
    layer i starts from the i-th key, so equal seeds give equal parameters. No random state stays in the model.
    """

    def __init__(self, config: DecoderConfig, *, rngs: nnx.Rngs, mixer: MakeMixer = Attention) -> None:
        def make_block(key: jax.Array) -> Block:
            return Block(config, rngs=nnx.Rngs(key), mixer=mixer)

        self.config = config
        self.embed = embedding(config, rngs=rngs)
        keys = jax.random.split(rngs.params(), config.n_layers)
        self.blocks = nnx.vmap(make_block)(keys) if config.scan_layers else nnx.List(map(make_block, keys))
        self.norm = rms_norm(config, rngs=rngs)
        self.head = None if config.tied else head(config, rngs=rngs)

    @contract
    def __call__(self, tokens: Tokens, segments: Segments | None = None, positions: Positions | None = None) -> Logits:
        """Logits of the token after each position, float32 whatever the compute dtype.

        Args:
            tokens: Ids; their range is checked before they reach the device (`check_tokens`).
            segments: The document of each position; positions see their own only. `None`: each row is one document.
            positions: 0, 1, 2, ... if not given, across documents: pass restarted ones to restart.

        Raises:
            ShapeError: for a row longer than `config.context_length`.
        """
        return self.logits(self.hidden(tokens, segments, positions))

    @contract
    def hidden(self, tokens: Tokens, segments: Segments | None = None, positions: Positions | None = None) -> Hidden:
        """The normed state of each position, from which `logits` reads; for a loss that computes logits in chunks."""
        self._refuse_long_rows(tokens)
        if positions is None:
            positions = jnp.broadcast_to(jnp.arange(tokens.shape[1], dtype=jnp.int32)[None, :], tokens.shape)
        return self.norm(self._run_blocks(self.embed(tokens), positions, segments))

    @contract
    def logits(self, x: Hidden) -> Logits:
        """A matmul of compute-dtype factors that is accumulated and returned in float32."""
        kernel = self.embed.embedding[...].T if self.head is None else self.head.kernel[...]
        return jnp.dot(x, kernel.astype(x.dtype), preferred_element_type=jnp.float32)

    def _run_blocks(self, x: jax.Array, positions: jax.Array, segments: jax.Array | None) -> jax.Array:
        run = Block.__call__
        if self.config.remat:
            # a scan body is never merged with its own recomputation; only the loop needs the barrier against that
            run = jax.checkpoint(run, prevent_cse=not self.config.scan_layers)
        if isinstance(self.blocks, Block):
            return jax.lax.scan(lambda x, block: (run(block, x, positions, segments), None), x, self.blocks)[0]
        for block in self.blocks:
            x = run(block, x, positions, segments)
        return x

    def _refuse_long_rows(self, tokens: jax.Array) -> None:
        length, limit = tokens.shape[1], self.config.context_length
        if length > limit:
            raise ShapeError(
                "Decoder broken by argument 'tokens'\n"
                f"  got       {tokens.dtype}[{tokens.shape[0]},{length}]\n"
                f"  expected  at most {limit} positions a row (config.context_length)\n"
                f"  because   T is {length}: cut the rows, or make a decoder with a longer context",
                contract="Decoder",
                argument="argument 'tokens'",
                dims={"B": tokens.shape[0], "T": length},
                path="Decoder",
            )
