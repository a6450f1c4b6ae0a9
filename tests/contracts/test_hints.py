"""However an array is wrapped in a hint, its contract is kept to the last leaf, or refused before the first call."""

import collections
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, ValuesView
from dataclasses import dataclass
from typing import Annotated, Any, Final, Generic, NamedTuple, NewType, NotRequired, TypedDict, TypeVar

import numpy as np
import pytest
from modules_under_contract import Row, np_row
from typing_extensions import TypeAliasType

from contracts.core import contract, through
from contracts.errors import ShapeError

Item = TypeVar("Item")
Rows = TypeVar("Rows", bound=list[Row])
NewRows = NewType("NewRows", list[Row])
AliasRows = TypeAliasType("AliasRows", list[Row])
Nested = TypeAliasType("Nested", "list[Nested] | Row")  # type: ignore[misc]


class Keyed(TypedDict):
    first: Row
    last: Row
    more: NotRequired[Row]


class RowList(list[Row]):
    """A list of rows with a name."""


@dataclass
class Box(Generic[Item]):
    inside: Item


class Boxed(NamedTuple, Generic[Item]):
    inside: Item


def many(bad: bool) -> list[Any]:
    """Forty rows, of which the last may be one column longer."""
    return [np_row(2, 3) for _ in range(39)] + [np_row(2, 4 if bad else 3)]


def named(rows: list[Any]) -> dict[str, Any]:
    return {str(index): row for index, row in enumerate(rows)}


def taking(hint: Any) -> Callable[[Any], None]:
    def f(value): ...

    f.__annotations__["value"] = hint
    return contract(f)


@pytest.mark.needs_contracts
@pytest.mark.parametrize(
    ("hint", "made_of"),
    [
        (Rows, list),
        (NewRows, list),
        (AliasRows, list),
        (Annotated[list[Row], "said of it"], list),
        (Final[list[Row]], list),
        (list["Row"], list),
        (Collection[Row], tuple),
        (collections.deque[Row], collections.deque),
        (ValuesView[Row], lambda rows: named(rows).values()),
        (Mapping[str, Row], named),
        (collections.OrderedDict[str, Row], lambda rows: collections.OrderedDict(named(rows))),
        (Keyed, lambda rows: {"first": rows[0], "last": rows[-1]}),
        (Keyed, lambda rows: {"first": rows[0], "last": rows[0], "more": rows[-1]}),
        (list[NewRows] | None, lambda rows: [rows]),
    ],
)
def test_the_last_leaf_is_checked(hint: Any, made_of: Any):
    f = taking(hint)
    f(made_of(many(bad=False)))
    with pytest.raises(ShapeError, match="T is 3"):
        f(made_of(many(bad=True)))


@pytest.mark.parametrize(
    "hint", [Iterable[Row], Iterator[Row], RowList, Box[Row], Box[list[Row]], Boxed[Row], list[Iterator[Row]]]
)
def test_what_can_not_be_looked_into_is_refused_at_decoration(hint: Any):
    with pytest.raises(ShapeError, match=r"nobody could look at the arrays in .*: use a list"):
        taking(hint)


@pytest.mark.parametrize("hint", [Iterable[int], Iterator[str], Box[int], Callable[[Row], Row], type[Row], Item])
def test_what_holds_no_array_is_left_alone(hint: Any):
    taking(hint)


@pytest.mark.needs_contracts
def test_a_key_that_is_missing_is_named():
    with pytest.raises(ShapeError, match="it lacks 'last'"):
        taking(Keyed)({"first": np_row(2, 3)})


@pytest.mark.needs_contracts
def test_what_is_refused_as_a_hint_is_refused_as_text_at_the_first_call():
    f = taking("Iterator[Row]")
    with pytest.raises(ShapeError, match="nobody could look at the arrays"):
        f(iter([]))
    f = taking("Row | Annotated[Row, 1]")
    f(np_row(2, 3))


def test_a_name_in_quotes_that_is_not_looked_up_is_refused():
    unbound = TypeVar("unbound", bound="list[Row]")
    with pytest.raises(ShapeError, match=r"'list\[Row\]' is a name in quotes that is not looked up here"):
        taking(unbound)


@pytest.mark.needs_contracts
def test_a_protocol_that_nobody_could_check_is_refused_when_it_is_called_through():
    class Streaming:
        def __call__(self, rows: Iterator[Row]) -> None: ...

    class Able:
        def __call__(self, rows: Any) -> None: ...

    with pytest.raises(ShapeError, match="nobody could look at the arrays"):
        through(Streaming, Able())(iter([np.zeros(3)]))
