"""The numbers of a traced program, computed by NumPy: XLA would compile for seconds what is run here once.

Primitives that NumPy has no short word for are left to JAX, one by one.
"""

import math
import string
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Literal


def evaluate(program: ClosedJaxpr, *arguments: Any) -> list[np.ndarray]:
    """The outputs of `program`."""
    values = dict(zip(program.jaxpr.constvars, map(np.asarray, program.consts), strict=True))
    values |= dict(zip(program.jaxpr.invars, map(np.asarray, arguments), strict=True))

    def read(variable: Any) -> np.ndarray:
        return np.asarray(variable.val) if isinstance(variable, Literal) else values[variable]

    with np.errstate(all="ignore"):
        for equation in program.jaxpr.eqns:
            results = _results(equation, [read(variable) for variable in equation.invars])
            for variable, result in zip(equation.outvars, results, strict=True):
                values[variable] = np.asarray(result).astype(variable.aval.dtype).reshape(variable.aval.shape)
    return [read(variable) for variable in program.jaxpr.outvars]


def _results(equation: Any, operands: Sequence[np.ndarray]) -> Sequence[Any]:
    primitive, parameters = equation.primitive, equation.params
    inner = next(_inner_programs(parameters), None) if primitive.name in _CALLS else None
    if inner is not None:
        return evaluate(inner, *operands)
    if primitive.name in _NUMPY:
        return (_NUMPY[primitive.name](*operands, **parameters),)
    results = primitive.bind(*operands, **parameters)
    return results if primitive.multiple_results else (results,)


def _inner_programs(parameters: dict[str, Any]) -> Iterator[ClosedJaxpr]:
    return (value for value in parameters.values() if isinstance(value, ClosedJaxpr))


#: Primitives that only run the program among their parameters.
_CALLS = ("jit", "pjit", "closed_call", "custom_jvp_call")


def _ufunc(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands, **parameters: function(*operands)


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda operand, axes, **parameters: function(operand, axis=tuple(axes))


def _broadcast(operand: np.ndarray, shape: tuple[int, ...], broadcast_dimensions: Any, **parameters: Any) -> np.ndarray:
    aligned = [1] * len(shape)
    for axis, size in zip(broadcast_dimensions, operand.shape, strict=True):
        aligned[axis] = size
    return np.broadcast_to(operand.reshape(aligned), shape)


def _dot(left: np.ndarray, right: np.ndarray, dimension_numbers: Any, **parameters: Any) -> np.ndarray:
    (contract_left, contract_right), (batch_left, batch_right) = dimension_numbers
    names = iter(string.ascii_letters)
    of_left = [next(names) for _ in left.shape]
    of_right = [next(names) for _ in right.shape]
    pairs = zip((*contract_left, *batch_left), (*contract_right, *batch_right), strict=True)
    for axis, same in pairs:
        of_right[same] = of_left[axis]
    batch = [of_left[axis] for axis in batch_left]
    free_left = [name for axis, name in enumerate(of_left) if axis not in (*contract_left, *batch_left)]
    free_right = [name for axis, name in enumerate(of_right) if axis not in (*contract_right, *batch_right)]
    out = "".join(batch + free_left + free_right)
    return np.einsum(f"{''.join(of_left)},{''.join(of_right)}->{out}", _wide(left), _wide(right))


def _wide(operand: np.ndarray) -> np.ndarray:
    """Half-precision factors are multiplied and summed in float32."""
    return operand if operand.dtype.kind in "biuf" and operand.itemsize != 2 else operand.astype(np.float32)


def _slice(operand: np.ndarray, start_indices: Any, limit_indices: Any, strides: Any, **parameters: Any) -> np.ndarray:
    steps = strides or (1,) * operand.ndim
    return operand[tuple(map(slice, start_indices, limit_indices, steps))]


def _iota(dtype: Any, shape: tuple[int, ...], dimension: int, **parameters: Any) -> np.ndarray:
    counted = np.arange(shape[dimension], dtype=dtype)
    return _broadcast(counted, shape, (dimension,))


def _select(which: np.ndarray, *cases: np.ndarray, **parameters: Any) -> np.ndarray:
    return np.where(which, cases[1], cases[0]) if len(cases) == 2 else cases[0]


_NUMPY: dict[str, Callable[..., Any]] = {
    **{
        name: _ufunc(getattr(np, function))
        for name, function in {
            "add": "add",
            "add_any": "add",
            "sub": "subtract",
            "mul": "multiply",
            "neg": "negative",
            "pow": "power",
            "max": "maximum",
            "min": "minimum",
            "exp": "exp",
            "log": "log",
            "sin": "sin",
            "cos": "cos",
            "sqrt": "sqrt",
            "and": "bitwise_and",
            "square": "square",
            "eq": "equal",
            "ne": "not_equal",
            "lt": "less",
            "le": "less_equal",
            "gt": "greater",
            "ge": "greater_equal",
        }.items()
    },
    "rsqrt": _ufunc(lambda x: 1 / np.sqrt(x)),
    "logistic": _ufunc(lambda x: 1 / (1 + np.exp(-x))),
    "stop_gradient": _ufunc(lambda x: x),
    "integer_pow": lambda x, y, **parameters: x**y,
    "convert_element_type": lambda x, new_dtype, **parameters: x.astype(new_dtype),
    "reduce_sum": _reduction(np.sum),
    "reduce_max": _reduction(np.max),
    "broadcast_in_dim": _broadcast,
    "reshape": lambda x, new_sizes, **parameters: x.reshape(new_sizes),
    "squeeze": lambda x, dimensions, **parameters: x.squeeze(tuple(dimensions)),
    "transpose": lambda x, permutation, **parameters: x.transpose(permutation),
    "concatenate": lambda *xs, dimension, **parameters: np.concatenate(xs, axis=dimension),
    "slice": _slice,
    "iota": _iota,
    "select_n": _select,
    "dot_general": _dot,
}


def largest(values: np.ndarray) -> float:
    """The largest finite magnitude."""
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max(initial=0.0))


def differ(before: np.ndarray, after: np.ndarray, tolerance: float = 1e-5) -> bool:
    """Whether two arrays differ by more than another order of summation explains; integers, if at all."""
    if before.shape != after.shape or before.dtype != after.dtype:
        return True
    if before.dtype.kind in "biu":
        return not np.array_equal(before, after)
    before, after = before.astype(np.float64), after.astype(np.float64)
    margin = tolerance * max(largest(before), math.ulp(1.0))
    return not np.allclose(before, after, rtol=0.0, atol=margin, equal_nan=True)
