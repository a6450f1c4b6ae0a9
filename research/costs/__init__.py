"""What a decoder costs: parameters, FLOPs and bytes by formula, each with its derivation; the traced program counted
as a second witness; and the published conventions by name.

What is exported here is arithmetic. The witnesses trace programs and import jax: `research.costs.jaxpr`
(`count_flops`) and `research.costs.leaves` (`leaf_sizes`).
"""

from research.costs.conventions import CONVENTIONS, model_flops_utilization
from research.costs.flops import (
    ForwardFlops,
    TermComparison,
    causal_crossover,
    causal_pairs,
    compare_terms,
    forward_flops,
    full_crossover,
    full_pairs,
    kept_pair_fraction,
    query_block_pairs,
    segment_pairs,
    training_flops,
)
from research.costs.gpt2 import GPT2_124M, ModelShape
from research.costs.memory import kv_cache_bytes, kv_cache_bytes_per_token, parameter_bytes
from research.costs.parameters import (
    DecoderParameters,
    boundary_parameters,
    decoder_parameters,
    token_parameters,
)
from research.costs.shape import DecoderShape

__all__ = [
    "CONVENTIONS",
    "GPT2_124M",
    "DecoderParameters",
    "DecoderShape",
    "ForwardFlops",
    "ModelShape",
    "TermComparison",
    "boundary_parameters",
    "causal_crossover",
    "causal_pairs",
    "compare_terms",
    "decoder_parameters",
    "forward_flops",
    "full_crossover",
    "full_pairs",
    "kept_pair_fraction",
    "kv_cache_bytes",
    "kv_cache_bytes_per_token",
    "model_flops_utilization",
    "parameter_bytes",
    "query_block_pairs",
    "segment_pairs",
    "token_parameters",
    "training_flops",
]
