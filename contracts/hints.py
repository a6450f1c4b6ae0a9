"""What a hint says: the arrays that it names, however they are wrapped, and what of it nobody could check.

A hint is an array, a container of hints whose parts are listed here, or a class; what is none of them and names an
array all the same is refused when a function is decorated, for its array would pass unseen.
"""

import dataclasses
import functools
import itertools
import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from jaxtyping import AbstractArray

_WRAPPERS = (typing.Annotated, typing.Final, typing.ClassVar, typing.Required, typing.NotRequired)


def is_array_hint(hint: Any) -> bool:
    """Whether `hint` is a jaxtyping array such as `Float[Array, "B T D"]`."""
    return isinstance(hint, type) and issubclass(hint, AbstractArray)


def is_pytree_hint(hint: Any) -> bool:
    """Whether `hint` is a jaxtyping tree such as `PyTree[Float[Array, "..."]]`."""
    return (
        isinstance(hint, type) and hasattr(hint, "leaftype") and hasattr(hint, "structure")
    )  # PyTree would import jax


def meaning(hint: Any) -> Any:
    """What `hint` stands for: without `Annotated` and the like, and a type variable, alias or `NewType` spelled out."""
    while True:
        if typing.get_origin(hint) in _WRAPPERS:
            hint = typing.get_args(hint)[0]
        elif isinstance(hint, typing.NewType):
            hint = hint.__supertype__
        elif isinstance(hint, typing.TypeVar):
            hint = typing.Union[hint.__constraints__] if hint.__constraints__ else hint.__bound__ or Any  # noqa: UP007
        elif type(hint).__name__ == "TypeAliasType":  # Python 3.12's `type Name = ...`
            hint = hint.__value__
        else:
            return hint


class Structure(NamedTuple):
    """What a hint of several parts is made of."""

    kind: Literal["union", "tuple", "items", "mapping", "fields", "keys"]
    cls: Any
    parts: tuple[Any, ...]
    """the hints of its parts: one for all `items`, of key and value for a `mapping`"""
    names: tuple[str, ...] = ()
    """of `fields` and `keys`"""


def structure(hint: Any) -> Structure | None:
    """The parts of `hint`, which has its plain meaning; `None` for an array, a class, and whatever else is one thing.

    `fields` are those of a dataclass or NamedTuple, `keys` those of a TypedDict.
    """
    if is_array_hint(hint):
        return None
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return Structure("union", object, arguments)
    if typing.is_typeddict(hint):
        return Structure("keys", hint, tuple(field_hints(hint).values()), tuple(field_hints(hint)))
    if is_record(hint):
        return Structure("fields", hint, tuple(field_hints(hint).values()), tuple(field_hints(hint)))
    if not isinstance(origin, type) or not arguments or is_record(origin) or any(map(_is_unpacked, arguments)):
        return None
    if origin is tuple:
        many = len(arguments) == 2 and arguments[1] is ...
        return Structure("items", tuple, arguments[:1]) if many else Structure("tuple", tuple, arguments)
    if issubclass(origin, Mapping) and len(arguments) == 2:
        return Structure("mapping", origin, arguments)
    if issubclass(origin, Collection) and len(arguments) == 1:
        return Structure("items", origin, arguments)
    return None


def _is_unpacked(hint: Any) -> bool:
    """Whether `hint` stands for several items of a tuple: `*tuple[Row, ...]`."""
    return getattr(hint, "__unpacked__", False) or typing.get_origin(hint) is typing.Unpack


def is_record(hint: Any) -> bool:
    """Whether `hint` is a dataclass or a NamedTuple, whose fields have hints of their own."""
    return isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields"))


@functools.cache
def field_hints(cls: type) -> dict[str, Any]:
    """Name to hint, text resolved, of the fields or keys of a dataclass, NamedTuple or TypedDict."""
    hints = typing.get_type_hints(cls, include_extras=True)
    if typing.is_typeddict(cls):
        return hints
    names = [f.name for f in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else list(cls._fields)  # type: ignore[attr-defined]
    return {name: hints[name] for name in names if name in hints}


def _nodes(hint: Any, seen: tuple[Any, ...] = ()) -> Iterator[tuple[Any, Structure | None]]:
    """`hint` and everything in it, in its plain meaning, with its structure; a class that holds itself is met once."""
    hint = meaning(hint)
    if any(hint is other for other in seen):
        return
    parts = structure(hint)
    yield hint, parts
    inner = (hint.leaftype,) if is_pytree_hint(hint) else parts.parts if parts else ()
    for part in inner:
        yield from _nodes(part, (*seen, hint))


def array_hints(hint: Any) -> Iterator[Any]:
    """Every array hint that `hint` mentions, in containers and unions too."""
    return (node for node, _ in _nodes(hint) if is_array_hint(node))


def has_expression(hint: Any) -> bool:
    """Whether an axis of `hint` is an expression over other dims: `Float[Array, "2*d"]`."""
    words = (word.lstrip("#*?_") for array in array_hints(hint) for word in array.dim_str.split())
    return any(word and word != "..." and not word.isidentifier() and not word.isdigit() for word in words)


def has_text(hint: Any) -> bool:
    """Whether `hint` is a name that is still to be looked up, or holds one: `"Hidden"`, `list["Hidden"]`."""
    return isinstance(hint, (str, typing.ForwardRef)) or any(map(has_text, _arguments(hint)))


def _arguments(hint: Any) -> tuple[Any, ...]:
    """The hints in the brackets of `hint`."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    return () if origin is typing.Literal else arguments[:1] if origin is typing.Annotated else arguments


def problem(hint: Any) -> str:
    """What in `hint` could not be checked, or not decided by looking at one array; empty if nothing."""
    return next(filter(None, (_ambiguity(*node) or _unseen(*node) for node in _nodes(hint))), "")


def _ambiguity(hint: Any, parts: Structure | None) -> str:
    if is_array_hint(hint) and "{" in hint.dim_str:
        return f'"{hint.dim_str}": bind the dim by a config, Annotated[int, Dim(...)], instead of an f-string'
    if parts and parts.kind == "union":
        arms = [arm for arm in map(meaning, parts.parts) if is_array_hint(arm)]
        for first, second in itertools.combinations(arms, 2):
            if first.dim_str != second.dim_str and not _are_disjoint(first, second):
                return f'"{first.dim_str}" or "{second.dim_str}": one array can be both; tell them by rank or dtype'
    return ""


def _are_disjoint(first: Any, second: Any) -> bool:
    """Whether no array can satisfy both hints: other dtypes, another rank, or another fixed size on an axis."""
    if first.dtypes != second.dtypes and not set(map(str, first.dtypes)) & set(map(str, second.dtypes)):
        return True
    if first.index_variadic is not None or second.index_variadic is not None:
        return False
    words = list(zip(first.dim_str.split(), second.dim_str.split(), strict=False))
    sizes_differ = any(a.isdigit() and b.isdigit() and a != b for a, b in words)
    return len(first.dims) != len(second.dims) or sizes_differ


def _unseen(hint: Any, parts: Structure | None) -> str:
    """An array in something that can't be looked into. What a function takes is a type checker's matter."""
    if isinstance(hint, (str, typing.ForwardRef)):
        name = hint if isinstance(hint, str) else hint.__forward_arg__
        return f"'{name}' is a name in quotes that is not looked up here: write the hint out"
    if not _is_hint(hint):
        return f"{hint!r:.60} is a value, not a type"
    if is_pytree_hint(hint) and (inner := _container_of_arrays(hint.leaftype)):
        return f"nobody could look into {inner} as a leaf: write the tree's array, as in PyTree[Row]"
    if parts or is_pytree_hint(hint) or typing.get_origin(hint) in (Callable, type) or not _mentions_array(hint):
        return ""
    return f"nobody could look at the arrays in {spell(hint)}: use a list, tuple, dict, NamedTuple or dataclass"


def _is_hint(hint: Any) -> bool:
    """Whether `hint` is a type or one of the forms that `typing` knows: `[Row]`, `3` and an array are neither."""
    is_known = hint is None or isinstance(hint, type) or typing.get_origin(hint) is not None
    return is_known or type(hint).__module__ in ("types", "typing", "typing_extensions")


def _container_of_arrays(leaf: Any) -> str:
    """Such a container in the leaves of a tree, which jaxtyping samples; empty for arrays and unions of them."""
    inside = [(node, parts) for node, parts in _nodes(leaf) if parts and parts.kind != "union"]
    return next((spell(node) for node, _ in inside if any(array_hints(node))), "")


def _mentions_array(hint: Any, outer: tuple[Any, ...] = ()) -> bool:
    """Whether an array stands anywhere in the brackets of `hint`, its bases' or its generic class's."""
    if is_array_hint(hint) or any(hint is other for other in outer):
        return False
    origin = typing.get_origin(hint)
    inside = (*_arguments(hint), *getattr(hint, "__orig_bases__", ()), *([origin] if origin else []))
    return any(any(array_hints(part)) or _mentions_array(meaning(part), (*outer, hint)) for part in inside)


def spell(hint: Any) -> str:
    """A hint as text that is the same on every machine: `Float["B T D"]`, `Int32["B T"] | None`."""
    if is_array_hint(hint):
        return f'{hint.dtype.__name__}["{hint.dim_str}"]'
    if is_pytree_hint(hint):
        return (
            f"PyTree[{spell(hint.leaftype)}]"
            if hint.structure is None
            else f"PyTree[{spell(hint.leaftype)}, {hint.structure!r}]"
        )
    if hint is None or hint is type(None):
        return "None"
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return spell(arguments[0])
    if origin is typing.Literal:
        return "Literal[" + ", ".join(map(repr, arguments)) + "]"
    if arguments and (origin is typing.Union or getattr(origin, "__name__", "") == "UnionType"):
        return " | ".join(map(spell, arguments))
    if origin is not None and arguments:
        inner = ", ".join("..." if a is ... else spell(a) for a in arguments)
        return f"{getattr(origin, '__name__', origin)}[{inner}]"
    return getattr(hint, "__name__", str(hint))
