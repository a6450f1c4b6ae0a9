"""Functions and hints that few people write: checked all the same, or refused in words, and never passed over."""

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float, PyTree
from modules_under_contract import Config, Hidden, Row, hidden, np_row

from contracts.core import contract
from contracts.errors import ShapeError

N = Float[Array, "n"]
OneMore = Float[Array, "n+1"]


@dataclass
class Box:
    row: Row


def taking(hint: Any) -> Any:
    def f(value): ...

    f.__annotations__["value"] = hint
    return contract(f)


@pytest.mark.needs_contracts
def test_a_method_may_call_its_object_as_it_likes():
    class Layer:
        config = Config()

        @contract
        def __call__(module, x: Hidden) -> Hidden:
            return x

        @classmethod
        @contract
        def start(cls, x: Hidden) -> Hidden:
            return x

    for call in (Layer(), Layer.start):
        call(hidden(2, 5, 6))
        with pytest.raises(ShapeError, match=r"D is 6 \(config.d_model\), but axis 2 here is 7"):
            call(hidden(2, 5, 7))


@pytest.mark.needs_contracts
def test_the_first_argument_of_a_function_is_no_self():
    @contract
    def apply(layer, x: Hidden) -> Hidden:
        return x

    apply(type("Layer", (), {"config": Config()})(), hidden(2, 5, 7))


@pytest.mark.needs_contracts
def test_a_config_among_further_arguments_binds_its_dims_too():
    @contract
    def f(x: Hidden, *rest: Any, **named: Any) -> None: ...

    for call in (lambda x: f(x, Config()), lambda x: f(x, config=Config())):
        call(hidden(2, 5, 6))
        with pytest.raises(ShapeError, match="D is 6"):
            call(hidden(2, 5, 7))


@pytest.mark.needs_contracts
def test_a_decorator_below_that_changes_the_arguments_is_refused_and_not_passed_over():
    def with_zeros(function):
        @functools.wraps(function)
        def wrapped(y):
            return function(np_row(2, 3), y)

        return wrapped

    @contract
    @with_zeros
    def f(x: Row, y: Row) -> None: ...

    with pytest.raises(ShapeError, match="a decorator below changed what it takes"):
        f(np_row(2, 4))


@pytest.mark.needs_contracts
def test_an_error_in_code_that_stands_in_no_file_is_told_all_the_same():
    names: dict[str, Any] = {"contract": contract, "Row": Row}
    exec("@contract\ndef f(x: Row, y: Row): ...", names)
    with pytest.raises(ShapeError, match="T is 3"):
        names["f"](np_row(2, 3), np_row(2, 4))


@pytest.mark.needs_contracts
def test_the_backward_half_of_a_custom_gradient_is_checked():
    @contract
    def forward(x: Row) -> tuple[Float[Array, ""], Row]:
        return x.sum(), x

    @contract
    def backward(x: Row, slope: Float[Array, ""]) -> tuple[Row]:
        return (x[:, 1:] * slope,)

    total = jax.custom_vjp(lambda x: x.sum())
    total.defvjp(forward, backward)
    with pytest.raises(ShapeError, match=r"backward broken by the return value\[0\]"):
        jax.grad(total)(np_row(2, 3))


@pytest.mark.needs_contracts
def test_an_expression_may_stand_before_the_dim_that_it_names_within_one_argument_or_result():
    @contract
    def f(pair: tuple[OneMore, N]) -> tuple[Float[Array, "m+1"], Float[Array, "m"]]:
        return jnp.zeros(9), jnp.zeros(8 if len(pair[1]) == 3 else 9)

    f((jnp.zeros(4), jnp.zeros(3)))
    with pytest.raises(ShapeError, match=r"argument 'pair'\[0\]"):
        f((jnp.zeros(5), jnp.zeros(3)))
    with pytest.raises(ShapeError, match=r"the return value\[0\]"):
        f((jnp.zeros(3), jnp.zeros(2)))


@pytest.mark.needs_contracts
def test_what_jaxtyping_or_beartype_can_not_read_is_told_in_our_error():
    with pytest.raises(ShapeError, match=r"can't check Float\[\"n\+1\"\]: Cannot process symbolic axis"):
        taking(OneMore)(jnp.zeros(3))
    with pytest.raises(ShapeError, match=r"can't check ndarray\[Any, Any\]"):
        taking(np.ndarray[Any, Any])(np.zeros(3))


@pytest.mark.needs_contracts
def test_a_leaf_that_is_unlike_its_place_in_the_tree_before_is_refused():
    @contract
    def f(one: PyTree[Float[Array, "?n"], "S"], other: PyTree[Float[Array, "?n"], "S"]) -> None: ...

    tree = {"a": jnp.zeros(3), "b": jnp.zeros(4)}
    f(tree, tree)
    with pytest.raises(ShapeError, match="not the leaf at its place"):
        f(tree, tree | {"b": jnp.zeros(5)})


@pytest.mark.parametrize(
    ("hint", "reason"),
    [
        (PyTree[Box], "nobody could look into Box as a leaf"),
        (PyTree[list[Row] | None], "nobody could look into list"),
        (tuple[Row, *tuple[Row, ...]], "nobody could look at the arrays in tuple"),
        ([Row], "is a value, not a type"),
        ((Row, Row), "is a value, not a type"),
        (np.zeros(3), "is a value, not a type"),
        (list[3], "3 is a value, not a type"),  # type: ignore[valid-type]
    ],
)
def test_a_hint_that_could_not_be_checked_to_the_last_leaf_is_refused_at_decoration(hint: Any, reason: str):
    with pytest.raises(ShapeError, match=reason):
        taking(hint)


@pytest.mark.parametrize(
    "hint", [PyTree, PyTree[Row], PyTree[Row | None], PyTree[int], PyTree[Any], tuple[int, *tuple[int, ...]]]
)
def test_a_tree_of_arrays_and_a_tuple_of_numbers_are_left_alone(hint: Any):
    taking(hint)
