"""Every leaf of every argument is checked, whatever container, union or tree it stands in."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import Array, Float, Int32, PRNGKeyArray, PyTree
from modules_under_contract import Cache, Config, Hidden, Inner, Layer, Row, hidden, np_row

from contracts.core import contract
from contracts.errors import ShapeError

pytestmark = pytest.mark.needs_contracts


@given(length=st.integers(1, 12), bad=st.integers(0, 11), field=st.sampled_from(["keys", "values"]))
def test_every_leaf_of_a_list_of_tuples_is_checked(length, bad, field):
    @contract
    def total(caches: list[Cache]) -> None: ...

    caches = [Cache(np_row(2, 3), np_row(2, 3)) for _ in range(length)]
    total(caches)
    if bad < length and length > 1:
        caches[bad] = caches[bad]._replace(**{field: np_row(2, 4)})
        with pytest.raises(ShapeError, match="T is"):
            total(caches)


def test_every_value_of_a_dict_is_checked_and_named():
    @contract
    def f(caches: dict[str, Row]) -> None: ...

    with pytest.raises(ShapeError, match=r"argument 'caches'\['late'\]") as caught:
        f({"early": np_row(2, 3), "late": np_row(2, 4)})
    assert "T is 3 (caches['early'] axis 1), but axis 1 here is 4" in str(caught.value)


def test_variadic_and_keyword_and_default_arguments_are_checked():
    @contract
    def f(*rows: Row, scale: Float[Array, ""] | None = None, **named: Row) -> None: ...

    f(np_row(2, 3), np_row(2, 3), other=np_row(2, 3))
    with pytest.raises(ShapeError, match=r"argument 'rows\[1\]'"):
        f(np_row(2, 3), np_row(2, 4))
    with pytest.raises(ShapeError, match=r"argument 'named\['other'\]'"):
        f(np_row(2, 3), other=np_row(2, 4))
    with pytest.raises(ShapeError, match="argument 'scale'"):
        f(scale=np_row(2, 3))


def test_an_optional_array_blames_the_array_and_not_the_union():
    @contract
    def f(x: Row, segments: Int32[Array, "B T"] | None) -> None: ...

    f(np_row(2, 3), None)
    with pytest.raises(ShapeError, match=r"T is 3 \(x axis 1\), but axis 1 here is 4"):
        f(np_row(2, 3), jnp.zeros((2, 4), jnp.int32))


def test_dims_come_from_any_argument_that_is_a_config():
    @contract
    def f(config: Config, x: Hidden) -> None: ...

    f(Config(d_model=3), hidden(1, 1, 3))
    with pytest.raises(ShapeError, match=r"D is 4 \(config.d_model\)"):
        f(Config(d_model=4), hidden(1, 1, 3))


def test_an_expression_is_checked_after_the_dims_that_it_names():
    @contract
    def f(pairs: Float[Array, "2*d"], x: Float[Array, "d"]) -> Float[Array, "d+1"]:
        return jnp.zeros(x.shape[0] + 1)

    f(np_row(6), np_row(3))
    with pytest.raises(ShapeError, match="argument 'pairs'"):
        f(np_row(5), np_row(3))


def test_annotations_given_as_text_are_checked_and_unknown_names_refused():
    @contract
    def f(x: "Row") -> "Row":
        return x

    @contract
    def g(x: "Nowhere"): ...

    with pytest.raises(ShapeError, match="it has 1 axis, not the 2"):
        f(np_row(2))
    with pytest.raises(ShapeError, match="name 'Nowhere' is not defined"):
        g(1)


def test_the_bad_leaf_of_a_tree_is_named_and_none_is_no_tree():
    @contract
    def f(tree: PyTree[Float[Array, "..."]]) -> None: ...

    f({"a": [np_row(2)]})
    with pytest.raises(ShapeError, match=r"argument 'tree'\['a'\]\[0\]"):
        f({"a": [jnp.zeros(2, int)]})
    with pytest.raises(ShapeError, match="a tree without leaves"):
        f(None)


@pytest.mark.parametrize("value", [np.zeros(3, np.float32), jax.ShapeDtypeStruct((3,), jnp.float32), None, 3.0, [1.0]])
def test_what_is_no_jax_array_is_refused(value):
    @contract
    def f(x: Float[Array, "a"]) -> None: ...

    with pytest.raises(ShapeError, match="it is a"):
        f(value)


def test_keys_old_and_new_and_parameters_are_accepted_where_asked_for():
    @contract
    def f(key: PRNGKeyArray, kernel: Float[nnx.Param, "a b"]) -> None: ...

    for key in (jax.random.key(0), jax.random.PRNGKey(0)):
        f(key, nnx.Param(np_row(2, 3)))
    with pytest.raises(ShapeError, match="argument 'kernel'"):
        f(key, nnx.Param(np_row(2)))


def test_pythons_own_error_comes_for_an_argument_that_does_not_exist():
    with pytest.raises(TypeError, match=r"__call__\(\) got an unexpected keyword argument 'y'"):
        Inner(Config())(x=hidden(1, 1, 6), y=1)


def test_a_protocol_that_python_can_not_check_is_left_to_the_type_checker():
    @contract
    def f(layer: Layer, x: Row) -> Row:
        return x

    f(object(), np_row(2, 3))
    with pytest.raises(ShapeError, match="argument 'x'"):
        f(object(), np_row(2))


def test_a_union_arm_may_be_missing_from_a_return():
    @contract
    def f(x: Row) -> tuple[Row, Row]:
        return x, x[:1]

    with pytest.raises(ShapeError, match=r"the return value\[1\]"):
        f(np_row(2, 3))


@pytest.mark.parametrize(
    ("hint", "good", "bad"),
    [
        (tuple[str, ...], ("a", "b"), ("a", 1)),
        (list[int], [1, 2], [1, "2"]),
        (dict[str, int], {"a": 1}, {"a": "1"}),
        (frozenset[int], frozenset({1}), frozenset({"1"})),
    ],
)
def test_the_last_item_of_a_container_without_arrays_is_checked_too(hint, good, bad):
    def f(items): ...

    f.__annotations__["items"] = hint
    checked = contract(f)
    checked(good)
    with pytest.raises(ShapeError, match="argument 'items'"):
        checked(bad)
