"""Training FLOPs per token as published: one function for each convention, which says the terms that it keeps.

The same model costs 2.1 times as much under one as under another, so a figure without its convention says little.
Symbols: L layers, d model width, d_attn = H Q attention width, F feed-forward width, V vocabulary, T context,
N = 2 d L (2 d_attn + F) the weights of the block matrices. The factor 6 of a weight is 2 forward and 4 backward.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from research.costs.gpt2 import ModelShape, gpt2_flops, gpt2_parameters


def kaplan(shape: ModelShape) -> int:
    """6 N: block matrices only; no attention over the context, no embedding, no logits.

    Kaplan et al. 2020, 2001.08361, section 2.1: C = 6 N.
    """
    return 6 * shape.block_matrices


def kaplan_with_context(shape: ModelShape) -> int:
    """6 N + 6 L T d_attn: block matrices and attention over the context, at half of the full T^2.

    Kaplan et al. 2020, 2001.08361, section 2.1: C_forward = 2 N + 2 n_layer n_ctx d_attn, times 3.
    """
    return kaplan(shape) + 6 * shape.n_layers * shape.context_length * shape.d_attention


def kaplan_table_1(shape: ModelShape) -> int:
    """Every row: `kaplan_with_context` and, forward, embedding 4 d and de-embedding 2 d V.

    Kaplan et al. 2020, 2001.08361, table 1, times 3 for forward and backward.
    """
    return kaplan_with_context(shape) + 3 * (4 * shape.d_model + 2 * shape.head_weights)


def lingua(shape: ModelShape) -> float:
    """6 N + 3.5 * 4 L T d / 2: block matrices and causal attention, whose backward pass recomputes the scores
    (2.5 times the forward pass, as FlashAttention does); no logits.

    facebookresearch/lingua and facebookresearch/blt, `get_num_flop_per_token`, given the parameters less V d.
    """
    return kaplan(shape) + 3.5 * (4 * shape.n_layers * shape.context_length * shape.d_model // 2)


def torchtitan_untied(shape: ModelShape) -> int:
    """6 (all parameters - embeddings) + 12 L H Q T: matrices and norms, full T^2 attention.

    Meant for an untied head, which is then among the parameters; on a tied model it leaves the logits out.
    pytorch/torchtitan, `get_dense_model_nparams_and_flops` without `enable_weight_tying`.
    """
    parameters = gpt2_parameters(shape)
    return six_n_plus_attention(parameters.blocks + parameters.final_norm, shape)


def torchtitan_tied(shape: ModelShape) -> int:
    """6 (all parameters, learned positions among them) + 12 L H Q T: the embedding stands for the logits.

    pytorch/torchtitan, `get_dense_model_nparams_and_flops` with `enable_weight_tying`.
    """
    return six_n_plus_attention(gpt2_parameters(shape).total, shape)


def palm(shape: ModelShape) -> int:
    """6 N + 12 L H Q T, N all parameters but learned positions: matrices, norms, logits, full T^2 attention.

    Chowdhery et al. 2022, 2204.02311, appendix B. PaLM has no learned positions; nanoGPT, which counts its MFU
    this way, subtracts them.
    """
    parameters = gpt2_parameters(shape)
    return six_n_plus_attention(parameters.total - parameters.position_embedding, shape)


def nanogpt(shape: ModelShape) -> float:
    """Every matmul of the forward pass times 3: projections, full T^2 attention, feed forward, logits.

    karpathy/nanoGPT, `transformer_sizing.ipynb`.
    """
    return gpt2_flops(shape).training / shape.context_length


def nanochat(shape: ModelShape) -> int:
    """6 (weights that are multiplied) + 12 L H Q T: the same terms as `nanogpt`, counted by weights.

    karpathy/nanochat, `GPT.estimate_flops`, without sliding windows.
    """
    return six_n_plus_attention(shape.block_matrices + shape.head_weights, shape)


def exact_causal(shape: ModelShape) -> int:
    """6 (block matrices + V d) + 6 L d_attn (T + 1): every matmul, and the (T + 1) / 2 keys that a query sees.

    Ours: what is useful, to the last pair.
    """
    weights = shape.block_matrices + shape.head_weights
    return 6 * weights + 6 * shape.n_layers * shape.d_attention * (shape.context_length + 1)


def maxtext_causal(shape: ModelShape) -> int:
    """Every matmul, with the full T^2 attention halved for causality: T / 2 keys a query.

    AI-Hypercomputer/maxtext, `calculate_tflops_training_per_device`, since its pull request 1988.
    """
    weights = shape.block_matrices + shape.head_weights
    return 6 * weights + 6 * shape.n_layers * shape.d_attention * shape.context_length


def levanter(shape: ModelShape) -> int:
    """Every matmul, full T^2 attention, and 3 H T a layer for the mask; the forward pass times 3.

    stanford-crfm/levanter, `lm_flops_per_token`.
    """
    return nanochat(shape) + 3 * _softmax(shape)


def chinchilla_appendix_f(shape: ModelShape) -> int:
    """As printed: every matmul, full T^2 attention, softmax 3 H T a layer, and the embedding as a matmul 2 V d.

    Hoffmann et al. 2022, 2203.15556, appendix F, forward pass times 3. The paper's own table A4 was not made with
    it: see `chinchilla_table_a4`.
    """
    return chinchilla_table_a4(shape) + 3 * 2 * 2 * shape.head_weights


def chinchilla_table_a4(shape: ModelShape) -> int:
    """Appendix F without embedding and logits, which reproduces table A4: block matmuls, full T^2 attention,
    softmax.

    Hoffmann et al. 2022, 2203.15556, table A4; that the two terms were left out is reported in karpathy/nanoGPT,
    `scaling_laws.ipynb`.
    """
    return six_n_plus_attention(shape.block_matrices, shape) + 3 * _softmax(shape)


def cookbook(shape: ModelShape) -> int:
    """Blocks times 4, as if activation checkpointing ran all of their forward pass twice; full T^2 attention; and,
    once, embedding 4 d and logits 2 d V.

    EleutherAI/cookbook, `calc_transformer_flops.py`, the default.
    """
    return 4 * _block_forward(shape) + 4 * shape.d_model + 2 * shape.head_weights


def cookbook_without_checkpointing(shape: ModelShape) -> int:
    """Blocks times 3, full T^2 attention; and, once, embedding 4 d and logits 2 d V.

    EleutherAI/cookbook, `calc_transformer_flops.py --no-checkpoint-activations`.
    """
    return 3 * _block_forward(shape) + 4 * shape.d_model + 2 * shape.head_weights


def six_n_plus_attention(parameters: int, shape: ModelShape) -> int:
    """6 `parameters` + 12 L H Q T: each weight once, and full T^2 attention.

    Scores and weighted sum are 2 T d_attn each, forward, for each token and layer; times 3.
    Chowdhery et al. 2022, 2204.02311, appendix B.
    """
    return 6 * parameters + 12 * shape.n_layers * shape.d_attention * shape.context_length


def model_flops_utilization(tokens_per_second: float, flops_per_token: int | float, peak_flops: float) -> float:
    """Share of the hardware's peak that a convention's FLOPs amount to: MFU, 2204.02311, appendix B.

    `peak_flops` is per second and over all devices. It means as much as the convention behind `flops_per_token`.
    """
    return tokens_per_second * flops_per_token / peak_flops


def chinchilla_parameters(shape: ModelShape) -> int:
    """The N of table A4: blocks with biases and relative positions, and the de-embedding, without the embedding.

    A block has query, key, value and output (4 d d + 4 d), relative keys and their two biases (d d + 2 d), the
    feed forward (2 d F + F + d) and two norms (4 d); then the final norm 2 d and V d.
    karpathy/nanoGPT, `scaling_laws.ipynb`, which matches the parameter counts of 2203.15556, table A9.
    """
    width = shape.d_model
    block = 5 * width**2 + 6 * width + 2 * width * shape.d_ff + shape.d_ff + width + 4 * width
    return shape.n_layers * block + 2 * width + shape.head_weights


def _block_forward(shape: ModelShape) -> int:
    """Forward FLOPs per token of all blocks, full T^2 attention."""
    return 2 * shape.block_matrices + 4 * shape.n_layers * shape.d_attention * shape.context_length


def _softmax(shape: ModelShape) -> int:
    """3 H T for each layer and token, forward: 3 operations for each score."""
    return 3 * shape.n_layers * shape.n_heads * shape.context_length


#: Every convention by the name of its function.
CONVENTIONS: Mapping[str, Callable[[ModelShape], int | float]] = MappingProxyType(
    {
        convention.__name__: convention
        for convention in (
            kaplan,
            kaplan_with_context,
            lingua,
            torchtitan_untied,
            chinchilla_table_a4,
            cookbook_without_checkpointing,
            kaplan_table_1,
            maxtext_causal,
            exact_causal,
            nanogpt,
            nanochat,
            palm,
            levanter,
            torchtitan_tied,
            cookbook,
            chinchilla_appendix_f,
        )
    }
)
