"""The counter of traced programs, against hand-counted programs and against XLA where XLA counts right."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.experimental import pallas
from jax.sharding import AbstractMesh, AxisType, PartitionSpec

from contracts.errors import InputError
from research.costs.jaxpr import MatmulTerm, count_flops, count_jaxpr

X, W = jax.ShapeDtypeStruct((5, 8), jnp.float32), jax.ShapeDtypeStruct((8, 8), jnp.float32)
ONE = 2 * 5 * 8 * 8  # FLOPs of x @ w


def multiply(x: jax.Array, w: jax.Array) -> jax.Array:
    return x @ w


def xla_flops(function: Callable[..., Any], *args: Any) -> float:
    """What XLA says of the program as written, before it optimises."""
    return jax.jit(function).lower(*args).cost_analysis()["flops"]


def scanned(x: jax.Array, w: jax.Array, length: int = 10) -> jax.Array:
    return jax.lax.scan(lambda x, _: (x @ w, None), x, length=length)[0]


def unrolled(x: jax.Array, w: jax.Array, length: int = 10) -> jax.Array:
    for _ in range(length):
        x = x @ w
    return x


def test_a_term_names_the_contraction_its_shapes_and_its_scope() -> None:
    def scores(queries: jax.Array, keys: jax.Array) -> jax.Array:
        with jax.named_scope("scores"):
            return jax.lax.dot_general(queries, keys, (((3,), (3,)), ((0, 2), (0, 2))))

    queries, keys = jax.ShapeDtypeStruct((2, 7, 3, 4), jnp.float32), jax.ShapeDtypeStruct((2, 9, 3, 4), jnp.float32)
    (term,) = count_flops(scores, queries, keys).terms
    assert term == MatmulTerm("abcd,aecd->acbe", (2, 7, 3, 4), (2, 9, 3, 4), "scores", count=1)
    assert term.flops == term.flops_each == 2 * 2 * 3 * 7 * 9 * 4


@settings(max_examples=30)
@given(st.data())
def test_any_dot_general_costs_what_xla_says_and_means_what_its_equation_says(data) -> None:
    shared = data.draw(st.lists(st.integers(2, 4), max_size=3))
    batched = data.draw(st.integers(0, len(shared)))
    free = [data.draw(st.lists(st.integers(2, 4), max_size=2)) for _ in range(2)]
    orders = [data.draw(st.permutations(range(len(shared) + len(axes)))) for axes in free]
    sizes = [(shared + axes) for axes in free]
    lhs, rhs = (
        jax.ShapeDtypeStruct([size[i] for i in order], jnp.float32) for size, order in zip(sizes, orders, strict=True)
    )
    places = [[order.index(i) for i in range(len(shared))] for order in orders]
    batch, contracted = ([axes[:batched] for axes in places], [axes[batched:] for axes in places])

    def product(a: jax.Array, b: jax.Array) -> jax.Array:
        return jax.lax.dot_general(a, b, (contracted, batch))

    (term,) = count_flops(product, lhs, rhs).terms
    assert term.flops == 2 * math.prod(shared + free[0] + free[1]) == xla_flops(product, lhs, rhs)
    spelled = jax.eval_shape(partial(jnp.einsum, term.equation), lhs, rhs)
    assert spelled.shape == jax.eval_shape(product, lhs, rhs).shape


def test_an_unrolled_program_costs_what_xla_says() -> None:
    assert count_flops(unrolled, X, W).matmul == xla_flops(unrolled, X, W) == 10 * ONE


def test_a_scan_is_multiplied_by_its_length_where_xla_counts_its_body_once() -> None:
    assert count_flops(scanned, X, W).matmul == 10 * ONE
    assert xla_flops(scanned, X, W) < 2 * ONE


def test_a_scan_in_a_scan_multiplies_twice() -> None:
    def nested(x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda x, _: (scanned(x, w, length=3), None), x, length=4)[0]

    assert count_flops(nested, X, W).matmul == 12 * ONE


def test_equal_matmuls_become_one_term_that_runs_more_often() -> None:
    (term,) = count_flops(unrolled, X, W).terms
    assert term.count == 10


def test_a_fori_loop_with_constant_bounds_is_counted() -> None:
    def loop(x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, 4, lambda _, x: x @ w, x)

    assert count_flops(loop, X, W).matmul == 4 * ONE


def test_a_while_loop_around_matmuls_is_refused_with_its_scope() -> None:
    def loop(x: jax.Array, w: jax.Array) -> jax.Array:
        with jax.named_scope("solver"):
            return jax.lax.while_loop(lambda x: x.sum() < 3, lambda x: x @ w, x)

    with pytest.raises(InputError, match=r"got while around matmuls.* at scope solver"):
        count_flops(loop, X, W)


def test_a_while_loop_without_matmuls_costs_nothing() -> None:
    def loop(x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.lax.while_loop(lambda x: x.sum() < 3, lambda x: x + 1, x) @ w

    assert count_flops(loop, X, W).matmul == ONE


def test_a_cond_counts_its_dearest_branch() -> None:
    def either(x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.lax.cond(x.sum() > 0, lambda: x, lambda: unrolled(x, w, length=3))

    assert count_flops(either, X, W).matmul == 3 * ONE


def with_custom_vjp(x: jax.Array, w: jax.Array) -> jax.Array:
    rule = jax.custom_vjp(multiply)
    rule.defvjp(lambda x, w: (x @ w, (x, w)), lambda saved, dy: (dy @ saved[1].T, saved[0].T @ dy))
    return rule(x, w)


def with_custom_jvp(x: jax.Array, w: jax.Array) -> jax.Array:
    rule = jax.custom_jvp(multiply)
    rule.defjvps(lambda dx, y, x, w: dx @ w, lambda dw, y, x, w: x @ dw)
    return rule(x, w)


wrappers = pytest.mark.parametrize(
    "function",
    [jax.jit(jax.jit(multiply)), jax.checkpoint(multiply), with_custom_vjp, with_custom_jvp],
    ids=["jit", "checkpoint", "custom_vjp", "custom_jvp"],
)


@wrappers
def test_a_wrapped_function_runs_once(function) -> None:
    assert count_flops(function, X, W).matmul == ONE


@wrappers
def test_the_backward_pass_costs_twice_the_forward_pass(function) -> None:
    """The sum of squares keeps the forward pass from being left out of the gradient."""

    def loss(x: jax.Array, w: jax.Array) -> jax.Array:
        return (function(x, w) ** 2).sum()

    assert count_flops(jax.value_and_grad(loss, argnums=(0, 1)), X, W).matmul == 3 * ONE


def test_rematerialisation_costs_the_recomputed_forward_pass() -> None:
    def layer(x: jax.Array, w: jax.Array) -> jax.Array:
        return jnp.tanh(x @ w)

    def loss(x: jax.Array, w: jax.Array) -> jax.Array:
        return (jax.checkpoint(layer)(x, w) ** 2).sum()

    assert count_flops(jax.value_and_grad(loss, argnums=(0, 1)), X, W).matmul == 4 * ONE


def test_vmap_multiplies_by_its_axis() -> None:
    stacked = jax.ShapeDtypeStruct((6, *X.shape), X.dtype)
    assert count_flops(jax.vmap(multiply, in_axes=(0, None)), stacked, W).matmul == 6 * ONE


def test_shard_map_counts_the_work_of_every_device() -> None:
    mesh = AbstractMesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    specs = {"in_specs": (PartitionSpec("data"), PartitionSpec()), "out_specs": PartitionSpec("data")}
    rows = jax.ShapeDtypeStruct((20, 8), jnp.float32)
    split = jax.shard_map(multiply, mesh=mesh, axis_names={"data"}, **specs)
    repeated = jax.shard_map(multiply, mesh=mesh, **specs)
    assert count_flops(split, rows, W).matmul == 4 * ONE
    assert count_flops(repeated, rows, W).matmul == 2 * 4 * ONE, "the model axis computes everything twice"


def in_a_kernel(x: jax.Array, w: jax.Array) -> jax.Array:
    def kernel(x_ref: Any, w_ref: Any, out_ref: Any) -> None:
        out_ref[...] = x_ref[...] @ w_ref[...]

    return pallas.pallas_call(kernel, out_shape=X)(x, w)


def convolve(x: jax.Array, w: jax.Array) -> jax.Array:
    return jnp.convolve(x[0], w[0])


@pytest.mark.parametrize(
    ("function", "primitive"),
    [
        (in_a_kernel, "pallas_call"),
        (convolve, "conv_general_dilated"),
        (lambda x, w: jnp.linalg.cholesky(w), "cholesky"),
    ],
)
def test_a_primitive_that_hides_its_matmuls_is_refused_by_name(function, primitive) -> None:
    with pytest.raises(InputError, match=f"{primitive}, which hides its matmuls"):
        count_flops(function, X, W)


def test_scopes_tell_terms_apart_forward_and_backward() -> None:
    def loss(x: jax.Array, w: jax.Array) -> jax.Array:
        with jax.named_scope("outer"):
            with jax.named_scope("inner"):
                x = scanned(x, w, length=2)
            x = jax.jit(multiply)(x, w)
        return ((x @ w) ** 2).sum()

    gradient = jax.value_and_grad(loss, argnums=(0, 1))
    assert count_flops(loss, X, W).by_scope("outer", "inner") == {"outer": ONE, "inner": 2 * ONE, "": ONE}
    assert count_flops(gradient, X, W).by_scope("outer") == {"outer": 9 * ONE, "": 3 * ONE}


def test_dot_product_attention_computes_every_pair_for_every_query_head() -> None:
    rows, length, heads, groups, width = 2, 7, 6, 3, 8
    queries = jax.ShapeDtypeStruct((rows, length, heads, width), jnp.float32)
    keys = jax.ShapeDtypeStruct((rows, length, groups, width), jnp.float32)
    count = count_flops(partial(jax.nn.dot_product_attention, is_causal=True), queries, keys, keys)
    assert count.matmul_sizes() == {2 * rows * length**2 * heads * width: 2}


def test_a_traced_program_is_counted_like_the_function() -> None:
    assert count_jaxpr(jax.make_jaxpr(scanned)(X, W)) == count_flops(scanned, X, W)


def test_nothing_is_allocated() -> None:
    petabyte = jax.ShapeDtypeStruct((2**24, 2**24), jnp.float32)
    assert count_flops(multiply, petabyte, petabyte).matmul == 2 * 2**72
