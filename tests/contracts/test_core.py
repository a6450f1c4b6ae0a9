"""The engine's one error: what it says, where it comes from, and what is refused before any call."""

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from jaxtyping import Array, Float
from modules_under_contract import Config, Inner, Outer, Row, hidden

from contracts.core import contract
from contracts.errors import ShapeError


@pytest.mark.needs_contracts
def test_the_error_says_what_came_what_was_expected_and_where_the_size_came_from():
    with pytest.raises(ShapeError) as caught:
        Inner(Config())(hidden(2, 5, 7))
    lines = str(caught.value).splitlines()
    assert lines[:5] == [
        "Inner.__call__ broken by argument 'x'",
        "  got       float32[2,5,7]",
        '  expected  Hidden = Float["B T D"]',
        "  because   D is 6 (config.d_model), but axis 2 here is 7",
        "  dims      D=6 (config.d_model)",
    ]
    assert lines[5].startswith("  at        Inner  (modules_under_contract.py:")
    assert lines[6].startswith("  spec      modules_under_contract.py:")
    assert len(lines) == 7


@pytest.mark.needs_contracts
def test_the_error_carries_its_parts_for_programs():
    with pytest.raises(ShapeError) as caught:
        Outer(Config(), cut=1)(hidden(2, 5, 6))
    error = caught.value
    assert (error.contract, error.argument, error.path) == ("Inner.__call__", "the return value", "Outer > .blocks[1]")
    assert error.dims == {"D": 6, "B": 2, "T": 5}


@pytest.mark.needs_contracts
def test_the_same_error_comes_from_under_jit_with_no_exception_chain():
    with pytest.raises(ShapeError, match="T is 5") as caught:
        nnx.jit(lambda model, x: model(x))(Outer(Config(), cut=1), hidden(2, 5, 6))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.needs_contracts
def test_a_wrong_dtype_is_named():
    with pytest.raises(ShapeError, match="because   its dtype is int32, not Float"):
        Inner(Config())(jnp.zeros((2, 5, 6), jnp.int32))


@pytest.mark.needs_contracts
def test_a_parameter_is_refused_with_the_remedy():
    with pytest.raises(ShapeError, match=r"it is a Param, not an Array: pass its array, param\[...\]"):
        Inner(Config())(nnx.Param(hidden(2, 5, 6)))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: jax.jit(lambda x: x), "below the transformation"),
        (lambda: staticmethod(lambda x: x), "put @contract below it"),
        (lambda: _generator, "generator"),
        (lambda: _coroutine, "async"),
        (lambda: _either, '"a" or "b": one array can be both'),
        (lambda: _formatted, "instead of an f-string"),
    ],
)
def test_what_can_not_be_checked_is_refused_at_decoration(make, reason):
    with pytest.raises(ShapeError, match=reason):
        contract(make())


def _generator(x: Row):
    yield x


def _either(x: Float[Array, "a"] | Float[Array, "b"]): ...


def _formatted(x: Float[Array, "{n}"], n: int): ...


async def _coroutine(x: Row) -> Row:
    return x


def test_transformations_see_no_difference():
    module = Outer(Config())
    graph, state = nnx.split(module)

    def loss(state, x):
        return nnx.merge(graph, state)(x).sum()

    x = hidden(4, 5, 6)
    jax.jit(jax.grad(loss, argnums=1))(state, x)
    jax.vmap(lambda row: module(row[None])[0])(x)
    jax.lax.scan(lambda carry, _: (module(carry), None), x, None, length=3)
    jax.checkpoint(module)(x)
    assert jax.eval_shape(module, jax.ShapeDtypeStruct((4, 5, 6), jnp.float32)).shape == (4, 5, 6)


def test_flax_transformations_see_no_difference():
    module, x = Outer(Config()), hidden(4, 5, 6)
    nnx.jit(Outer.__call__)(module, x)
    nnx.value_and_grad(lambda m, x: m(x).sum())(module, x)
    nnx.remat(lambda m, x: m(x))(module, x)
    nnx.vmap(lambda m, x: m(x), in_axes=(None, 0))(module, x[None])
    nnx.scan(lambda m, x: m(x), in_axes=(None, nnx.Carry), out_axes=nnx.Carry, length=3)(module, x)


@pytest.mark.needs_contracts
def test_a_shard_is_checked_with_the_sizes_of_a_shard():
    mesh = jax.make_mesh((1,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    rows = jax.sharding.PartitionSpec("data")

    def sharded(module):
        return jax.jit(jax.shard_map(module, mesh=mesh, in_specs=rows, out_specs=rows))

    sharded(Inner(Config()))(hidden(4, 5, 6))
    with pytest.raises(ShapeError, match="T is 5"):
        sharded(Inner(Config(), cut=1))(hidden(4, 5, 6))


def test_a_donated_array_is_donated_under_a_contract_too():
    donating = jax.jit(lambda x: Inner(Config())(x) + 1, donate_argnums=0)
    given = hidden(4, 5, 6)
    donating(given)
    assert given.is_deleted()


@pytest.mark.needs_contracts
def test_keyword_only_parameters_are_checked_when_none_is_given():
    @contract
    def f(*, x: Row = hidden(2), n: int = 3): ...

    @contract
    def g(*, n: int = 3) -> int:
        return n

    with pytest.raises(ShapeError, match="argument 'x'"):
        f()
    assert g() == 3
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'x'"):
        _keyword_only()


@contract
def _keyword_only(*, x: Row): ...
