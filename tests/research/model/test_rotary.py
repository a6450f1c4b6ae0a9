import jax.numpy as jnp
import numpy as np

from research.model.rotary import rotate


def test_a_turn_is_a_multiplication_by_a_complex_number():
    x = jnp.float32(np.random.default_rng(0).normal(size=(2, 7, 3, 10)))
    positions = jnp.array([[0, 1, 2, 3, 4, 5, 6], [900, 3, 3, 0, 1, 50, 7]], jnp.int32)
    pairs = np.asarray(x[..., :5], np.float64) + 1j * np.asarray(x[..., 5:], np.float64)
    angle = np.asarray(positions)[:, :, None, None] * 10_000.0 ** (-2 * np.arange(5) / 10)
    turned = pairs * np.exp(1j * angle)
    expected = np.concatenate([turned.real, turned.imag], axis=-1)
    np.testing.assert_allclose(rotate(x, positions, 10_000.0), expected, atol=2e-4)


def test_scores_depend_on_the_distance_of_two_positions_only():
    query, key = jnp.float32(np.random.default_rng(0).normal(size=(2, 1, 1, 1, 10)))

    def score(query_position: int, key_position: int) -> float:
        at = [jnp.full((1, 1), position, jnp.int32) for position in (query_position, key_position)]
        return float(jnp.sum(rotate(query, at[0], 100.0) * rotate(key, at[1], 100.0)))

    assert abs(score(9, 4) - score(109, 104)) < 1e-5
    assert abs(score(9, 4) - score(9, 5)) > 1e-2


def test_bfloat16_keeps_distant_positions_apart():
    x = jnp.ones((1, 1, 1, 10), jnp.bfloat16)
    turned = [rotate(x, jnp.full((1, 1), position, jnp.int32), 100.0) for position in (1000, 1001)]
    assert turned[0].dtype == jnp.bfloat16
    assert not jnp.array_equal(turned[0], turned[1])
