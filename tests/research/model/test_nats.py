"""-ln p(target), against scipy and on values known by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

from research.model.nats import token_nats


def test_a_uniform_guess_costs_the_logarithm_of_the_vocabulary():
    nats = token_nats(jnp.zeros((1, 3, 257)), jnp.array([[0, 100, 256]], jnp.int32))
    np.testing.assert_allclose(nats, np.log(257), rtol=1e-6)


def test_nats_are_the_negative_log_softmax_at_the_target():
    logits = np.random.default_rng(0).normal(scale=30, size=(2, 5, 11)).astype(np.float32)
    targets = np.random.default_rng(1).integers(0, 11, (2, 5)).astype(np.int32)
    expected = -np.take_along_axis(scipy.special.log_softmax(logits.astype(np.float64), -1), targets[..., None], -1)
    np.testing.assert_allclose(token_nats(jnp.asarray(logits), jnp.asarray(targets)), expected[..., 0], atol=1e-4)


def test_the_gradient_is_the_softmax_minus_the_target():
    logits = jax.random.normal(jax.random.key(0), (1, 2, 5))
    targets = jnp.array([[3, 0]], jnp.int32)
    gradient = jax.grad(lambda x: token_nats(x, targets).sum())(logits)
    np.testing.assert_allclose(gradient, jax.nn.softmax(logits) - jax.nn.one_hot(targets, 5), atol=1e-6)
