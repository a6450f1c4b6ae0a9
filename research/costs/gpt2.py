"""The worked example that the published FLOPs conventions are compared on: GPT-2's architecture, and its 124M shape.

GPT-2 is not the decoder of this project: learned positions, a feed forward of two matrices, a tied head.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelShape:
    """What the published conventions need to know of a model with as many key-value heads as query heads."""

    n_layers: int
    d_model: int
    n_heads: int
    head_dim: int
    d_ff: int
    vocab_size: int
    context_length: int

    @property
    def d_attention(self) -> int:
        """Width of all heads together, d_attn in Kaplan: `d_model` in most models, GPT-2 among them."""
        return self.n_heads * self.head_dim

    @property
    def block_matrices(self) -> int:
        """Weights of the blocks' matrices: 2 d L (2 d_attn + d_ff), the N of Kaplan et al. (2001.08361, table 1)."""
        return 2 * self.d_model * self.n_layers * (2 * self.d_attention + self.d_ff)

    @property
    def head_weights(self) -> int:
        """Weights of the output projection, V d, whether or not it is the embedding."""
        return self.vocab_size * self.d_model


GPT2_124M = ModelShape(
    n_layers=12, d_model=768, n_heads=12, head_dim=64, d_ff=3072, vocab_size=50_257, context_length=1024
)


@dataclass(frozen=True)
class GPT2Parameters:
    """Parameters of a GPT-2 without biases (nanoGPT `transformer_sizing.ipynb`), the head tied."""

    token_embedding: int
    position_embedding: int
    attention: int
    """one block's query, key, value and output matrices"""
    mlp: int
    """one block's two matrices"""
    block: int
    """one block with its two norms"""
    blocks: int
    final_norm: int

    @property
    def total(self) -> int:
        return self.token_embedding + self.position_embedding + self.blocks + self.final_norm


def gpt2_parameters(shape: ModelShape) -> GPT2Parameters:
    """Embedding V d, positions T d, and L blocks of 4 d d_attn + 2 d d_ff + 2 d; a norm has d scales."""
    attention = 4 * shape.d_model * shape.d_attention
    mlp = 2 * shape.d_model * shape.d_ff
    block = attention + mlp + 2 * shape.d_model
    return GPT2Parameters(
        token_embedding=shape.vocab_size * shape.d_model,
        position_embedding=shape.context_length * shape.d_model,
        attention=attention,
        mlp=mlp,
        block=block,
        blocks=shape.n_layers * block,
        final_norm=shape.d_model,
    )


def gpt2_biases(shape: ModelShape) -> int:
    """What the original adds to `gpt2_parameters`: a bias on every projection of a block and on every norm.

    A block's query, key, value 3 d_attn, output d, feed forward d_ff + d, two norms 2 d; the final norm d.
    """
    per_block = 3 * shape.d_attention + shape.d_ff + 4 * shape.d_model
    return shape.n_layers * per_block + shape.d_model


@dataclass(frozen=True)
class GPT2Flops:
    """Forward FLOPs over one sequence of `context_length` tokens; the terms above `block` are those of one block."""

    qkv: int
    scores: int
    weighted_sum: int
    projection: int
    mlp: int
    n_layers: int
    logits: int

    @property
    def attention(self) -> int:
        return self.qkv + self.scores + self.weighted_sum + self.projection

    @property
    def block(self) -> int:
        return self.attention + self.mlp

    @property
    def forward(self) -> int:
        return self.n_layers * self.block + self.logits

    @property
    def training(self) -> int:
        """Forward, and a backward pass of twice the forward pass."""
        return 3 * self.forward


def gpt2_flops(shape: ModelShape) -> GPT2Flops:
    """Matmuls only, a multiply-add as 2, attention over the full T^2 (nanoGPT `transformer_sizing.ipynb`)."""
    length = shape.context_length
    return GPT2Flops(
        qkv=2 * length * shape.d_model * 3 * shape.d_attention,
        scores=2 * length**2 * shape.d_attention,
        weighted_sum=2 * length**2 * shape.d_attention,
        projection=2 * length * shape.d_attention * shape.d_model,
        mlp=2 * 2 * length * shape.d_model * shape.d_ff,
        n_layers=shape.n_layers,
        logits=2 * length * shape.head_weights,
    )
