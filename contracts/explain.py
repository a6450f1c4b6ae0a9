"""One flat error for a broken contract: what came, what was expected, why, and where the expected size came from.

Everything here runs only after a contract broke, so it may be slow and must never raise.
"""

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from contracts.errors import ShapeError
from contracts.hints import array_hints, is_array_hint, spell
from contracts.matching import Mismatch, array_leaves


class Bound(NamedTuple):
    """The size of a dim and where it came from: `config.head_dim`, `x axis 1`."""

    size: Any
    source: str


def shape_error(
    *,
    contract: str,
    argument: str,
    failure: Mismatch,
    config_dims: dict[str, Bound],
    checked: list[tuple[str, Any, Any]],
    function: Any,
    spec: Any,
    hints: dict[str, Any],
    owners: list[Any],
) -> ShapeError:
    """The error for `failure` in `function`, whose annotations stand at `spec` (itself, or a protocol's method).

    `checked` are the (name, hint, value) that held; `owners` the modules whose calls we are inside of.
    """
    dims = dict(config_dims)
    for name, hint, value in checked:
        for path, leaf_hint, leaf in array_leaves(value, hint, name):
            if leaf is failure.value:
                break  # what the failing array would have bound is no reason
            for dim, bound in _axes(leaf_hint, leaf, path):
                dims.setdefault(dim, bound)
    used = {word for hint in hints.values() for word in _dim_words(hint)}
    dims = {dim: bound for dim, bound in dims.items() if dim in used}
    alias = _alias(failure.hint, spec)
    path = module_path(owners)
    place = f"{path}  ({_place(function)})" if path else _place(function)
    lines = [
        f"{contract} broken by {argument}{failure.path}",
        f"  got       {show(failure.value)}",
        f"  expected  {f'{alias[0]} = ' if alias else ''}{spell(failure.hint)}",
        f"  because   {_because(failure, dims)}",
        f"  dims      {'  '.join(f'{d}={b.size} ({b.source})' for d, b in dims.items()) or 'none bound yet'}",
        f"  at        {place}",
    ]
    if alias and alias[1]:
        lines.append(f"  spec      {alias[1]}")
    return ShapeError(
        "\n".join(lines),
        contract=contract,
        argument=argument + failure.path,
        dims={dim: bound.size for dim, bound in dims.items()},
        path=path,
    )


def _dim_words(hint: Any) -> list[str]:
    """Every axis name that `hint` mentions, those inside expressions such as `2*D` too."""
    return [word for array in array_hints(hint) for word in re.findall(r"[A-Za-z]\w*", array.dim_str)]


def show(value: Any) -> str:
    """`float32[2,5,3]` for an array, a short repr for anything else. Never the values of an array."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        with contextlib.suppress(Exception):
            return f"{dtype}[{','.join(map(str, shape))}]"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


def _because(failure: Mismatch, dims: dict[str, Bound]) -> str:
    """The reason with both sizes and the source of the expected one, where an axis is to blame."""
    if is_array_hint(failure.hint) and hasattr(failure.value, "shape"):
        for dim, got in _axes(failure.hint, failure.value, "here"):
            expected = dims.get(dim)
            if expected is not None and str(expected.size) != str(got.size):
                axis = got.source.removeprefix("here ")
                return f"{dim} is {expected.size} ({expected.source}), but {axis} here is {got.size}"
    return failure.reason


def _axes(hint: Any, value: Any, name: str) -> Iterator[tuple[str, Bound]]:
    """Each plainly named axis of the array `value` with its size; expressions and `*dims` are left out."""
    shape = getattr(value, "shape", None)
    words = hint.dim_str.split()
    if shape is None:
        return
    variadic = next((i for i, word in enumerate(words) if word.startswith("*") or word == "..."), None)
    if variadic is None and len(words) != len(shape):
        return
    for i, word in enumerate(words):
        axis = i if variadic is None or i < variadic else len(shape) - len(words) + i
        if i != variadic and word.isidentifier() and not word.startswith("_") and 0 <= axis < len(shape):
            yield word, Bound(shape[axis], f"{name} axis {axis}")


def module_path(owners: list[Any]) -> str:
    """`Decoder > .blocks[3] > .attention`: how the innermost module hangs in the outermost."""
    parts: list[str] = []
    for outer, inner in zip([None, *owners], owners, strict=False):
        if inner is outer:
            continue
        below = _find(outer, inner) if outer is not None else ""
        parts.append(below or type(inner).__name__)
    return " > ".join(parts)


def _find(outer: Any, inner: Any, depth: int = 3) -> str:
    """The attribute path from `outer` to `inner`, by identity within `depth`; empty if there is none.

    A module that a scan or a checkpoint rebuilt is found as the only child of its class.
    """
    level, first_level = [("", outer)], list(_children(outer))
    for _ in range(depth):
        below = []
        for path, parent in level:
            for step, child in _children(parent):
                if child is inner:
                    return path + step
                below.append((path + step, child))
        level = below
    same_kind = [path for path, child in first_level if type(child) is type(inner)]
    return same_kind[0] if len(same_kind) == 1 else ""


def _children(parent: Any) -> Iterator[tuple[str, Any]]:
    attributes = getattr(parent, "__dict__", None) or {}
    with contextlib.suppress(Exception):
        if isinstance(parent, (list, tuple)) or type(parent).__name__ in ("List", "Sequential"):
            yield from ((f"[{i}]", item) for i, item in enumerate(parent))
            return
        if isinstance(parent, dict):
            yield from ((f"[{key!r}]", item) for key, item in parent.items())
            return
    for name, child in attributes.items():
        if not name.startswith("_") and not hasattr(child, "shape"):
            yield f".{name}", child


def _alias(hint: Any, spec: Any) -> tuple[str, str] | None:
    """The name under which `spec`'s module knows `hint`, and the line that defines it."""
    for name, value in getattr(spec, "__globals__", {}).items():
        if value is hint and is_array_hint(hint):
            return name, _definition(name, hint)
    return None


def _definition(name: str, hint: Any) -> str:
    for module in list(sys.modules.values()):
        if vars(module).get(name) is not hint:
            continue
        with contextlib.suppress(OSError, TypeError, UnicodeDecodeError):
            file = module.__file__
            if file is None:
                continue
            with open(file, encoding="utf-8") as source:
                for number, line in enumerate(source, start=1):
                    if re.match(rf"{re.escape(name)}\s*(:[^=]*)?=", line):
                        return f"{_module_file(module.__name__, file)}:{number}"
    return ""


def _place(function: Any) -> str:
    code = getattr(function, "__code__", None)
    if code is None:
        return getattr(function, "__qualname__", repr(function))
    return f"{_module_file(function.__module__, code.co_filename)}:{code.co_firstlineno}"


def _module_file(module: str | None, file: str) -> str:
    """`research/model/attention.py`: the same on every machine."""
    name, module = file.replace("\\", "/").rsplit("/", 1)[-1], module or ""  # code that was executed from text has none
    parents = module.split(".")[:-1] if name != "__init__.py" else module.split(".")
    return "/".join([*parents, name])
