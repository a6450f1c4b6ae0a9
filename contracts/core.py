"""The engine: `@contract` checks a function's array annotations when Python runs, which under `jax.jit` is once.

jaxtyping is the language and does the checking of one array. What is added: dims bound from a config (`D` is
`config.d_model`, not whatever came), every leaf of every container, and one flat error that says where each size
came from. Under `CONTRACTS=off` the functions are left as they were written.
"""

import functools
import inspect
import os
import sys
import types
import typing
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from contracts.checks import Checks, innermost_owner
from contracts.errors import ContractError, ContractsOffWarning, InputError, ShapeError
from contracts.hints import array_hints, has_text, problem, spell

Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


def _read_switch() -> bool:
    value = os.environ.get("CONTRACTS", "on")
    if value not in ("on", "off"):
        raise InputError("CONTRACTS", expected="on or off", got=repr(value), where="the environment")
    if value == "off" and ("pytest" in sys.modules or os.environ.get("CI")):
        warnings.warn("CONTRACTS=off: no shape is checked in this run", ContractsOffWarning, stacklevel=2)
    return value == "on"


ENABLED = _read_switch()


def contract(function: Function) -> Function:
    """Check the annotated arguments and the return value of `function` on every Python call.

    Dims bound by a config hold inside: of `self.config`, or of any argument that is itself a config; where two bind
    the same dim, the first does. Of a class that is no dataclass, NamedTuple or TypedDict only the class is checked,
    not what its attributes hold. Apply it below `jax.jit`, `nnx.jit`, `staticmethod` and the like, so that it runs
    while tracing, and below whatever changes the arguments.

    Raises `ShapeError` when called wrongly, and at decoration for what it could not check.
    """
    _refuse_undecoratable(function)
    if not ENABLED:
        return function
    checks = Checks(function, function.__qualname__, function)

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return checks.call(function, args, kwargs)

    checked.__contract__ = checks  # type: ignore[attr-defined]
    return typing.cast(Function, checked)


def _refuse_undecoratable(function: Any) -> None:
    name = getattr(function, "__qualname__", type(function).__name__)
    if isinstance(function, (staticmethod, classmethod, property)):
        reason = f"it is a {type(function).__name__}: put @contract below it"
    elif not inspect.isfunction(function):
        reason = f"it is a {type(function).__name__}, not a plain function: put @contract below the transformation"
    elif inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        reason = "it is async: its result is checked by nobody; contract the function that it awaits"
    elif inspect.isgeneratorfunction(function):
        reason = "it is a generator: what it yields is checked by nobody; contract a function that returns one item"
    else:
        written = (hint for hint in function.__annotations__.values() if not has_text(hint))
        reason = next(filter(None, map(problem, written)), "")
    if reason:
        raise ShapeError(f"@contract can't check {name}: {reason}", contract=name)


def through(protocol: type, instance: Any) -> Callable[..., Any]:
    """`instance`, called under `protocol`'s contract: for somebody else's module, which need not know of us.

    The dims are those of the module that we are inside of, its host.

    An instance whose own `__call__` is under `@contract` checks itself and is returned as it is.
    """
    if not ENABLED or hasattr(type(instance).__call__, "__contract__"):
        return instance
    method = type(instance).__call__
    checks = Checks(protocol.__call__, protocol.__name__, inspect.unwrap(method))

    def checked(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return checks.call(method, (instance, *args), kwargs, host=innermost_owner())

    return checked


def conforms(implementation: Class, protocol: type) -> Class:
    """Refuse a class whose methods differ from `protocol`'s in parameter names or array aliases; return it otherwise.

    A method without annotations conforms by its names: the call is checked `through` the protocol all the same.
    """
    if not ENABLED:
        return implementation
    for name, method in vars(protocol).items():
        if inspect.isfunction(method) and (name == "__call__" or not name.startswith("_")):
            own = getattr(implementation, name, None)
            if own is None:
                raise ContractError(f"{implementation.__name__} lacks {name}, which {protocol.__name__} asks for")
            _compare(implementation, protocol, method, inspect.unwrap(own))
    return implementation


def _compare(implementation: type, protocol: type, expected: Any, got: Any) -> None:
    want, have = inspect.signature(expected), inspect.signature(got)
    problem = _difference(want, have)
    if problem:
        raise ShapeError(
            f"{implementation.__name__} does not conform to {protocol.__name__}: {problem}\n"
            f"  got       {_signature_line(got, have)}\n"
            f"  expected  {_signature_line(expected, want)}",
            contract=protocol.__name__,
        )


def _difference(want: inspect.Signature, have: inspect.Signature) -> str:
    """The first way in which `have` can't stand in for `want`; an implementation may take more and return less."""
    names = list(want.parameters)[1:]  # `self` may have any name
    if list(have.parameters)[1 : len(names) + 1] != names:
        return "the parameters differ"
    for parameter in list(have.parameters.values())[len(names) + 1 :]:
        if parameter.default is parameter.empty and parameter.kind < parameter.VAR_KEYWORD:
            return f"parameter '{parameter.name}' has no default, and nobody passes it"
    for name in names:
        takes, asked = have.parameters[name].annotation, want.parameters[name].annotation
        if not _is_open(takes, asked) and not _is_plain_array(takes, asked) and not _arms(asked) <= _arms(takes):
            return f"parameter '{name}' is {spell(takes)}, not {spell(asked)}"
    gives, wanted = have.return_annotation, want.return_annotation
    if not _is_open(gives, wanted) and not _is_plain_array(gives, wanted) and not _arms(gives) <= _arms(wanted):
        return f"the return value is {spell(gives)}, not {spell(wanted)}"
    return ""


def _is_open(*annotations: Any) -> bool:
    """Whether one of the two says nothing."""
    return any(annotation is inspect.Parameter.empty or annotation is Any for annotation in annotations)


def _is_plain_array(annotation: Any, asked: Any) -> bool:
    """Whether `annotation` says jax.Array, perhaps or None, where a shape is asked for: the call is checked instead."""
    kinds = {hint.array_type for hint in array_hints(asked)}
    arms = typing.get_args(annotation) or (annotation,)
    return bool(kinds) and all(arm in kinds or arm is type(None) for arm in arms)


def _arms(hint: Any) -> set[str]:
    """The alternatives of a union, spelled; a hint that is no union is its only alternative."""
    is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    return set(map(spell, typing.get_args(hint))) if is_union else {spell(hint)}


def _signature_line(function: Any, signature: inspect.Signature) -> str:
    parts = []
    for parameter in signature.parameters.values():
        hint = parameter.annotation
        parts.append(parameter.name if hint is parameter.empty else f"{parameter.name}: {spell(hint)}")
    returns = (
        "" if signature.return_annotation is inspect.Signature.empty else f" -> {spell(signature.return_annotation)}"
    )
    code = function.__code__
    file = code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{function.__name__}({', '.join(parts)}){returns}   ({file}:{code.co_firstlineno})"
