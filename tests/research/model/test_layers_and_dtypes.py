"""Variants of one decoder: layers scanned, layers recomputed, lower precision. The function stays the same."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from jax.extend.core import jaxprs_in_params

from research.model import Decoder


def stack_layers(state):
    """The state of a decoder in a loop as that of one that scans."""
    layers = [state["blocks"][i] for i in sorted(state["blocks"])]
    return {**state, "blocks": jax.tree.map(lambda *leaves: np.stack(leaves), *layers)}


def equations(jaxpr):
    """Every equation of a traced program, those of inner programs included."""
    for equation in jaxpr.eqns:
        yield equation
        for inner in jaxprs_in_params(equation.params):
            yield from equations(inner)


def trace(decoder, tokens):
    return list(equations(jax.make_jaxpr(decoder)(tokens).jaxpr))


def logits_and_gradient(decoder, tokens):
    graphdef, state = nnx.split(decoder)

    @jax.jit
    def compute(state, tokens):
        def loss(state):
            logits = nnx.merge(graphdef, state)(tokens)
            return jnp.square(logits).mean(), logits

        return jax.grad(loss, has_aux=True)(state)

    gradient, logits = compute(state, tokens)
    return logits, gradient


def assert_close(got, expected):
    """Every leaf, to a hundred-thousandth of its largest element."""
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * np.abs(b).max()), got, expected)


def test_layers_scanned_and_in_a_loop_start_from_equal_parameters(make):
    loop, scan = dict(nnx.state(make())), dict(nnx.state(make(scan_layers=True)))
    assert jax.tree.all(jax.tree.map(np.array_equal, stack_layers(loop), scan))
    assert not np.array_equal(*scan["blocks"]["mixer"]["query"]["kernel"][...])


@pytest.fixture(scope="module")
def plain(make, tokens):
    return logits_and_gradient(make(), tokens)


@pytest.mark.slow
def test_scanning_layers_leaves_logits_and_gradients(make, tokens, plain):
    logits, gradient = logits_and_gradient(make(scan_layers=True), tokens)
    np.testing.assert_allclose(logits, plain[0], atol=1e-6)
    assert_close(dict(gradient), stack_layers(dict(plain[1])))


def test_recomputing_layers_leaves_logits_and_gradients(make, tokens, plain):
    logits, gradient = logits_and_gradient(make(remat=True), tokens)
    np.testing.assert_allclose(logits, plain[0], atol=1e-6)
    assert_close(dict(gradient), dict(plain[1]))


def test_recomputing_scanned_layers_leaves_logits_and_gradients(make, tokens, plain):
    logits, gradient = logits_and_gradient(make(scan_layers=True, remat=True), tokens)
    np.testing.assert_allclose(logits, plain[0], atol=1e-6)
    assert_close(dict(gradient), stack_layers(dict(plain[1])))


@pytest.mark.parametrize(("scan_layers", "barriers"), [(False, [True, True]), (True, [False])], ids=["loop", "scan"])
def test_each_layer_is_recomputed_on_its_own_and_in_a_loop_behind_a_barrier(make, tokens, scan_layers, barriers):
    def recomputed(remat):
        program = trace(make(scan_layers=scan_layers, remat=remat), tokens)
        return [e.params["prevent_cse"] for e in program if e.primitive.name in ("remat2", "checkpoint")]

    assert recomputed(remat=True) == barriers
    assert recomputed(remat=False) == []


def test_a_decoder_may_be_closed_over_by_a_compiled_function(make, tokens, plain):
    decoder = make(remat=True)
    np.testing.assert_allclose(jax.jit(lambda t: decoder(t))(tokens), plain[0], atol=1e-6)


@pytest.mark.parametrize(
    ("compute_dtype", "scan_layers", "error"),
    [("bfloat16", False, 0.03), ("float16", True, 0.003)],
    ids=["bfloat16-loop", "float16-scan"],
)
def test_half_precision_gives_float32_logits_close_to_those_of_float32(
    make, forward, tokens, plain, compute_dtype, scan_layers, error
):
    exact = np.asarray(plain[0])
    rounded = forward(make(compute_dtype=compute_dtype, scan_layers=scan_layers), tokens)
    assert rounded.dtype == jnp.float32
    assert 0 < np.std(rounded - exact) < error * exact.std()


def test_matmuls_run_in_the_compute_dtype_and_statistics_in_float32(make, tokens):
    program = trace(make(compute_dtype="bfloat16"), tokens)
    dtypes: dict[str, set[str]] = {name: set() for name in ("dot_general", "exp", "rsqrt", "reduce_sum", "cos")}
    for equation in program:
        if equation.primitive.name in dtypes:
            dtypes[equation.primitive.name].update(str(operand.aval.dtype) for operand in equation.invars)
    assert dtypes.pop("dot_general") == {"bfloat16"}
    assert set(map(frozenset, dtypes.values())) == {frozenset({"float32"})}


@pytest.mark.parametrize("scan_layers", [False, True], ids=["loop", "scan"])
def test_all_state_is_parameters_in_the_param_dtype(toy, scan_layers):
    config = replace(toy, param_dtype="bfloat16", compute_dtype="float16", scan_layers=scan_layers)
    state = nnx.state(nnx.eval_shape(lambda: Decoder(config, rngs=nnx.Rngs(0))))
    variables = jax.tree.leaves(state, is_leaf=lambda node: isinstance(node, nnx.Variable))
    assert {type(variable) for variable in variables} == {nnx.Param}
    assert {variable.dtype for variable in variables} == {jnp.dtype("bfloat16")}
