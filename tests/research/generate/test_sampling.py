"""Draws: which tokens are possible, how often each comes, and what a draw depends on."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from contracts.errors import InputError
from contracts.generation import Sampling
from research.generate.sampling import row_keys, sample

ROWS, SIZE = 1000, 7
LOGITS = np.array([1.0, 3.0, -2.0, 3.0, 0.5, 2.0, -1.0], np.float32)
draw = jax.jit(sample, static_argnames="sampling")


def draws(logits, sampling, allowed=None, seed=0):
    allowed = np.ones(len(logits), bool) if allowed is None else allowed
    keys = row_keys(jax.random.key(seed), ROWS, jnp.int32(0))
    return np.asarray(draw(np.tile(logits, (ROWS, 1)), keys, allowed, sampling))


def possible(logits, allowed, temperature, top_k, top_p):
    """Token to probability, one step after another as the names are commonly defined."""
    ranked = sorted(np.flatnonzero(allowed).tolist(), key=lambda token: (-logits[token], token))
    probability = scipy.special.softmax(np.array([logits[token] for token in ranked], np.float64) / temperature)
    kept = dict(list(zip(ranked, probability, strict=True))[:top_k])
    total, reached, nucleus = sum(kept.values()), 0.0, {}
    for token, share in kept.items():
        if top_p is None or reached < top_p * total:
            nucleus[token] = share
        reached += share
    return {token: share / sum(nucleus.values()) for token, share in nucleus.items()}


@pytest.mark.parametrize("temperature", [1e-45, 1e-39, 1e-37, 1e-30])
@pytest.mark.parametrize("limits", [{}, {"top_k": 3}, {"top_p": 0.5}])
def test_a_temperature_near_zero_takes_the_likeliest_and_never_just_the_smallest_id(temperature, limits):
    logits = np.array([30.0, 40.0, 50.0, 70.0, 60.0, 70.0 - 1e-3, -80.0], np.float32)
    assert set(draws(logits, Sampling(temperature, **limits))) == {3}


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("top_k", [None, 1, 3])
@pytest.mark.parametrize("top_p", [None, 0.3, 0.8])
def test_tokens_come_as_often_as_the_definitions_say(temperature, top_k, top_p):
    allowed = np.array([True, True, True, True, True, False, True])
    expected = possible(LOGITS, allowed, temperature, top_k, top_p)
    counts = np.bincount(draws(LOGITS, Sampling(temperature, top_k, top_p), allowed), minlength=SIZE)
    assert set(np.flatnonzero(counts)) <= set(expected)
    if len(expected) > 1:
        chosen = list(expected)
        test = scipy.stats.chisquare(counts[chosen], [ROWS * expected[token] for token in chosen])
        assert test.pvalue > 1e-4


@pytest.mark.slow
@given(hnp.arrays(np.float32, SIZE, elements=st.sampled_from([-1.0, 0.0, 0.5, 1.0])), st.integers(1, SIZE))
def test_top_k_keeps_exactly_k_tokens_and_of_equals_those_of_the_smallest_ids(logits, top_k):
    assert set(draws(logits, Sampling(1.0, top_k))) == set(possible(logits, np.ones(SIZE, bool), 1.0, top_k, None))


def test_temperature_0_takes_the_most_likely_allowed_token_and_the_smallest_id_of_equals():
    assert set(draws(LOGITS, Sampling(0.0))) == {1}
    allowed = np.arange(SIZE) != 1
    assert set(draws(LOGITS, Sampling(0.0, top_k=2, top_p=0.1), allowed)) == {3}


def test_a_draw_depends_on_seed_row_and_position_and_not_on_the_number_of_rows():
    few, many = (row_keys(jax.random.key(0), rows, jnp.int32(5)) for rows in (3, 8))
    assert np.array_equal(jax.random.key_data(few), jax.random.key_data(many)[:3])
    seeds = [jax.random.key_data(row_keys(jax.random.key(seed), 8, jnp.int32(at))) for seed in (0, 1) for at in (5, 6)]
    assert len(np.unique(np.concatenate(seeds), axis=0)) == 32


@pytest.mark.parametrize(
    "fields", [{"temperature": -1}, {"temperature": np.nan}, {"top_k": 0}, {"top_p": 0}, {"top_p": 1.1}]
)
def test_a_sampling_that_can_not_be_is_refused(fields):
    with pytest.raises(InputError):
        Sampling(**fields)
