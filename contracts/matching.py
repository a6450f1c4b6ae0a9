"""Does a value satisfy a hint? jaxtyping answers for one array; this walks every leaf of every container.

beartype samples one item of a list and no field of a NamedTuple, so a bad leaf late in a list of caches would pass.
"""

import dataclasses
import functools
import inspect
import itertools
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from beartype.door import is_bearable
from jaxtyping import AbstractArray


class Mismatch(NamedTuple):
    """The first leaf that breaks its hint: where it sits below the argument, what it is, and why it fails."""

    path: str
    hint: Any
    value: Any
    reason: str


def is_array_hint(hint: Any) -> bool:
    """Whether `hint` is a jaxtyping array such as `Float[Array, "B T D"]`."""
    return isinstance(hint, type) and issubclass(hint, AbstractArray)


def array_hints(hint: Any) -> Iterator[Any]:
    """Every array hint that `hint` mentions, in containers and unions too."""
    if is_array_hint(hint):
        yield hint
    elif is_pytree_hint(hint):
        yield from array_hints(hint.leaftype)
    elif isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
        for _, field_hint in _field_hints(hint):
            yield from array_hints(field_hint)
    else:
        for argument in typing.get_args(hint):
            yield from array_hints(argument)


def has_expression(hint: Any) -> bool:
    """Whether an axis of `hint` is an expression over other dims: `Float[Array, "2*d"]`."""
    words = (word.lstrip("#*?_") for array in array_hints(hint) for word in array.dim_str.split())
    return any(word and word != "..." and not word.isidentifier() and not word.isdigit() for word in words)


def ambiguity(hint: Any) -> str:
    """What in `hint` could not be decided by looking at one array; empty if nothing."""
    for array in array_hints(hint):
        if "{" in array.dim_str:
            return f'"{array.dim_str}": bind the dim by a config, Annotated[int, Dim(...)], instead of an f-string'
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        arms = [arm for arm in typing.get_args(hint) if is_array_hint(arm)]
        for first, second in itertools.combinations(arms, 2):
            if first.dim_str != second.dim_str and not _are_disjoint(first, second):
                return f'"{first.dim_str}" or "{second.dim_str}": one array can be both; tell them by rank or dtype'
    return next(filter(None, map(ambiguity, typing.get_args(hint))), "")


def _are_disjoint(first: Any, second: Any) -> bool:
    """Whether no array can satisfy both hints: other dtypes, another rank, or another fixed size on an axis."""
    if first.dtypes != second.dtypes and not set(map(str, first.dtypes)) & set(map(str, second.dtypes)):
        return True
    if first.index_variadic is not None or second.index_variadic is not None:
        return False
    words = list(zip(first.dim_str.split(), second.dim_str.split(), strict=False))
    sizes_differ = any(a.isdigit() and b.isdigit() and a != b for a, b in words)
    return len(first.dims) != len(second.dims) or sizes_differ


def is_pytree_hint(hint: Any) -> bool:
    """Whether `hint` is a jaxtyping tree such as `PyTree[Float[Array, "..."]]`."""
    return (
        isinstance(hint, type) and hasattr(hint, "leaftype") and hasattr(hint, "structure")
    )  # PyTree would import jax


def mismatch(value: Any, hint: Any, path: str = "") -> Mismatch | None:
    """The first leaf of `value` that breaks `hint`, or `None`. Axis names are those of the open jaxtyping scope."""
    if is_array_hint(hint):
        reason = hint.__instancecheck_str__(value)
        return Mismatch(path, hint, value, _plain(reason, hint, value)) if reason else None
    if hint is Any or hint is inspect.Parameter.empty:
        return None
    if is_pytree_hint(hint):
        return _pytree_mismatch(value, hint, path)
    if hint is None or hint is type(None):
        return None if value is None else Mismatch(path, None, value, "it is not None")
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return mismatch(value, typing.get_args(hint)[0], path)
    if origin in (typing.Union, types.UnionType):
        return _union_mismatch(value, hint, path)
    items = _leaves(value, hint, origin)
    if items is None:
        if _is_unchecked_protocol(hint) or is_bearable(value, hint):
            return None
        return Mismatch(path, hint, value, f"it is a {type(value).__name__}")
    if isinstance(items, str):
        return Mismatch(path, hint, value, items)
    for step, item, item_hint in items:
        found = mismatch(item, item_hint, path + step)
        if found:
            return found
    return None


def quick_match(hint: Any) -> Callable[[Any], bool] | None:
    """A quick yes for what most signatures consist of: one array, a plain class, a container of plain classes.

    A no says nothing about the reason; ask `mismatch`, which is also the only judge of every other hint (`None`).
    """
    if is_array_hint(hint):
        explain = hint.__instancecheck_str__
        return lambda value: not explain(value)
    if _is_plain_class(hint):
        return lambda value: isinstance(value, hint)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if not arguments or not all(argument is ... or _is_plain_class(argument) for argument in arguments):
        return None
    if origin is tuple and len(arguments) == 2 and arguments[1] is ...:
        item = arguments[0]
        return lambda value: isinstance(value, tuple) and all(isinstance(x, item) for x in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, item = arguments
        return lambda value: (
            isinstance(value, origin) and all(isinstance(k, key) and isinstance(x, item) for k, x in value.items())
        )
    if isinstance(origin, type) and issubclass(origin, (Sequence, set, frozenset)) and origin is not tuple:
        item = arguments[0]
        return lambda value: isinstance(value, origin) and all(isinstance(x, item) for x in value)
    return None


def _is_plain_class(hint: Any) -> bool:
    """A class that holds nothing to look into: no dataclass, no NamedTuple, no protocol."""
    return type(hint) is type and not dataclasses.is_dataclass(hint) and not hasattr(hint, "_fields")


def array_leaves(value: Any, hint: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """(path, hint, array) of each array below `value`, in the order in which `mismatch` looks at them."""
    if is_array_hint(hint):
        if hasattr(value, "shape"):
            yield path, hint, value
        return
    if typing.get_origin(hint) in (typing.Union, types.UnionType, typing.Annotated):
        for arm in typing.get_args(hint):
            if is_array_hint(arm):
                yield from array_leaves(value, arm, path)
        return
    items = _leaves(value, hint, typing.get_origin(hint))
    for step, item, item_hint in items if isinstance(items, list) else []:
        yield from array_leaves(item, item_hint, path + step)


def _pytree_mismatch(value: Any, hint: Any, path: str) -> Mismatch | None:
    """jaxtyping judges the tree; the first leaf that fails is looked for afterwards, to be named."""
    if value is None:
        return Mismatch(path, hint, value, "it is None, a tree without leaves: say `| None` where that is meant")
    if isinstance(value, hint):
        return None
    tree_util = sys.modules["jax"].tree_util
    for keys, leaf in tree_util.tree_leaves_with_path(value):
        failure = mismatch(leaf, hint.leaftype, path + tree_util.keystr(keys))
        if failure:
            return failure
    return Mismatch(path, hint, value, f"its structure is not the {hint.structure} of the trees before it")


def _union_mismatch(value: Any, hint: Any, path: str) -> Mismatch | None:
    failures = []
    for arm in typing.get_args(hint):
        failure = mismatch(value, arm, path)
        if failure is None:
            return None
        failures.append(failure)
    arrays = [failure for failure in failures if is_array_hint(failure.hint)]
    if value is not None and len(arrays) == 1:
        return arrays[0]  # `Segments | None`: the array is what was meant
    return Mismatch(path, hint, value, "; and ".join(failure.reason for failure in failures))


def _is_unchecked_protocol(hint: Any) -> bool:
    """A Protocol that Python can't check at run time: a type checker's matter, or that of `conforms`."""
    return getattr(hint, "_is_protocol", False) and not getattr(hint, "_is_runtime_protocol", False)


def _leaves(value: Any, hint: Any, origin: Any) -> list[tuple[str, Any, Any]] | str | None:
    """(step, item, hint) of each child; a reason if the structure is wrong; `None` if `hint` is no container."""
    arguments = typing.get_args(hint)
    if origin is tuple and arguments:
        if not isinstance(value, tuple):
            return f"it is a {type(value).__name__}, not a tuple"
        hints = (arguments[0],) * len(value) if len(arguments) == 2 and arguments[1] is ... else arguments
        if len(hints) != len(value):
            return f"it has {len(value)} items, not {len(hints)}"
        return [(f"[{i}]", item, item_hint) for i, (item, item_hint) in enumerate(zip(value, hints, strict=True))]
    if isinstance(origin, type) and issubclass(origin, Mapping) and arguments:
        if not isinstance(value, origin):
            return f"it is a {type(value).__name__}, not a {origin.__name__}"
        keys = [("", key, arguments[0]) for key in value]
        return keys + [(f"[{key!r}]", item, arguments[1]) for key, item in value.items()]
    if isinstance(origin, type) and issubclass(origin, (Sequence, set, frozenset)) and arguments:
        if not isinstance(value, origin):
            return f"it is a {type(value).__name__}, not a {origin.__name__}"
        return [(f"[{i}]", item, arguments[0]) for i, item in enumerate(value)]
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
        if not isinstance(value, hint):
            return f"it is a {type(value).__name__}, not a {hint.__name__}"
        return [(f".{name}", getattr(value, name), field_hint) for name, field_hint in _field_hints(hint)]
    return None


@functools.cache
def _field_hints(cls: type) -> tuple[tuple[str, Any], ...]:
    """The fields of a dataclass or NamedTuple that can hold an array, with resolved hints."""
    names = [f.name for f in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else list(cls._fields)  # type: ignore[attr-defined]
    hints = typing.get_type_hints(cls, include_extras=True)
    return tuple((name, hints[name]) for name in names if name in hints)


def _plain(reason: str, hint: Any, value: Any) -> str:
    """jaxtyping's reason in the words of the error, with the remedy where there is a usual one."""
    if "not an instance of the underlying array type" in reason:
        kind = type(value).__name__
        remedy = {
            "Param": ": pass its array, param[...]",
            "Variable": ": pass its array, variable[...]",
            "ShapeDtypeStruct": ": call through jax.eval_shape",
            "ndarray": ": pass it through jnp.asarray",
        }.get(kind, "")
        wanted = hint.array_type.__name__.rsplit(".", 1)[-1]  # jax.Array calls itself jaxlib._jax.Array
        return f"it is a {kind}, not a {wanted}{remedy}"
    if "has dtype" in reason:
        return f"its dtype is {value.dtype}, not {hint.dtype.__name__}"
    if "dimensions, not the" in reason:
        rank = len(value.shape)
        return f"it has {rank} {'axis' if rank == 1 else 'axes'}, not the {len(hint.dims)} that the contract names"
    return reason
