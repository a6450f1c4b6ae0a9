"""`package:thing` from the command line: imported, and made if it is something that makes a decoder or a tokenizer."""

import dataclasses
import importlib
import inspect
import json
import os
import sys
import tomllib
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from contracts.errors import InputError


def load_target(target: str, settings: Sequence[str]) -> Any:
    """The object that `target` names, made with `settings` where it is a class or a function that has to be called.

    A function with one parameter that nothing fills is taken for the decoder itself. Without a colon `target` is a
    tokenizer as the other commands name it. Raises `InputError` for what can't be found, imported or made.
    """
    module, colon, path = target.partition(":")
    if not colon:
        return _tokenizer(target, settings)
    thing = _attribute(_module(module, target), path, target)
    values = _settings(settings)
    if inspect.isclass(thing) or inspect.isroutine(thing):
        return _made(thing, values, target)
    if values:
        raise InputError("--config", expected="none, for an object that is made already", got=" ".join(settings))
    return thing


def _tokenizer(name: str, settings: Sequence[str]) -> Any:
    from experiments.vocabularies import tokenizer_named

    if settings:
        raise InputError("--config", expected="none, for a tokenizer's name or file", got=" ".join(settings))
    if not (name == "bytes" or name.startswith("bpe-") or Path(name).exists()):
        raise InputError("target", expected="MODULE:NAME, or a tokenizer's name or file", got=repr(name))
    return tokenizer_named(name)


def _module(name: str, target: str) -> Any:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise InputError("target", expected="a module that can be imported", got=repr(target)) from None
        raise _failed("target", f"{name} to be importable", error) from error
    except Exception as error:
        raise _failed("target", f"{name or 'a module'} to be importable", error) from error


def _attribute(module: Any, path: str, target: str) -> Any:
    thing = module
    for name in path.split("."):
        if not name or not hasattr(thing, name):
            raise InputError("target", expected=f"{module.__name__} to have {path or 'a NAME'}", got=repr(target))
        thing = getattr(thing, name)
    return thing


def _settings(terms: Sequence[str]) -> dict[str, Any]:
    """`NAME=VALUE` with values as JSON or else as text, and JSON or TOML files; later ones win."""
    values: dict[str, Any] = {}
    for term in terms:
        name, is_given, value = term.partition("=")
        if is_given:
            values[name.strip()] = _value(value.strip())
        elif Path(term).is_file():
            values |= _read(Path(term))
        else:
            raise InputError("--config", expected="NAME=VALUE or a JSON or TOML file", got=term)
    return values


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {"True": True, "False": False, "None": None}.get(text, text)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError) as error:
        raise InputError("--config", expected="a JSON or TOML file", got=str(error), where=str(path)) from None
    if not isinstance(data, dict):
        raise InputError("--config", expected="an object of settings", got=type(data).__name__, where=str(path))
    return data


def _made(make: Any, values: dict[str, Any], target: str) -> Any:
    """What `make` returns, or `make` itself if it takes tokens."""
    arguments, missing = _arguments(make, values)
    if len(missing) == 1 and not values and not inspect.isclass(make):
        return make
    if missing:
        raise InputError(target, expected=f"--config with {', '.join(missing)}", got=", ".join(values) or "none")
    try:
        return make(**arguments)
    except InputError:
        raise
    except Exception as error:
        raise _failed(target, "to be made with these settings", error) from error


def _arguments(make: Any, values: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The arguments of `make`, and the names of those for which there is no value.

    Settings go to the parameters that they name, and to the dataclass of a parameter `config`. Seeds need no setting:
    `rngs` is `nnx.Rngs(0)`, `key` is `jax.random.key(0)`.
    """
    parameters = _parameters(make)
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    left, arguments, missing = dict(values), {}, []
    for parameter in named:
        if parameter.name in left:
            arguments[parameter.name] = left.pop(parameter.name)
    for parameter in named:
        name = parameter.name
        if name in arguments:
            continue
        if dataclasses.is_dataclass(cls := _annotation(make, name)):
            fields = {field.name for field in dataclasses.fields(cls)}
            arguments[name] = _dataclass(cls, {field: left.pop(field) for field in fields & left.keys()})
        elif parameter.default is not parameter.empty:
            continue
        elif name in _SEEDS:
            arguments[name] = _SEEDS[name]()
        else:
            missing.append(name)
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        arguments, left = arguments | left, {}
    if left:
        known = ", ".join(p.name for p in named) or "none"
        raise InputError("--config", expected=f"settings that it takes ({known})", got=", ".join(left))
    return arguments, missing


def _parameters(make: Any) -> list[inspect.Parameter]:
    """What a call of `make` takes; a class is asked for its `__init__`, for a metaclass may hide that."""
    if inspect.isclass(make) and inspect.isfunction(make.__init__):
        return list(inspect.signature(make.__init__).parameters.values())[1:]
    return list(inspect.signature(make).parameters.values())


def _dataclass(cls: Any, values: dict[str, Any]) -> Any:
    try:
        return cls(**values)
    except InputError:
        raise
    except Exception as error:
        raise _failed("--config", f"what makes a {cls.__name__}", error) from error


def _annotation(make: Any, name: str) -> Any:
    function = make.__init__ if inspect.isclass(make) else make
    try:
        return typing.get_type_hints(function).get(name)
    except Exception:  # annotations of another's code may name what isn't there
        return None


def _rngs() -> Any:
    from flax import nnx

    return nnx.Rngs(0)


def _key() -> Any:
    import jax

    return jax.random.key(0)


_SEEDS = {"rngs": _rngs, "key": _key}


def _failed(subject: str, expected: str, error: Exception) -> InputError:
    message = str(error).strip().splitlines()
    said = f"{type(error).__name__}: {message[0]}" if message else type(error).__name__
    return InputError(subject, expected=expected, got=said)
