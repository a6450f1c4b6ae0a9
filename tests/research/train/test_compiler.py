"""What XLA is asked for is asked for where it is known, and changes no result beyond rounding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from research.train import compiler


@pytest.fixture(autouse=True)
def _asked_anew():
    compiler.compiler_options.cache_clear()
    yield
    compiler.compiler_options.cache_clear()


def test_an_accelerator_is_asked_for_nothing(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert compiler.compiler_options() == {}


def test_an_option_that_this_xla_does_not_know_is_left_out(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    monkeypatch.setattr(compiler, "_PRODUCTS_ALONE", {"xla_cpu_no_such_option": "1"})
    assert compiler.compiler_options() == {}


def test_products_are_those_of_the_default_up_to_rounding():
    options = compiler.compiler_options()
    if not options:
        pytest.skip("this XLA does not know the option, or this is an accelerator")
    left, right = np.random.default_rng(0).normal(size=(2, 64, 64)).astype(np.float32)

    def gradient(x, y):
        return jax.grad(lambda x: jnp.sum(jax.nn.silu(x @ y) ** 2))(x)

    ours = jax.jit(gradient, compiler_options=options)(left, right)
    np.testing.assert_allclose(ours, jax.jit(gradient)(left, right), rtol=1e-4, atol=1e-4)
