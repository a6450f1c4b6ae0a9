"""What a position may not see it does not see: exactly, not nearly."""

import jax
import numpy as np
import pytest
from flax import nnx

from research.model import Decoder

CUTS = np.array([3, 4, 3, 4, 3])
T = np.arange(7)
FIRST = T[None, :] < CUTS[:, None]
SEGMENTS = np.where(FIRST, [[0], [5], [1], [3], [7]], [[1], [2], [0], [4], [9]]).astype(np.int32)
POSITIONS = np.where(FIRST, T[None, :], T[None, :] - CUTS[:, None]).astype(np.int32)
ARANGE = np.broadcast_to(T[None, :], (5, 7)).astype(np.int32)


class Clock(nnx.Module):
    """A mixer that sees nothing but absolute positions."""

    def __init__(self, config, *, rngs):
        self.config = config

    def __call__(self, x, positions, segments):
        return x + positions[:, :, None].astype(x.dtype)


def influence(decoder, tokens, segments):
    """[row, t, s]: how strongly the logits at t depend on the embedding of the token at s; no two tokens are equal."""
    graphdef, *states = nnx.split(decoder, nnx.PathContains("embed"), ...)
    embed, rest = states
    direction = np.random.default_rng(3).normal(size=decoder.config.vocab_size).astype(np.float32)

    @jax.jit
    @jax.grad
    def gradient(embed, tokens, segments, t):
        return (nnx.merge(graphdef, embed, rest)(tokens, segments)[:, t] @ direction).sum()

    tables = [gradient(embed, tokens, segments, t)["embed"]["embedding"][...] for t in range(7)]
    return np.stack([np.abs(table).max(axis=-1)[tokens] for table in tables], axis=1)


def test_logits_have_exactly_no_gradient_from_later_tokens(make, tokens):
    strength = influence(make(), tokens, None)
    causal = np.tri(7, dtype=bool)
    assert (strength[:, ~causal] == 0).all()
    assert (strength[:, causal] > 0).all()


def test_logits_have_exactly_no_gradient_from_another_document(make, tokens):
    strength = influence(make(), tokens, SEGMENTS)
    same = (SEGMENTS[:, :, None] == SEGMENTS[:, None, :]) & np.tri(7, dtype=bool)[None]
    assert (strength[~same] == 0).all()
    assert (strength[same] > 0).all()


@pytest.mark.parametrize("scan_layers", [False, True], ids=["loop", "scan"])
def test_replacing_other_documents_leaves_a_documents_logits_equal_bit_for_bit(make, forward, tokens, scan_layers):
    decoder = make(scan_layers=scan_layers)
    before = np.asarray(forward(decoder, tokens, SEGMENTS, POSITIONS))
    for kept in (FIRST, ~FIRST):
        after = np.asarray(forward(decoder, np.where(kept, tokens, (tokens + 17) % 53), SEGMENTS, POSITIONS))
        assert np.array_equal(before[kept], after[kept])
        assert not np.allclose(before[~kept], after[~kept])


def test_without_segments_a_document_sees_the_one_before_it(make, forward, tokens):
    before = np.asarray(forward(make(), tokens, None, POSITIONS))
    after = np.asarray(forward(make(), np.where(T[None, :] == 0, (tokens + 17) % 53, tokens), None, POSITIONS))
    assert not np.allclose(before[:, 4:], after[:, 4:])


def test_a_document_in_a_packed_row_has_the_logits_that_it_has_alone(make, forward, tokens):
    packed = np.asarray(forward(make(), tokens, SEGMENTS, POSITIONS))
    for length in (3, 4):
        places = [(row, slice(0, cut) if cut == length else slice(cut, 7)) for row, cut in enumerate(CUTS.tolist())]
        alone = forward(make(), np.stack([tokens[place] for place in places]))
        np.testing.assert_allclose(np.stack([packed[place] for place in places]), alone, atol=1e-5)


def test_shifting_all_positions_leaves_the_logits(make, forward, tokens):
    here, there, slower = (forward(make(), tokens, None, at) for at in (ARANGE, ARANGE + 1000, ARANGE // 2))
    np.testing.assert_allclose(there, here, atol=1e-5)
    assert not np.allclose(slower, here, atol=1e-3)


def test_positions_count_from_zero_across_documents_unless_given(toy, forward, tokens):
    decoder = Decoder(toy, rngs=nnx.Rngs(0), mixer=Clock)
    default, counted, restarted = (forward(decoder, tokens, SEGMENTS, at) for at in (None, ARANGE, POSITIONS))
    np.testing.assert_allclose(default, counted, atol=1e-6)
    assert not np.allclose(default, restarted, atol=1e-3)
