"""What one contract checks at a call: arguments and result against their hints, with the dims of the config bound.

Resolved at the first call, so that decorating a function costs next to nothing.
"""

import dataclasses
import functools
import inspect
import sys
import threading
import typing
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from jaxtyping import Shaped, jaxtyped

from contracts.dims import bound_fields
from contracts.errors import ShapeError
from contracts.explain import Bound, shape_error
from contracts.hints import has_expression, has_text, problem
from contracts.matching import Mismatch, mismatch
from contracts.quick import Match, Sizes, quick_match


def _reusable_scope() -> AbstractContextManager[None]:
    """jaxtyping's scope of axis names. Its first one imports JAX, merely to hide frames from JAX's tracebacks: a
    tokenizer must not pay for that, so where JAX is absent its import is made to fail, which jaxtyping allows for.
    """
    if "jax" in sys.modules:
        return jaxtyped("context")
    hidden = "jax._src.traceback_util"
    sys.modules[hidden] = None  # type: ignore[assignment]
    try:
        return jaxtyped("context")
    finally:
        del sys.modules[hidden]


_SCOPE = _reusable_scope()
_calls = threading.local()  # .owners: the objects whose contracted methods we are inside of, outermost first


def innermost_owner() -> Any:
    """The object whose contracted method is running in this thread, or `None`."""
    owners = getattr(_calls, "owners", None)
    return owners[-1] if owners else None


class Checks:
    """What one contract checks; resolved at the first call, so that decorating costs next to nothing."""

    def __init__(self, spec: Callable[..., Any], name: str, place: Callable[..., Any]) -> None:
        self.spec, self.name, self.place = spec, name, place

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.spec)

    @functools.cached_property
    def hints(self) -> dict[str, Any]:
        """Parameter name (or `return`) to hint; annotations given as strings are resolved here."""
        found = dict(self.spec.__annotations__)
        if any(map(has_text, found.values())):
            try:
                found = typing.get_type_hints(self.spec, include_extras=True)
            except NameError as error:
                raise self._unchecked(f"{error}, in an annotation that is a string") from None
        for reason in filter(None, map(problem, found.values())):
            raise self._unchecked(reason)
        return {name: hint for name, hint in found.items() if hint is not Any}

    def _unchecked(self, reason: str) -> ShapeError:
        return ShapeError(f"@contract can't check {self.name}: {reason}", contract=self.name)

    @functools.cached_property
    def variadic(self) -> dict[str, Any]:
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return {p.name: p.kind for p in self.signature.parameters.values() if p.kind in kinds}

    def call(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], host: Any = None
    ) -> Any:
        """Check, call, check. Dims are those of the configs among the arguments; before them, of `host.config`."""
        __tracebackhide__ = True
        try:
            given = self._given(args, kwargs)
        except TypeError:
            function(*args, **kwargs)  # raises Python's own error, which names the function
            raise self._unchecked("a decorator below changed what it takes: put @contract below that one") from None
        owner = given.get(self.owner)
        owners = _calls.__dict__.setdefault("owners", [])
        if owner is not None:
            owners.append(owner)
        try:
            with _SCOPE:
                sizes = self._config_sizes(given, host)
                is_quick = self._holds(given, sizes) and _bind(sizes)
                if not is_quick:
                    self._require_arguments(given, host, owners)
                result = function(*args, **kwargs)
                if "return" in self.hints and not (is_quick and self.quick["return"](result, sizes)):
                    failure = mismatch(result, self.hints["return"])
                    if failure:
                        raise self._error("the return value", failure, self._arguments(given), given, host, owners)
                return result
        finally:
            if owner is not None:
                owners.pop()

    @functools.cached_property
    def owner(self) -> str:
        """The parameter whose config binds dims: `self`, however a method calls it; empty if there is none."""
        is_method = self.spec.__qualname__.rpartition(".")[0].rpartition(".")[2] not in ("", "<locals>")
        first = next(iter(self.signature.parameters), "")
        return first if first == "self" or (is_method and first not in self.hints) else ""

    @functools.cached_property
    def names(self) -> tuple[str, ...] | None:
        """The parameters, where each takes one value by position; `None` if there are others."""
        plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = self.signature.parameters.values()
        return tuple(self.signature.parameters) if all(p.kind is plain for p in parameters) else None

    @functools.cached_property
    def defaults(self) -> tuple[Any, ...]:
        """Those of the last parameters."""
        given = (parameter.default for parameter in self.signature.parameters.values())
        return tuple(default for default in given if default is not inspect.Parameter.empty)

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Parameter name to value, defaults included."""
        if self.names is not None and not kwargs and 0 <= (left := len(self.names) - len(args)) <= len(self.defaults):
            values = args + self.defaults[-left:] if left else args
            return dict(zip(self.names, values, strict=True))  # four times as fast as Signature.bind
        given = self.signature.bind(*args, **kwargs)
        given.apply_defaults()
        return given.arguments

    @functools.cached_property
    def quick(self) -> dict[str, Match]:
        """Parameter name (or `return`) to its quick yes; empty unless every hint has one, as sizes depend on all."""
        found = {name: quick_match(hint) for name, hint in self.hints.items()}
        matches = {name: match for name, match in found.items() if match is not None}
        return matches if len(matches) == len(found) and not self.variadic else {}

    @functools.cached_property
    def _quick_arguments(self) -> list[tuple[str, Match]]:
        return [(name, self.quick[name]) for name in self.signature.parameters if name in self.quick]

    def _holds(self, given: dict[str, Any], sizes: Sizes) -> bool:
        """A quick yes for all arguments, whose sizes are bound in `sizes`."""
        return bool(self.quick) and all(match(given[name], sizes) for name, match in self._quick_arguments)

    def _require_arguments(self, given: dict[str, Any], host: Any, owners: list[Any]) -> None:
        """Raise `ShapeError` for the first argument that breaks its hint; bind the dims of all in the open scope."""
        _bind(self._config_sizes(given, host))
        checked: list[tuple[str, Any, Any]] = []
        for name, hint, value in self._arguments(given):
            checked.append((name, hint, value))
            failure = mismatch(value, hint)
            if failure:
                raise self._error(f"argument '{name}'", failure, checked, given, host, owners)

    def _arguments(self, arguments: dict[str, Any]) -> list[tuple[str, Any, Any]]:
        """(name, hint, value) of each value to check; those with expressions such as `2*d` last, when `d` is bound."""
        hints = self.hints
        flat = [(place, hints[name], value) for name, place, value in self._each(arguments) if name in hints]
        return sorted(flat, key=lambda item: id(item[1]) in self.late) if self.late else flat

    def _each(self, arguments: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
        """(parameter, place, value) of each value that was given; `*rows` and `**named` take several."""
        for name, value in arguments.items():
            if name not in self.variadic:
                yield name, name, value
            else:
                items = value.items() if isinstance(value, dict) else enumerate(value)
                yield from ((name, f"{name}[{key!r}]", item) for key, item in items)

    @functools.cached_property
    def late(self) -> frozenset[int]:
        """The hints that hold an expression over other dims, and so can only be checked once those are bound."""
        return frozenset(id(hint) for hint in self.hints.values() if has_expression(hint))

    def _configs(self, given: dict[str, Any], host: Any) -> list[tuple[str, Any]]:
        """What may bind dims, with its name: `host.config`, `self.config`, and any argument that is itself a config."""
        owners = [("config", getattr(owner, "config", None)) for owner in (host, given.get(self.owner))]
        rest = [(place, value) for _, place, value in self._each(given)] if self.variadic else given.items()
        return [*owners, *rest]

    def _config_sizes(self, given: dict[str, Any], host: Any) -> Sizes:
        sizes: Sizes = {}
        for _, config in self._configs(given, host):
            for dim, field in _dim_fields(config.__class__):
                sizes.setdefault(dim, getattr(config, field))
        return sizes

    def _error(
        self,
        argument: str,
        failure: Mismatch,
        checked: list[tuple[str, Any, Any]],
        given: dict[str, Any],
        host: Any,
        owners: list[Any],
    ) -> ShapeError:
        _hide_engine_frames()
        dims: dict[str, Bound] = {}
        for source, config in self._configs(given, host):
            for dim, field in _dim_fields(config.__class__):
                dims.setdefault(dim, Bound(getattr(config, field), f"{source}.{field}"))
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


def _bind(sizes: Sizes) -> bool:
    """Bind these dims in the open jaxtyping scope; false if others were bound there, which nothing here does."""
    return not sizes or isinstance(_Ghost(tuple(sizes.values())), _ghost_hint(tuple(sizes)))


@functools.cache
def _dim_fields(cls: type) -> tuple[tuple[str, str], ...]:
    """(dim, field) of a config's class, looked up once; none for what is no dataclass."""
    return tuple(bound_fields(cls).items()) if dataclasses.is_dataclass(cls) else ()


def _hide_engine_frames() -> None:
    """Leave the engine's frames out of JAX's filtered tracebacks, where this version of JAX lets us."""
    traceback_util = sys.modules.get("jax._src.traceback_util")
    register = getattr(traceback_util, "register_exclusion", None)
    if register is not None and not getattr(_hide_engine_frames, "done", False):
        for module in ("contracts.checks", "contracts.core"):
            register(sys.modules[module].__file__)
        _hide_engine_frames.done = True  # type: ignore[attr-defined]
