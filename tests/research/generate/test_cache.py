"""Logits read from the cache are those of the whole row: within 1e-5 of the largest logit in float32."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from contracts.errors import InputError
from contracts.laws import Effort, assert_laws
from research.generate import cached_view
from research.generate.cache import advance, empty_cache, has_cache

advanced = jax.jit(advance)
forward = jax.jit(lambda decoder, tokens: decoder(tokens))
TOLERANCE = 1e-5
LENGTHS = (5, 12, 1, 9)


def padded(tokens, lengths, size):
    """Rows that end in the same slot, with noise before them."""
    rows = np.random.default_rng(5).integers(0, 257, (len(lengths), size)).astype(np.int32)
    for row, length in enumerate(lengths):
        rows[row, size - length :] = tokens[row, :length]
    return rows, np.array([size - length for length in lengths], np.int32)


def through_cache(decoder, rows, pads, pieces, slots):
    cache, logits, slot = empty_cache(decoder, len(rows), slots), [], 0
    for piece in pieces:
        hidden, cache = advanced(decoder, rows[:, slot : slot + piece], cache, jnp.int32(slot), pads)
        logits.append(np.asarray(decoder.logits(hidden)))
        slot += piece
    return np.concatenate(logits, axis=1)


@pytest.mark.parametrize("scan_layers", [False, True], ids=["loop", "scan"])
@pytest.mark.parametrize(
    ("pieces", "slots"),
    [((7, 1, 1, 3), 20), *(pytest.param(each, 12, marks=pytest.mark.slow) for each in [(12,), (1,) * 12])],
    ids=str,
)
def test_rows_of_different_lengths_have_the_logits_that_they_have_alone(make, scan_layers, pieces, slots):
    decoder = make(scan_layers=scan_layers)
    tokens = np.random.default_rng(0).integers(0, 257, (4, 12)).astype(np.int32)
    rows, pads = padded(tokens, LENGTHS, 12)
    got = through_cache(decoder, rows, pads, pieces, slots)
    whole = np.asarray(forward(decoder, tokens))
    for row, length in enumerate(LENGTHS):
        alone = whole[row, :length]
        assert np.abs(got[row, 12 - length :] - alone).max() <= TOLERANCE * np.abs(alone).max()


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{}, {"scan_layers": True}, {"compute_dtype": "bfloat16"}], ids=str)
def test_the_law_of_caches_holds(make, changes):
    assert_laws(cached_view(make(**changes)), only=["cache"], effort=Effort(examples=3))


@pytest.mark.slow
def test_the_law_notices_a_cache_that_forgets(make, monkeypatch):
    monkeypatch.setattr("research.generate.laws.advance", _forgetful)
    with pytest.raises(AssertionError, match="differs at position"):
        assert_laws(cached_view(make(n_layers=1)), only=["cache"], effort=Effort(examples=3))


def _forgetful(decoder, tokens, cache, slot, pads):
    return advance(decoder, tokens, cache, slot, pads + slot)


def test_a_cache_is_a_plain_pytree_of_one_entry_a_layer_stacked_under_scan(make):
    loop, scan = (jax.tree.leaves(empty_cache(make(scan_layers=scan), 3, 8)) for scan in (False, True))
    assert [leaf.shape for leaf in loop] == [(3, 2, 8, 6)] * 4
    assert [leaf.shape for leaf in scan] == [(2, 3, 2, 8, 6)] * 2


def test_a_mixer_of_ones_own_has_no_cache(make, own_mixer):
    assert has_cache(make())
    assert not has_cache(make(mixer=own_mixer))
    assert not has_cache(lambda tokens, segments=None, positions=None: tokens)
    with pytest.raises(InputError, match="key-value cache"):
        cached_view(make(mixer=own_mixer))
