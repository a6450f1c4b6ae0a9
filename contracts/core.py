"""The engine: `@contract` checks a function's array annotations when Python runs, which under `jax.jit` is once.

jaxtyping is the language and does the checking of one array. What is added: dims bound from a config (`D` is
`config.d_model`, not whatever came), every leaf of every container, and one flat error that says where each size
came from. Under `CONTRACTS=off` the functions are left as they were written.
"""

import dataclasses
import functools
import inspect
import os
import sys
import threading
import typing
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from jaxtyping import Shaped, jaxtyped

from contracts.dims import Dim
from contracts.errors import ContractError, ContractsOffWarning, InputError, ShapeError
from contracts.explain import Bound, shape_error, spell
from contracts.matching import Mismatch, mismatch

Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)

_calls = threading.local()  # .owners: the objects whose contracted methods we are inside of, outermost first


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

    Dims bound by a config hold inside: of `self.config`, or of any argument that is itself a config. Apply it below
    `jax.jit`, `nnx.jit`, `staticmethod` and the like, so that it runs while tracing.

    Raises `ShapeError` when called wrongly, and at decoration for what it could not check.
    """
    _refuse_undecoratable(function)
    if not ENABLED:
        return function
    checks = _Checks(function, function.__qualname__, function)

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return checks.call(function, args, kwargs)

    checked.__contract__ = checks  # type: ignore[attr-defined]
    return typing.cast(Function, checked)


def _refuse_undecoratable(function: Any) -> None:
    name = getattr(function, "__qualname__", type(function).__name__)
    if isinstance(function, (staticmethod, classmethod, property)):
        problem = f"it is a {type(function).__name__}: put @contract below it"
    elif not inspect.isfunction(function):
        problem = f"it is a {type(function).__name__}, not a plain function: put @contract below the transformation"
    elif inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        problem = "it is async: its result is checked by nobody; contract the function that it awaits"
    elif inspect.isgeneratorfunction(function):
        problem = "it is a generator: what it yields is checked by nobody; contract a function that returns one item"
    else:
        return
    raise ShapeError(f"@contract can't check {name}: {problem}", contract=name)


class _Checks:
    """What one contract checks; resolved at the first call, so that decorating costs next to nothing."""

    def __init__(self, spec: Callable[..., Any], name: str, place: Callable[..., Any]) -> None:
        self.spec, self.name, self.place = spec, name, place

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.spec)

    @functools.cached_property
    def hints(self) -> dict[str, Any]:
        """Parameter name (or `return`) to hint; annotations given as strings are resolved here."""
        raw = dict(self.spec.__annotations__)
        if any(isinstance(hint, str) for hint in raw.values()):
            raw = typing.get_type_hints(self.spec, include_extras=True)
        return {name: hint for name, hint in raw.items() if hint is not Any}

    @functools.cached_property
    def variadic(self) -> dict[str, Any]:
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return {p.name: p.kind for p in self.signature.parameters.values() if p.kind in kinds}

    def call(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], host: Any = None
    ) -> Any:
        """Check, call, check. Dims are those of the configs among the arguments; before them, of `host.config`."""
        __tracebackhide__ = True
        given = self.signature.bind(*args, **kwargs)
        given.apply_defaults()
        owner = given.arguments.get("self")
        owners = _calls.__dict__.setdefault("owners", [])
        if owner is not None:
            owners.append(owner)
        try:
            with jaxtyped("context"):
                dims = _bind_config_dims(given.arguments, host)
                checked: list[tuple[str, Any, Any]] = []
                for name, hint, value in self._arguments(given.arguments):
                    failure = mismatch(value, hint)
                    if failure:
                        raise self._error(f"argument '{name}'", failure, dims, [*checked, (name, hint, value)], owners)
                    checked.append((name, hint, value))
                result = function(*args, **kwargs)
                if "return" in self.hints:
                    failure = mismatch(result, self.hints["return"])
                    if failure:
                        raise self._error("the return value", failure, dims, checked, owners)
                return result
        finally:
            if owner is not None:
                owners.pop()

    def _arguments(self, arguments: dict[str, Any]) -> list[tuple[str, Any, Any]]:
        flat: list[tuple[str, Any, Any]] = []
        for name, value in arguments.items():
            hint = self.hints.get(name)
            if hint is None and name not in self.hints:
                continue
            if name not in self.variadic:
                flat.append((name, hint, value))
            elif isinstance(value, dict):
                flat.extend((f"{name}[{key!r}]", hint, item) for key, item in value.items())
            else:
                flat.extend((f"{name}[{i}]", hint, item) for i, item in enumerate(value))
        return flat

    def _error(
        self,
        argument: str,
        failure: Mismatch,
        dims: dict[str, Bound],
        checked: list[tuple[str, Any, Any]],
        owners: list[Any],
    ) -> ShapeError:
        _hide_engine_frames()
        return shape_error(
            contract=self.name,
            argument=argument,
            failure=failure,
            config_dims=dims,
            checked=checked,
            function=self.place,
            spec=self.spec,
            hints=self.hints,
            owners=list(owners),
        )


class _Ghost:
    """An array with a shape and no bytes: checking it against "V D H" binds those names in jaxtyping's scope."""

    dtype = "ghost"

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


@functools.cache
def _ghost_hint(names: tuple[str, ...]) -> Any:
    return Shaped[_Ghost, " ".join(names)]


def _bind_config_dims(arguments: dict[str, Any], host: Any) -> dict[str, Bound]:
    """Bind the dims of `host.config`, of `self.config` and of every config argument in the open jaxtyping scope."""
    dims: dict[str, Bound] = {}
    owners = [("config", getattr(owner, "config", None)) for owner in (host, arguments.get("self"))]
    for source, config in [*owners, *arguments.items()]:
        for dim, field in _dim_fields(config.__class__):
            dims.setdefault(dim, Bound(getattr(config, field), f"{source}.{field}"))
    if dims:
        isinstance(_Ghost(tuple(bound.size for bound in dims.values())), _ghost_hint(tuple(dims)))
    return dims


@functools.cache
def _dim_fields(cls: type) -> tuple[tuple[str, str], ...]:
    """(dim name, field name) of each field annotated `Annotated[int, Dim(...)]`; none for what is no dataclass."""
    if not dataclasses.is_dataclass(cls):
        return ()
    hints = typing.get_type_hints(cls, include_extras=True)
    return tuple(
        (mark.name, field.name)
        for field in dataclasses.fields(cls)
        for mark in getattr(hints[field.name], "__metadata__", ())
        if isinstance(mark, Dim)
    )


def through(protocol: type, instance: Any) -> Callable[..., Any]:
    """`instance`, called under `protocol`'s contract: for somebody else's module, which need not know of us.

    The dims are those of the module that we are inside of, its host.

    An instance whose own `__call__` is under `@contract` checks itself and is returned as it is.
    """
    if not ENABLED or hasattr(type(instance).__call__, "__contract__"):
        return instance
    method = type(instance).__call__
    checks = _Checks(protocol.__call__, protocol.__name__, inspect.unwrap(method))

    def checked(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        owners = getattr(_calls, "owners", None)
        return checks.call(method, (instance, *args), kwargs, host=owners[-1] if owners else None)

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
    names = list(want.parameters)
    extra = [p for p in list(have.parameters.values())[len(names) :] if p.default is p.empty and p.kind < p.VAR_KEYWORD]
    problem = ""
    if list(have.parameters)[: len(names)] != names:
        problem = "the parameters differ"
    elif extra:
        problem = f"parameter '{extra[0].name}' has no default, and nobody passes it"
    for name in [] if problem else [*names, "return"]:
        theirs = have.parameters[name].annotation if name != "return" else have.return_annotation
        ours = want.parameters[name].annotation if name != "return" else want.return_annotation
        if (
            theirs is not inspect.Parameter.empty
            and ours is not inspect.Parameter.empty
            and spell(theirs) != spell(ours)
        ):
            what = f"parameter '{name}'" if name != "return" else "the return value"
            problem = f"{what} is {spell(theirs)}, not {spell(ours)}"
            break
    if problem:
        raise ShapeError(
            f"{implementation.__name__} does not conform to {protocol.__name__}: {problem}\n"
            f"  got       {_signature_line(got, have)}\n"
            f"  expected  {_signature_line(expected, want)}",
            contract=protocol.__name__,
        )


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


def _hide_engine_frames() -> None:
    """Leave our frames out of JAX's filtered tracebacks, where this version of JAX lets us."""
    traceback_util = sys.modules.get("jax._src.traceback_util")
    register = getattr(traceback_util, "register_exclusion", None)
    if register is not None and not getattr(_hide_engine_frames, "done", False):
        register(__file__)
        _hide_engine_frames.done = True  # type: ignore[attr-defined]
