"""The quick yes of a call: never a yes where jaxtyping says no, and no reason to look less closely."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import Array, Float, Float32, Int32, Shaped, jaxtyped
from modules_under_contract import Cache, Config, Hidden, Row, hidden, np_row

from contracts.core import contract
from contracts.errors import ShapeError
from contracts.matching import mismatch
from contracts.quick import quick_match


class Pair(NamedTuple):
    row: Row
    ids: Int32[Array, "B"] | None


WORDS = ["B", "T", "2", "3", "_", "#B", "*rest", "...", "2*B", "_free"]
_dims = st.lists(st.sampled_from(WORDS), max_size=3).filter(lambda words: sum(w in ("*rest", "...") for w in words) < 2)
_arrays = st.builds(
    lambda dtype, dims, kind: dtype[kind, " ".join(dims)],
    st.sampled_from([Float, Float32, Int32, Shaped]),
    _dims,
    st.sampled_from([Array, np.ndarray, Any]),
)
_hints = st.recursive(
    st.one_of(_arrays, st.sampled_from([Row, Hidden, Pair, Cache, int, None])),
    lambda inner: st.one_of(
        st.builds(lambda item: list[item], inner),
        st.builds(lambda item: dict[str, item], inner),
        st.builds(lambda one, other: tuple[one, other], inner, inner),
        st.builds(lambda one, other: one | other, st.sampled_from([Row, Hidden]), st.sampled_from([None, list[Row]])),
    ),
    max_leaves=3,
)
_shapes = st.lists(st.integers(1, 3), max_size=3).map(tuple)
_leaves = st.one_of(
    st.builds(lambda shape, dtype: jnp.asarray(np.zeros(shape, dtype)), _shapes, st.sampled_from(["f4", "i4"])),
    st.builds(lambda shape: np.zeros(shape, "f4"), _shapes),
    st.sampled_from([None, 1, jnp.float32]),
)
_values = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        st.tuples(inner, inner),
        st.builds(Pair, inner, inner),
        st.builds(Cache, inner, inner),
    ),
    max_leaves=4,
)


@given(st.lists(st.tuples(_hints, _values), min_size=1, max_size=3))
def test_what_it_lets_pass_is_what_jaxtyping_lets_pass_with_the_same_sizes(arguments):
    matches, sizes = [quick_match(hint) for hint, _ in arguments], {}
    if any(match is None for match in matches):
        return
    said_yes = all(match(value, sizes) for match, (_, value) in zip(matches, arguments, strict=True))
    with jaxtyped("context"):
        failures = [failure for hint, value in arguments if (failure := mismatch(value, hint))]
        assert not (said_yes and failures), failures
        if said_yes:
            assert all(isinstance(np.zeros(size), Shaped[np.ndarray, dim]) for dim, size in sizes.items())


@pytest.mark.parametrize("hint", [Row, Row | None, Pair, list[Cache], dict[str, Row], tuple[Row, ...], list[int], int])
def test_the_usual_hints_have_a_quick_yes(hint):
    assert quick_match(hint) is not None


@pytest.mark.parametrize("dims", ["... T", "*rest", "2*B", "#B", "_"])
def test_an_axis_that_is_more_than_a_name_is_left_to_jaxtyping(dims):
    assert quick_match(list[Float[Array, dims]]) is None


def test_an_arm_of_a_union_that_fails_half_way_binds_nothing():
    match, sizes = quick_match(Float[Array, "B 3"] | Float[Array, "T 2"]), {}
    assert match is not None
    assert match(np_row(5, 2), sizes)
    assert sizes == {"T": 5}


@pytest.mark.parametrize("value", [(), (1,), (1, "a", "b"), (1, 2), [1, "a"]])
def test_a_tuple_of_another_length_or_kind_gets_no_quick_yes(value):
    match = quick_match(tuple[int, str])
    assert match is not None
    assert match((1, "a"), {})
    assert not match(value, {})


@pytest.mark.needs_contracts
def test_a_class_that_holds_itself_is_checked_to_its_end():
    class Node(NamedTuple):
        row: Row
        rest: "tuple[Node, ...]"

    Node.__annotations__["rest"] = tuple[Node, ...]

    @contract
    def f(node: Node) -> None: ...

    f(Node(np_row(2, 3), (Node(np_row(2, 3), ()),)))
    with pytest.raises(ShapeError, match=r"argument 'node'\.rest\[0\]\.row"):
        f(Node(np_row(2, 3), (Node(np_row(2, 4), ()),)))


@pytest.mark.needs_contracts
def test_the_second_call_is_looked_at_as_closely_as_the_first():
    @contract
    def f(caches: list[Cache]) -> None: ...

    caches = [Cache(np_row(2, 3), np_row(2, 3)) for _ in range(3)]
    for _ in range(3):
        f(caches)
    caches[2] = caches[2]._replace(values=np_row(2, 4))
    with pytest.raises(ShapeError, match=r"caches'\[2\]\.values"):
        f(caches)


@pytest.mark.needs_contracts
@pytest.mark.parametrize("third", [Row, Float[Array, "... T"]], ids=["quick", "jaxtyping"])
def test_inside_a_function_jaxtyping_knows_the_sizes_of_config_and_arguments(third):
    def f(config: Config, x: Hidden, y) -> None:
        assert isinstance(x, Hidden)
        assert not isinstance(x[:, :, 1:], Hidden)
        assert not isinstance(x[:, 1:], Hidden)

    f.__annotations__["y"] = third
    assert (quick_match(third) is None) == (third is not Row)
    contract(f)(Config(), hidden(2, 5, 6), np_row(2, 5))


@pytest.mark.needs_contracts
def test_a_wrong_result_after_a_quick_yes_is_refused_with_the_sizes_of_the_arguments():
    @contract
    def f(config: Config, x: Hidden) -> Hidden:
        return x[:, 1:]

    with pytest.raises(ShapeError, match=r"T is 5 \(x axis 1\), but axis 1 here is 4"):
        f(Config(), hidden(2, 5, 6))


@pytest.mark.needs_contracts
def test_sizes_known_by_name_only_are_compared_too():
    @contract
    def f(x: Row, y: Row) -> Row:
        return x

    b, t = jax.export.symbolic_shape("b, t")
    one, other = (jax.ShapeDtypeStruct((b, size), jnp.float32) for size in (t, t + 1))
    assert jax.eval_shape(f, one, one).shape == (b, t)
    with pytest.raises(ShapeError, match="T is t"):
        jax.eval_shape(f, one, other)
