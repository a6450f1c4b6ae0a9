"""Formula against program: the decoder's parameters are the leaves of its trace, its FLOPs the matmuls of its jaxpr."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.decoder import DecoderConfig
from research.costs import (
    TermComparison,
    causal_pairs,
    compare_terms,
    decoder_parameters,
    forward_flops,
    full_pairs,
    training_flops,
)
from research.costs.jaxpr import FlopCount, count_flops
from research.costs.leaves import leaf_sizes
from research.model import Decoder

# Every size of a matmul tells what it is, but for those that are equal by nature.
TELLING = DecoderConfig(
    vocab_size=19, d_model=10, n_layers=3, n_heads=6, n_kv_heads=2, head_dim=4, d_ff=14, context_length=32
)
ROWS, LENGTH = 5, 11

GROUPS = {"embed": "embedding", "head": "head", "mixer": "attention", "feed_forward": "feed_forward"}


def abstract(config: DecoderConfig) -> tuple[nnx.GraphDef, nnx.State]:
    return nnx.split(nnx.eval_shape(lambda: Decoder(config, rngs=nnx.Rngs(0))), nnx.Param)


def count_forward(config: DecoderConfig, rows: int = ROWS, length: int = LENGTH) -> FlopCount:
    graph, weights = abstract(config)
    tokens = jax.ShapeDtypeStruct((rows, length), jnp.int32)
    return count_flops(lambda weights, tokens: nnx.merge(graph, weights)(tokens), weights, tokens)


def group_of(path: str) -> str:
    return next((GROUPS[part] for part in path.split("/") if part in GROUPS), "norms")


def test_a_path_leads_to_the_size_of_its_leaf() -> None:
    tree = {"layers": [jax.ShapeDtypeStruct((2, 3), jnp.float32)], "scale": jax.ShapeDtypeStruct((), jnp.float32)}
    assert leaf_sizes(tree) == {"layers/0": 6, "scale": 1}


@pytest.mark.slow
@settings(max_examples=12)
@given(config=st.from_type(DecoderConfig), scanned=st.booleans())
def test_each_group_of_the_formula_is_the_leaves_of_the_abstract_decoder(config, scanned) -> None:
    config = replace(config, n_layers=min(config.n_layers, 3), scan_layers=scanned)
    groups = dict.fromkeys(("embedding", "head", "attention", "feed_forward", "norms"), 0)
    for path, size in leaf_sizes(abstract(config)[1]).items():
        groups[group_of(path)] += size
    assert groups == decoder_parameters(config).groups


@pytest.mark.slow
@settings(max_examples=8)
@given(config=st.from_type(DecoderConfig), rows=st.integers(1, 4), length=st.integers(1, 64), scanned=st.booleans())
def test_every_matmul_of_the_decoder_is_a_term_of_the_formula(config, rows, length, scanned) -> None:
    config = replace(config, n_layers=min(config.n_layers, 3), scan_layers=scanned)
    formula = forward_flops(config, length, full_pairs(length))
    counted = count_forward(config, rows, length)
    assert counted.matmul == rows * formula.total
    for term in compare_terms(formula, counted.matmul_sizes(), rows):
        assert term.counted == term.formula, term.terms


def test_terms_are_compared_apart_where_their_sizes_tell_them_apart() -> None:
    formula = forward_flops(TELLING, LENGTH, full_pairs(LENGTH))
    compared = compare_terms(formula, count_forward(TELLING).matmul_sizes(), ROWS)
    assert [term.terms for term in compared] == [
        ("queries", "output"),
        ("keys", "values"),
        ("scores", "weighted_sum"),
        ("feed_forward",),
        ("logits",),
    ]


def test_a_matmul_that_the_formula_lacks_stands_alone() -> None:
    """A causal formula predicts no matmul of the dense kernel: its attention is missing, the other is unpredicted."""
    dense, causal = (forward_flops(TELLING, LENGTH, pairs(LENGTH)) for pairs in (full_pairs, causal_pairs))
    compared = compare_terms(causal, count_forward(TELLING).matmul_sizes(), ROWS)
    wrong = [term for term in compared if term.formula != term.counted]
    assert wrong == [
        TermComparison(("scores", "weighted_sum"), ROWS * causal.attention, 0),
        TermComparison((), 0, ROWS * dense.attention),
    ]


@pytest.mark.parametrize("scanned", [False, True], ids=["loop", "scan"])
@pytest.mark.parametrize("remat", [False, True], ids=["saved", "recomputed"])
def test_training_costs_three_forward_passes_and_recomputation_most_of_a_fourth(scanned, remat) -> None:
    """The last matmul of a layer is not recomputed: no gradient needs its output."""
    config = replace(TELLING, scan_layers=scanned, remat=remat)
    graph, weights = abstract(config)
    tokens = jax.ShapeDtypeStruct((ROWS, LENGTH), jnp.int32)

    def loss(weights: nnx.State, tokens: jax.Array) -> jax.Array:
        return jax.nn.logsumexp(nnx.merge(graph, weights)(tokens), axis=-1).sum()

    forward = forward_flops(config, LENGTH, full_pairs(LENGTH))
    down = forward.feed_forward // 3
    recomputed = forward.attention + forward.projections - down if remat else 0
    counted = count_flops(jax.value_and_grad(loss), weights, tokens)
    assert counted.matmul == ROWS * (training_flops(forward.total) + recomputed)
