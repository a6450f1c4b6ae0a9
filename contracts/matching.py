"""Does a value satisfy a hint? jaxtyping answers for one array; this walks every leaf of every container.

beartype samples one item of a list and no field of a NamedTuple, so a bad leaf late in a list of caches would pass.
"""

import inspect
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from beartype.door import is_bearable
from beartype.roar import BeartypeException
from jaxtyping import AnnotationError

from contracts.errors import ShapeError
from contracts.hints import Structure, has_expression, is_array_hint, is_pytree_hint, meaning, spell, structure


class Mismatch(NamedTuple):
    """The first leaf that breaks its hint: where it sits below the argument, what it is, and why it fails."""

    path: str
    hint: Any
    value: Any
    reason: str


def mismatch(value: Any, hint: Any, path: str = "") -> Mismatch | None:
    """The first leaf of `value` that breaks `hint`, or `None`. Axis names are those of the open jaxtyping scope."""
    if is_array_hint(hint):
        reason = _reason(value, hint)
        return Mismatch(path, hint, value, _plain(reason, hint, value)) if reason else None
    hint = meaning(hint)
    if hint is Any or hint is inspect.Parameter.empty:
        return None
    if is_pytree_hint(hint):
        return _pytree_mismatch(value, hint, path)
    if hint is None or hint is type(None):
        return None if value is None else Mismatch(path, None, value, "it is not None")
    parts = structure(hint)
    if parts is None:
        if is_array_hint(hint):
            return mismatch(value, hint, path)
        if _is_unchecked_protocol(hint) or _is_a(value, hint):
            return None
        return Mismatch(path, hint, value, f"it is {_a(type(value).__name__)}")
    if parts.kind == "union":
        return _union_mismatch(value, hint, parts, path)
    items = _items(value, parts)
    if isinstance(items, str):
        return Mismatch(path, hint, value, items)
    if any(map(has_expression, parts.parts)):
        items.sort(key=lambda item: has_expression(item[2]))  # an expression comes after the dims that it names
    for step, item, item_hint in items:
        found = mismatch(item, item_hint, path + step)
        if found:
            return found
    return None


def array_leaves(value: Any, hint: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """(path, hint, array) of each array below `value`, in the order in which `mismatch` looks at them."""
    hint = meaning(hint)
    if is_array_hint(hint):
        if hasattr(value, "shape"):
            yield path, hint, value
        return
    parts = structure(hint)
    if parts is None:
        return
    if parts.kind == "union":
        for arm in parts.parts:
            yield from array_leaves(value, arm, path)
        return
    items = _items(value, parts)
    for step, item, item_hint in items if isinstance(items, list) else []:
        yield from array_leaves(item, item_hint, path + step)


def _pytree_mismatch(value: Any, hint: Any, path: str) -> Mismatch | None:
    """jaxtyping judges the tree; the first leaf that fails is looked for afterwards, to be named."""
    if value is None:
        return Mismatch(path, hint, value, "it is None, a tree without leaves: say `| None` where that is meant")
    if isinstance(value, hint):
        return None
    if "?" in spell(hint.leaftype):
        return Mismatch(path, hint, value, "a leaf does not fit, or not the leaf at its place in the trees before it")
    tree_util = sys.modules["jax"].tree_util
    for keys, leaf in tree_util.tree_leaves_with_path(value):
        failure = mismatch(leaf, hint.leaftype, path + tree_util.keystr(keys))
        if failure:
            return failure
    return Mismatch(path, hint, value, f"its structure is not the {hint.structure} of the trees before it")


def _union_mismatch(value: Any, hint: Any, parts: Structure, path: str) -> Mismatch | None:
    failures = []
    for arm in parts.parts:
        failure = mismatch(value, arm, path)
        if failure is None:
            return None
        failures.append(failure)
    arrays = [failure for failure in failures if is_array_hint(failure.hint)]
    if value is not None and len(arrays) == 1:
        return arrays[0]  # `Segments | None`: the array is what was meant
    return Mismatch(path, hint, value, "; and ".join(failure.reason for failure in failures))


def _reason(value: Any, hint: Any) -> str:
    """Why the array `value` breaks `hint`, in jaxtyping's words; empty if it does not."""
    try:
        return hint.__instancecheck_str__(value)
    except AnnotationError as error:  # an expression over dims that nothing binds
        raise ShapeError(f"@contract can't check {spell(hint)}: {str(error).split('. ')[0]}") from None


def _is_a(value: Any, hint: Any) -> bool:
    try:
        return is_bearable(value, hint)
    except BeartypeException as error:
        raise ShapeError(f"@contract can't check {spell(hint)}: {str(error).splitlines()[0]}") from None


def _is_unchecked_protocol(hint: Any) -> bool:
    """A Protocol that Python can't check at run time: a type checker's matter, or that of `conforms`."""
    return getattr(hint, "_is_protocol", False) and not getattr(hint, "_is_runtime_protocol", False)


def _items(value: Any, parts: Structure) -> list[tuple[str, Any, Any]] | str:
    """(step, item, hint) of each child of a container; a reason if it is another one."""
    kind: Any = dict if parts.kind == "keys" else parts.cls
    if not isinstance(value, kind):
        return f"it is {_a(type(value).__name__)}, not {_a(parts.cls.__name__)}"
    if parts.kind == "items":
        return [(f"[{i}]", item, parts.parts[0]) for i, item in enumerate(value)]
    if parts.kind == "mapping":
        key_hint, item_hint = parts.parts
        keys = [("", key, key_hint) for key in value]
        return keys + [(f"[{key!r}]", item, item_hint) for key, item in value.items()]
    if parts.kind == "fields":
        return [(f".{name}", getattr(value, name), hint) for name, hint in zip(parts.names, parts.parts, strict=True)]
    if parts.kind == "keys":
        missing = parts.cls.__required_keys__ - value.keys()
        if missing:
            return f"it lacks {', '.join(map(repr, sorted(missing)))}"
        hints = zip(parts.names, parts.parts, strict=True)
        return [(f"[{key!r}]", value[key], hint) for key, hint in hints if key in value]
    if len(value) != len(parts.parts):
        return f"it has {len(value)} items, not {len(parts.parts)}"
    return [(f"[{i}]", item, hint) for i, (item, hint) in enumerate(zip(value, parts.parts, strict=True))]


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
        return f"it is {_a(kind)}, not {_a(wanted)}{remedy}"
    if "has dtype" in reason:
        return f"its dtype is {value.dtype}, not {hint.dtype.__name__}"
    if "dimensions, not the" in reason:
        rank = len(value.shape)
        return f"it has {rank} {'axis' if rank == 1 else 'axes'}, not the {len(hint.dims)} that the contract names"
    return reason


def _a(name: str) -> str:
    """`an Array`, `a Param`."""
    if name == "ndarray":
        return "a NumPy array"
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
