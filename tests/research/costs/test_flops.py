"""Pairs against masks that are counted, and FLOPs against laws and the published GPT-2 figure."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.decoder import DecoderConfig
from contracts.errors import InputError
from research.costs import (
    causal_crossover,
    causal_pairs,
    forward_flops,
    full_crossover,
    full_pairs,
    kept_pair_fraction,
    query_block_pairs,
    segment_pairs,
    training_flops,
)

lengths = st.integers(1, 80)
configs = st.from_type(DecoderConfig)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=6))
def test_pairs_are_what_a_mask_keeps(document_lengths) -> None:
    segments = np.repeat(np.arange(len(document_lengths)), document_lengths)
    causal = np.tri(len(segments), dtype=bool)
    same = segments[:, None] == segments[None, :]
    assert full_pairs(len(segments)) == causal.size
    assert causal_pairs(len(segments)) == causal.sum()
    assert segment_pairs(document_lengths) == (causal & same).sum()


@given(lengths, st.integers(1, 100))
def test_a_block_of_queries_reads_the_keys_up_to_its_end(length, block) -> None:
    last_of_block = np.minimum((np.arange(length) // block + 1) * block, length)
    assert query_block_pairs(length, block) == last_of_block.sum()


@given(lengths, st.integers(1, 100))
def test_blocked_attention_lies_between_causal_and_full(length, block) -> None:
    assert causal_pairs(length) == query_block_pairs(length, 1)
    assert query_block_pairs(length, length) == full_pairs(length)
    assert causal_pairs(length) <= query_block_pairs(length, block) <= full_pairs(length)


def test_a_row_of_one_document_keeps_every_pair() -> None:
    assert kept_pair_fraction([1_024], 1_024) == 1


@pytest.mark.parametrize(("documents", "fraction"), [(2, 0.665), (4, 0.403), (8, 0.222), (16, 0.118)])
def test_uniform_cuts_keep_about_two_of_k_plus_one(documents, fraction) -> None:
    length, rng = 1_024, np.random.default_rng(0)

    def random_row() -> float:
        cuts = np.sort(rng.choice(np.arange(1, length), documents - 1, replace=False))
        return kept_pair_fraction(np.diff([0, *cuts, length]).tolist(), length)

    mean = np.mean([random_row() for _ in range(2_000)])
    assert mean == pytest.approx(2 / (documents + 1), abs=0.01)
    assert mean == pytest.approx(fraction, abs=0.01)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=6), st.integers(1, 50))
def test_padding_keeps_no_pair(document_lengths, padding) -> None:
    filled = sum(document_lengths)
    alone = kept_pair_fraction(document_lengths, filled) * causal_pairs(filled)
    padded = kept_pair_fraction(document_lengths, filled + padding) * causal_pairs(filled + padding)
    assert padded == pytest.approx(alone)


@pytest.mark.parametrize(("document_lengths", "length"), [([3, 0], 4), ([3, 2], 4), ([1], 0)])
def test_documents_that_do_not_fit_the_row_are_refused(document_lengths, length) -> None:
    with pytest.raises(InputError):
        kept_pair_fraction(document_lengths, length)


def test_swiglu_of_two_thirds_the_width_costs_what_gpt2_costs() -> None:
    """3 matrices of 8/3 d are 2 of 4 d, so the published forward pass of GPT-2 124M must come out."""
    config = DecoderConfig(
        vocab_size=50_257, d_model=768, n_layers=12, n_heads=12, n_kv_heads=12, head_dim=64, d_ff=2_048, tied=True
    )
    forward = forward_flops(config, 1_024, full_pairs(1_024))
    assert forward.total == 291_648_307_200
    assert training_flops(forward.total) == 874_944_921_600
    assert forward.scores == forward.weighted_sum == 12 * 1_610_612_736
    assert forward.queries + forward.keys + forward.values == 12 * 3_623_878_656
    assert forward.logits == 79_047_426_048


@given(configs, lengths)
def test_the_terms_are_attention_projections_and_logits(config, length) -> None:
    forward = forward_flops(config, length, full_pairs(length))
    assert forward.attention + forward.projections + forward.logits == forward.total == sum(forward.terms.values())
    assert forward.per_token == forward.total / length


@given(configs, lengths)
def test_useful_flops_are_at_most_the_executed_ones(config, length) -> None:
    useful, executed = (forward_flops(config, length, pairs(length)) for pairs in (causal_pairs, full_pairs))
    assert useful.total <= executed.total
    assert useful.projections == executed.projections


@given(configs, lengths)
def test_decoding_token_by_token_on_a_cache_costs_one_causal_pass(config, length) -> None:
    steps = sum(forward_flops(config, 1, pairs=seen).total for seen in range(1, length + 1))
    assert steps == forward_flops(config, length, causal_pairs(length)).total


@given(configs)
def test_sharing_keys_saves_projections_and_not_scores(config) -> None:
    shared = replace(config, n_kv_heads=1)
    one, many = (forward_flops(shape, 64, full_pairs(64)) for shape in (shared, config))
    assert one.attention == many.attention
    assert one.keys * config.n_kv_heads == many.keys


@pytest.mark.parametrize("width", [64, 256, 768])
def test_classic_attention_costs_as_much_as_the_rest_at_6_d_full_and_12_d_causal(width) -> None:
    classic = DecoderConfig(d_model=width, n_heads=width // 64, n_kv_heads=width // 64, head_dim=64, d_ff=4 * width)
    assert full_crossover(classic, feed_forward_matrices=2) == 6 * width
    assert causal_crossover(classic, feed_forward_matrices=2) == 12 * width - 1


@pytest.mark.parametrize(
    ("crossover", "pairs"), [(full_crossover, full_pairs), (causal_crossover, causal_pairs)], ids=["full", "causal"]
)
@given(config=configs)
def test_attention_overtakes_the_rest_of_the_layer_at_the_crossover(crossover, pairs, config) -> None:
    at = crossover(config)
    below, above = max(math.floor(at), 1), max(math.ceil(at), 1)
    before, after = (forward_flops(config, length, pairs(length)) for length in (below, above))
    if at >= 1:
        assert before.attention <= before.projections
    assert after.attention >= after.projections


@pytest.mark.parametrize(("length", "pairs"), [(0, 0), (4, -1)])
def test_a_sequence_without_tokens_or_with_negative_pairs_is_refused(length, pairs) -> None:
    with pytest.raises(InputError, match="expected at least"):
        forward_flops(DecoderConfig(), length, pairs)
