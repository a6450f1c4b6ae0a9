"""Faults inside a function: one expression is rewritten into one that a tired person could have written instead."""

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Rewrites = Iterator[tuple[str, ast.AST]]
"""(class of fault, what stands there instead)"""

#: In the order of the config, so that neighbours are what a slip confuses.
FIELDS = ("vocab_size", "d_model", "n_layers", "n_heads", "n_kv_heads", "head_dim", "d_ff")

_SHAPED = ("reshape", "broadcast_to", "zeros", "swapaxes", "transpose")
_DTYPES = {"float32": ("bfloat16", "int32"), "int32": ("float32", "int8"), "float16": ("float32",)}
_REDUCTIONS = {"sum": "mean", "mean": "sum", "max": "min"}
_COMPARED = {ast.LtE: ast.Lt, ast.Eq: ast.NotEq, ast.Lt: ast.LtE}
_ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult}


def rewrites(node: ast.AST) -> Rewrites:
    """Every single change to `node` itself, not to what is below it."""
    for rule in _RULES:
        yield from rule(node)


def _calls(node: ast.AST) -> Rewrites:
    if not isinstance(node, ast.Call):
        return
    name = _last_name(node.func)
    fault = "reshape or einsum order" if name in _SHAPED else "arguments swapped"
    for index in range(len(node.args) - 1):
        yield fault, _with(node, args=_swapped(node.args, index))
    if name not in _SHAPED and (len(node.args) > 1 or node.keywords):
        for index in range(len(node.keywords)):
            if node.keywords[index].arg not in ("keepdims", "dtype"):  # they have rules of their own
                yield "argument left out", _with(node, keywords=_without(node.keywords, index))
        if len(node.args) > 1:
            yield "argument left out", _with(node, args=node.args[:-1])


def _orders(node: ast.AST) -> Rewrites:
    """Tuples that say which axis is which: shapes, targets of `x.shape`, subscripts of einsum."""
    if isinstance(node, ast.Tuple) and not any(isinstance(item, (ast.Slice, ast.Constant)) for item in node.elts):
        fault = "axes swapped" if isinstance(node.ctx, ast.Store) else "arguments swapped"
        for index in range(len(node.elts) - 1):
            yield fault, _with(node, elts=_swapped(node.elts, index))
    if isinstance(node, ast.Subscript) and _last_name(node.value) == "shape" and isinstance(node.slice, ast.Constant):
        axis = int(str(node.slice.value))
        for neighbour in {axis - 1, axis + 1} - {-1}:
            yield "axes swapped", _with(node, slice=ast.Constant(neighbour))
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "->" in node.value:
        for index, pair in enumerate(zip(node.value, node.value[1:], strict=False)):
            if all(map(str.isalpha, pair)):
                text = node.value[:index] + pair[1] + pair[0] + node.value[index + 2 :]
                yield "reshape or einsum order", ast.Constant(text)
    if isinstance(node, ast.Attribute) and node.attr == "T":
        yield "mask or kernel", node.value


def _subscripts(node: ast.AST) -> Rewrites:
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, (ast.Tuple, ast.Slice)):
        return
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for index, item in enumerate(items):
        if _is_none(item):
            yield "axis dropped or added", _with(node, slice=_index(_without(items, index)))
        if index and _is_none(item) != _is_none(items[index - 1]):
            yield "axis dropped or added", _with(node, slice=_index(_swapped(items, index - 1)))
        if isinstance(item, ast.Slice):
            for shifted in _shifted(item):
                yield "slice shifted", _with(node, slice=_index([*items[:index], shifted, *items[index + 1 :]]))


def _shifted(item: ast.Slice) -> Iterator[ast.Slice]:
    for bound in ("lower", "upper"):
        value = getattr(item, bound)
        if value is not None:
            yield _with(item, **{bound: ast.BinOp(value, ast.Add(), ast.Constant(1))})
            yield _with(item, **{bound: ast.BinOp(value, ast.Sub(), ast.Constant(1))})


def _reductions(node: ast.AST) -> Rewrites:
    if isinstance(node, ast.keyword) and node.arg == "keepdims":
        yield "axis dropped or added", _with(node, value=ast.Constant(False))
    if isinstance(node, ast.keyword) and node.arg in ("axis", "dimension"):
        value = ast.literal_eval(node.value)
        for axis in {0, 1, -1, -2} - {value}:
            yield "wrong axis reduced", _with(node, value=ast.Constant(axis))
    if isinstance(node, ast.Call) and _last_name(node.func) in _REDUCTIONS:
        name = _REDUCTIONS[_last_name(node.func)]
        yield "arithmetic", _with(node, func=_with(node.func, attr=name))
        if not any(keyword.arg == "keepdims" for keyword in node.keywords):
            keepdims = ast.keyword("keepdims", ast.Constant(True))
            yield "axis dropped or added", _with(node, keywords=[*node.keywords, keepdims])


def _dtypes(node: ast.AST) -> Rewrites:
    if isinstance(node, ast.Attribute) and node.attr in _DTYPES and _last_name(node.value) == "jnp":
        for name in _DTYPES[node.attr]:
            yield "dtype changed", _with(node, attr=name)
    if isinstance(node, ast.Call) and _last_name(node.func) == "astype":
        assert isinstance(node.func, ast.Attribute)
        yield "dtype changed", node.func.value
    if isinstance(node, ast.Call):
        for index, keyword in enumerate(node.keywords):
            if keyword.arg in ("dtype", "preferred_element_type"):
                yield "dtype changed", _with(node, keywords=_without(node.keywords, index))


def _masks(node: ast.AST) -> Rewrites:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARED:
        yield "mask or kernel", _with(node, ops=[_COMPARED[type(node.ops[0])]()])
        yield "mask or kernel", _with(node, left=node.comparators[0], comparators=[node.left])
    if isinstance(node, ast.keyword) and isinstance(node.value, ast.Constant) and node.arg == "is_causal":
        yield "mask or kernel", _with(node, value=ast.Constant(not node.value.value))
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value is ...:
        yield "mask or kernel", ast.Attribute(copy.deepcopy(node), "T", ast.Load())


def _config_fields(node: ast.AST) -> Rewrites:
    if isinstance(node, ast.Attribute) and node.attr in FIELDS and _last_name(node.value) == "config":
        at = FIELDS.index(node.attr)
        for neighbour in (*FIELDS[max(at - 1, 0) : at], *FIELDS[at + 1 : at + 2]):
            yield "neighbouring config field", _with(node, attr=neighbour)


def _returns(node: ast.AST) -> Rewrites:
    if not isinstance(node, ast.Return) or node.value is None:
        return
    yield "returned value", _with(node, value=None)
    if isinstance(node.value, ast.Tuple):
        for index in range(len(node.value.elts)):
            kept = _without(node.value.elts, index)
            yield "returned value", _with(node, value=kept[0] if len(kept) == 1 else ast.Tuple(kept, ast.Load()))


def _numbers(node: ast.AST) -> Rewrites:
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        yield "arithmetic", _with(node, op=_ARITHMETIC[type(node.op)]())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield "arithmetic", node.operand


_RULES: tuple[Callable[[ast.AST], Rewrites], ...] = (
    _calls,
    _orders,
    _subscripts,
    _reductions,
    _dtypes,
    _masks,
    _config_fields,
    _returns,
    _numbers,
)


def _with(node: Any, **fields: Any) -> Any:
    """A copy of `node` with other fields."""
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _swapped(items: Sequence[Any], index: int) -> list[Any]:
    return [*items[:index], items[index + 1], items[index], *items[index + 2 :]]


def _without(items: Sequence[Any], index: int) -> list[Any]:
    return [*items[:index], *items[index + 1 :]]


def _index(items: list[Any]) -> ast.expr:
    return items[0] if len(items) == 1 else ast.Tuple(items, ast.Load())


def _is_none(node: Any) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _last_name(node: Any) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
