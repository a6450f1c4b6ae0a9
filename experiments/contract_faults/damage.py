"""Faults at a crossing: one array that a function takes or returns is damaged on its way, alone or deep in a container.

Each damage is what a slip of the pen does: two axes swapped, an axis too many, a slice off by one, another dtype.
"""

import dataclasses
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp

from contracts.hints import is_array_hint

Step = str | int
"""an attribute's name, or an index; of a mapping, the index of its key"""


class Damage(NamedTuple):
    """One way to spoil an array."""

    fault: str
    what: str
    change: Callable[[Any], Any]
    least_rank: int = 0
    kinds: str = "fi"
    """of floats, of integers"""
    of_arguments: bool = False
    """done to arguments too; every other one is done to results alone, where it is the same fault"""


DAMAGES: Mapping[str, Damage] = {
    damage.what: damage
    for damage in (
        Damage("axes swapped", "axes 0 and 1 swapped", lambda x: x.swapaxes(0, 1), 2, of_arguments=True),
        Damage("axes swapped", "axes 1 and 2 swapped", lambda x: x.swapaxes(1, 2), 3),
        Damage("axes swapped", "axes 2 and 3 swapped", lambda x: x.swapaxes(2, 3), 4, of_arguments=True),
        Damage("axis dropped or added", "first axis dropped", lambda x: x[0], 1),
        Damage("axis dropped or added", "an axis added in front", lambda x: x[None], of_arguments=True),
        Damage("slice shifted", "begins one position late", lambda x: x[:, 1:], 2, of_arguments=True),
        Damage("slice shifted", "last axis one short", lambda x: x[..., :-1], 3),
        Damage("slice shifted", "turned round by one position", lambda x: jnp.roll(x, 1, axis=1), 2),
        Damage("dtype changed", "as bfloat16", lambda x: x.astype(jnp.bfloat16), kinds="f", of_arguments=True),
        Damage("dtype changed", "as int32", lambda x: x.astype(jnp.int32), kinds="f"),
        Damage("dtype changed", "as float32", lambda x: x.astype(jnp.float32), kinds="i", of_arguments=True),
        Damage("T in blocks of four", "by way of blocks of four", lambda x: _blocks(x).reshape(x.shape), 2),
        Damage("T in blocks of four", "cut to blocks of four", lambda x: x[:, : x.shape[1] // 4 * 4], 2),
        Damage("returned value", "None instead", lambda x: None),
    )
}

#: What is done to a leaf of a container, where a checker may not look.
OF_LEAVES = ("axes 0 and 1 swapped", "axes 2 and 3 swapped", "begins one position late", "as bfloat16", "as float32")


def _blocks(x: Any) -> Any:
    return x.reshape(x.shape[0], x.shape[1] // 4, 4, *x.shape[2:])


def damaged(value: Any, path: tuple[Step, ...], what: str) -> Any:
    """`value` with the array at `path` spoilt; what is None stays None."""
    if not path:
        return None if value is None else DAMAGES[what].change(value)
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        changed = damaged(getattr(value, step), rest, what)
        if isinstance(value, tuple):
            return value._replace(**{step: changed})  # type: ignore[attr-defined]
        return dataclasses.replace(value, **{step: changed})
    if isinstance(value, dict):
        key = list(value)[step]
        return {**value, key: damaged(value[key], rest, what)}
    items = list(value)
    items[step] = damaged(items[step], rest, what)
    return type(value)(items)


class Leaf(NamedTuple):
    """An array that a hint names, and how to get there."""

    path: tuple[Step, ...]
    hint: Any
    in_container: bool

    def damages(self, of_argument: bool) -> Iterator[Damage]:
        """What can be done to it."""
        kind, rank = "i" if "int32" in self.hint.dtypes else "f", len(self.hint.dims)
        for damage in DAMAGES.values():
            chosen = damage.what in OF_LEAVES if self.in_container else damage.of_arguments or not of_argument
            if chosen and kind in damage.kinds and rank >= damage.least_rank:
                yield damage

    def spelled(self) -> str:
        """`[0].keys`"""
        return "".join(f".{step}" if isinstance(step, str) else f"[{step}]" for step in self.path)


def leaves(hint: Any, path: tuple[Step, ...] = (), in_container: bool = False) -> Iterator[Leaf]:
    """Every array that `hint` names; of a list or mapping the first and the last."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if is_array_hint(hint):
        yield Leaf(path, hint, in_container)
    elif origin in (typing.Union, types.UnionType):
        for arm in arguments:
            yield from leaves(arm, path, in_container)
    elif origin is tuple:
        for index, item in enumerate(arguments):
            yield from leaves(item, (*path, index), in_container)
    elif origin in (list, dict):
        for index in (0, -1):
            yield from leaves(arguments[-1], (*path, index), True)
    elif isinstance(hint, type) and hasattr(hint, "_fields"):
        for name, field in typing.get_type_hints(hint).items():
            yield from leaves(field, (*path, name), True)
