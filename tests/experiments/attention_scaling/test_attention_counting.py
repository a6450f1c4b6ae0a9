"""FLOPs by formula and by trace, and the crossings, against numbers by hand and against exactly causal programs."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.decoder import DecoderConfig
from experiments.attention_scaling.counting import Counted, count_parts, crossings, first_crossing, flops_rows
from experiments.attention_scaling.programs import Part, core_matmuls, parts
from research.costs import causal_crossover, causal_pairs, full_pairs
from research.costs.jaxpr import count_flops

TINY = DecoderConfig(vocab_size=11, d_model=6, n_layers=3, n_heads=4, n_kv_heads=2, head_dim=2, d_ff=5)


@st.composite
def configs(draw: st.DrawFn) -> DecoderConfig:
    groups = draw(st.integers(1, 3))
    return DecoderConfig(
        vocab_size=draw(st.integers(1, 9)),
        d_model=draw(st.integers(1, 9)),
        n_layers=draw(st.integers(1, 2)),
        n_heads=groups * draw(st.integers(1, 3)),
        n_kv_heads=groups,
        head_dim=2 * draw(st.integers(1, 3)),
        d_ff=draw(st.integers(1, 9)),
        tied=draw(st.booleans()),
    )


def part_of(config: DecoderConfig, name: str) -> Part:
    return next(part for part in parts(config) if part.name == name)


def test_every_term_of_a_tiny_decoder_is_the_product_counted_by_hand():
    # T = 5: three layers of D = 6, H K = 8, G K = 4, F = 5; a multiply-add is 2
    (decoder,) = count_parts([part_of(TINY, "decoder")], TINY, [5])
    assert decoder.traced == {
        "queries": 3 * 2 * 5 * 6 * 8,
        "keys": 3 * 2 * 5 * 6 * 4,
        "values": 3 * 2 * 5 * 6 * 4,
        "scores": 3 * 4 * (2 * 5 * 5 * 2),
        "weighted_sum": 3 * 4 * (2 * 5 * 5 * 2),
        "output": 3 * 2 * 5 * 8 * 6,
        "feed_forward": 3 * 3 * (2 * 5 * 6 * 5),
        "logits": 2 * 5 * 6 * 11,
    }


@pytest.mark.slow
@settings(max_examples=8)
@given(config=configs(), length=st.integers(1, 40))
def test_formula_and_trace_agree_in_every_term_of_every_part(config: DecoderConfig, length: int):
    counted = count_parts(parts(config), config, [length])  # a difference raises
    whole, layer = counted[-1], {**counted[3].traced, **counted[4].traced}
    assert {name: config.n_layers * flops for name, flops in layer.items()} == {
        name: flops for name, flops in whole.traced.items() if name != "logits"
    }


def test_witnesses_that_differ_in_a_term_are_refused():
    with pytest.raises(AssertionError, match="core at T = 8"):
        Counted("core", 8, {"scores": 10, "weighted_sum": 10}, {"scores": 11, "weighted_sum": 9})


def test_every_term_has_a_row_of_each_witness():
    rows = flops_rows(count_parts(parts(TINY), TINY, [4, 8]))
    pairs = {(row.factors["part"], row.factors["length"], row.factors["term"]) for row in rows}
    assert len(rows) == 2 * len(pairs) == 2 * 2 * (2 + 2 + 2 + 6 + 5 + 8)


@pytest.mark.parametrize("width", [8, 24])
def test_the_textbook_crosses_at_6_and_12_times_its_width_by_formula_and_trace(width: int):
    config = DecoderConfig(d_model=width, n_heads=2, n_kv_heads=1, head_dim=4, d_ff=7)
    textbook = crossings(parts(config), config)[1]
    assert (textbook.full, textbook.traced, textbook.causal) == (6 * width, 6 * width, 12 * width - 1)


def test_the_swept_crossing_is_where_a_search_by_hand_finds_it():
    core, rest = part_of(TINY, "core"), part_of(TINY, "rest")
    swept = crossings([core, rest], TINY)[0]

    def share(length: int) -> float:
        one, other = count_parts([core, rest], TINY, [length])
        return one.flops / other.flops

    assert share(swept.traced - 1) < 1 <= share(swept.traced)


def test_attention_that_computes_only_causal_pairs_crosses_at_the_causal_closed_form():
    config = DecoderConfig(d_model=2, n_heads=2, n_kv_heads=1, head_dim=2, d_ff=3)
    rest = part_of(config, "rest")

    def query_by_query(queries: jax.Array, keys: jax.Array, values: jax.Array) -> jax.Array:
        rows = [
            core_matmuls(queries[:, t : t + 1], keys[:, : t + 1], values[:, : t + 1]) for t in range(queries.shape[1])
        ]
        return jnp.concatenate(rows, axis=1)

    def share(length: int) -> float:
        qkv = part_of(config, "core").inputs(length)
        return count_flops(query_by_query, *qkv).matmul / sum(count_parts([rest], config, [length])[0].traced.values())

    crossing = math.ceil(causal_crossover(config))
    assert share(crossing - 1) < 1 <= share(crossing)


@given(scale=st.integers(1, 50), rest=st.integers(1, 100_000))
def test_the_first_crossing_is_the_smallest_length(scale: int, rest: int):
    found = first_crossing(lambda length: scale * length**2, lambda length: rest * length)
    assert found == math.ceil(rest / scale)


def test_core_matmuls_are_the_grouped_products_without_softmax():
    rng = np.random.default_rng(0)
    queries, keys, values = (rng.normal(size=(1, 5, heads, 3)).astype(np.float32) for heads in (4, 2, 2))
    naive = [
        [sum((queries[0, t, h] @ keys[0, s, h // 2]) * values[0, s, h // 2] for s in range(5)) for h in range(4)]
        for t in range(5)
    ]
    np.testing.assert_allclose(core_matmuls(queries, keys, values)[0], naive, rtol=1e-4, atol=1e-5)


def random_rest() -> tuple[Callable[..., jax.Array], Any]:
    part = part_of(TINY, "rest")
    keys = iter(jax.random.split(jax.random.key(0), len(jax.tree.leaves(part.weights))))
    return part.run, jax.tree.map(lambda shape: jax.random.normal(next(keys), shape.shape), part.weights)


@pytest.mark.slow
def test_the_rest_of_a_layer_moves_nothing_between_positions():
    run, weights = random_rest()
    x = jax.random.normal(jax.random.key(1), (1, 4, TINY.d_model))
    changed = (jax.jit(run)(weights, x) != jax.jit(run)(weights, x.at[:, 1].add(1.0))).any(axis=(0, 2))
    assert changed.tolist() == [False, True, False, False]


def test_the_rest_of_a_layer_needs_every_weight_so_that_the_compiler_can_drop_none():
    run, weights = random_rest()
    x = jax.random.normal(jax.random.key(1), (1, 4, TINY.d_model))
    gradients = jax.jit(jax.grad(lambda weights: jnp.sum(run(weights, x) ** 2)))(weights)
    shapes = sorted(leaf.shape for leaf in jax.tree.leaves(gradients) if jnp.all(jnp.any(leaf != 0, axis=0)))
    assert shapes == sorted([(6,), (6,), (6, 8), (6, 4), (6, 4), (8, 6), (6, 5), (6, 5), (5, 6)])


@pytest.mark.slow
@pytest.mark.parametrize("length", [130, 600])
def test_the_core_in_blocks_computes_the_pairs_of_its_blocks_and_gives_the_same_numbers(length: int):
    dense, blocks = part_of(TINY, "core"), part_of(TINY, "core in blocks")
    counted = {count.part: count for count in count_parts([dense, blocks], TINY, [length])}
    assert causal_pairs(length) < counted["core in blocks"].flops / (4 * 4 * 2) < full_pairs(length)
    heads = [jnp.float32(np.random.default_rng(i).normal(size=x.shape)) for i, x in enumerate(dense.inputs(length))]
    np.testing.assert_allclose(blocks.run((), *heads), dense.run((), *heads), atol=1e-5)
