"""The second witness of a FLOP count: the traced program itself. One idea: walk its jaxpr and multiply by how often
each part runs. XLA's `cost_analysis` counts the body of a scan once, whatever its length.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from contracts.errors import InputError

# Primitives that run the program they hold exactly once.
_CALLS = frozenset(
    {"jit", "pjit", "closed_call", "core_call", "call", "remat2", "checkpoint", "composite"}
    | {"custom_jvp_call", "custom_vjp_call", "custom_vmap_call", "custom_partitioning"}
)

# Primitives that multiply matrices out of our sight: counting them as nothing would be a wrong answer.
_OPAQUE = frozenset(
    {"conv_general_dilated", "ragged_dot_general", "scaled_dot", "scaled_matmul", "scaled_matmul_wrapper"}
    | {"pallas_call", "core_map", "tpu_custom_call", "ffi_call", "cudnn_fusion", "call_exported"}
    | {"pure_callback", "io_callback", "custom_linear_solve", "triangular_solve"}
    | {"cholesky", "lu", "qr", "geqrf", "svd", "eig", "eigh", "schur", "fft"}
)
_OPAQUE_PREFIX = "dot_product_attention"


@dataclass(frozen=True)
class MatmulTerm:
    """One `dot_general` of a program and how often it runs."""

    equation: str
    """the contraction in einsum notation, such as `abc,cd->abd`"""
    lhs_shape: tuple[int, ...]
    rhs_shape: tuple[int, ...]
    scope: str
    """the `jax.named_scope`s around it, outermost first, such as `transpose(jvp(layer))/scores`; may be empty"""
    count: int
    """executions"""

    @property
    def flops_each(self) -> int:
        """FLOPs of one execution: 2 for every product of a left and a right element, one per index combination."""
        lhs, rest = self.equation.split(",")
        rhs, _ = rest.split("->")
        sizes = dict(zip(lhs + rhs, self.lhs_shape + self.rhs_shape, strict=True))
        return 2 * math.prod(sizes.values())

    @property
    def flops(self) -> int:
        """FLOPs of all executions."""
        return self.count * self.flops_each


@dataclass(frozen=True)
class FlopCount:
    """The matmul FLOPs of one run of a program. Elementwise work is not counted."""

    terms: tuple[MatmulTerm, ...]
    """every distinct matmul, in the order in which the program first reaches it"""

    @property
    def matmul(self) -> int:
        """All of them."""
        return sum(term.flops for term in self.terms)

    def by_scope(self, *names: str) -> dict[str, int]:
        """FLOPs inside the `jax.named_scope` of each name, forward and backward; what is in none, under `""`.

        A matmul inside several of the names belongs to the innermost.
        """
        flops = dict.fromkeys([*names, ""], 0)
        for term in self.terms:
            around = [word for word in re.split(r"[/()]", term.scope) if word in names]
            flops[around[-1] if around else ""] += term.flops
        return flops

    def matmul_sizes(self) -> Counter[int]:
        """FLOPs of a single matmul -> how many of that size run; for `compare_terms`."""
        sizes: Counter[int] = Counter()
        for term in self.terms:
            sizes[term.flops_each] += term.count
        return sizes


def count_flops(function: Callable[..., Any], *args: Any, **kwargs: Any) -> FlopCount:
    """Count the matmuls of `function(*args, **kwargs)` without running it or allocating anything.

    Arguments are arrays or `jax.ShapeDtypeStruct`s, in any pytree. Scans multiply by their length, a `cond` counts
    its dearest branch, a `shard_map` the work of all its devices. Raises `InputError` for what can't be counted: a
    `while_loop` around matmuls (its trip count is data), and primitives that hide theirs (convolutions, Pallas and
    cuDNN kernels, factorisations).
    """
    return count_jaxpr(jax.make_jaxpr(function)(*args, **kwargs))


def count_jaxpr(closed: ClosedJaxpr) -> FlopCount:
    """Count the matmuls of a traced program, such as `jax.make_jaxpr(f)(x)`; see `count_flops`."""
    counts = _count(closed.jaxpr, "")
    return FlopCount(tuple(replace(term, count=count) for term, count in counts.items()))


def _count(jaxpr: Jaxpr, scope: str) -> Counter[MatmulTerm]:
    """Executions of each matmul (a term of count 1) in one run of `jaxpr`."""
    counts: Counter[MatmulTerm] = Counter()
    for equation in jaxpr.eqns:
        counts.update(_count_equation(equation, _join(scope, str(equation.source_info.name_stack))))
    return counts


def _count_equation(equation: JaxprEqn, scope: str) -> Counter[MatmulTerm]:
    name, params = equation.primitive.name, equation.params
    if name == "dot_general":
        return Counter([_matmul(equation, scope)])
    if name in _OPAQUE or name.startswith(_OPAQUE_PREFIX):
        raise _uncountable(f"{name}, which hides its matmuls", scope)
    bodies = [_count(inner, scope) for inner in _inner_jaxprs(params)]
    if name == "cond":
        return max(bodies, key=_total)
    together = sum(bodies, Counter[MatmulTerm]())
    if name == "scan":
        return _times(together, params["length"])
    if name == "shard_map":
        devices = math.prod(params["mesh"].shape[axis] for axis in params["newly_manual_axes"])
        return _times(together, devices)
    if together and name not in _CALLS:
        raise _uncountable(f"{name} around matmuls, which may run any number of times", scope)
    return together


def _matmul(equation: JaxprEqn, scope: str) -> MatmulTerm:
    """The term of one `dot_general`. Its output has batch axes, then free axes of the left, then of the right."""
    operands: list[Any] = equation.invars
    lhs, rhs = (tuple(operand.aval.shape) for operand in operands)
    (lhs_contracted, rhs_contracted), (lhs_batch, rhs_batch) = equation.params["dimension_numbers"]
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    left = [next(letters) for _ in lhs]
    shared = dict(zip((*rhs_contracted, *rhs_batch), (*lhs_contracted, *lhs_batch), strict=True))
    right = [left[shared[axis]] if axis in shared else next(letters) for axis in range(len(rhs))]
    free = [letter for axis, letter in enumerate(left) if axis not in (*lhs_contracted, *lhs_batch)]
    free += [letter for axis, letter in enumerate(right) if axis not in shared]
    out = [left[axis] for axis in lhs_batch] + free
    spelled = f"{''.join(left)},{''.join(right)}->{''.join(out)}"
    return MatmulTerm(spelled, lhs, rhs, scope, count=1)


def _inner_jaxprs(params: dict[str, Any]) -> Iterator[Jaxpr]:
    """The programs that a primitive holds."""
    for value in params.values():
        for item in value if isinstance(value, tuple | list) else (value,):
            if isinstance(item, ClosedJaxpr):
                yield item.jaxpr
            elif isinstance(item, Jaxpr):
                yield item


def _total(counts: Counter[MatmulTerm]) -> int:
    return sum(term.flops * count for term, count in counts.items())


def _times(counts: Counter[MatmulTerm], factor: int) -> Counter[MatmulTerm]:
    return Counter({term: count * factor for term, count in counts.items()})


def _join(outer: str, inner: str) -> str:
    """Scopes inside a nested program are relative to it."""
    return f"{outer}/{inner}" if outer and inner else outer or inner


def _uncountable(what: str, scope: str) -> InputError:
    return InputError(
        "FLOP count",
        expected="matmuls that run a known number of times",
        got=what,
        where=f"scope {scope}" if scope else "",
        hint="use lax.scan, or the XLA implementation of the operation",
    )
