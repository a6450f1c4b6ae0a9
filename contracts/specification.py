"""The specs as data: canonical JSON and its digest, which go into every manifest.

Documentation and line numbers are left out, so that only a change of meaning changes the digest; what the change
breaks is for `contracts.difference` to say.
"""

import ast
import dataclasses
import hashlib
import importlib
import inspect
import json
import typing
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from contracts.dims import Dim, bound_fields
from contracts.hints import is_array_hint, spell

SPEC_MODULES = (
    "contracts.tokenizer",
    "contracts.stream",
    "contracts.batch",
    "contracts.decoder",
    "contracts.parameters",
    "contracts.evaluation",
    "contracts.generation",
    "contracts.measures",
    "contracts.results",
)


def specification(modules: Iterable[str] = SPEC_MODULES) -> dict[str, Any]:
    """Every dim, alias, set of choices, table, dataclass and protocol of the specs, by module.

    A dataclass (or NamedTuple) is field to `{"type", "dim", "default"}`; a protocol is member to `{"type"}`, of an
    attribute, or `{"takes", "returns"}`, of a method, whose arguments are `[name, type]` or `[name, type, default]`.
    """
    return {name: _module(importlib.import_module(name)) for name in modules}


def canonical_json(data: Any) -> str:
    """Sorted keys, no spaces: equal data is equal text."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(data: Any) -> str:
    """SHA-256 of the canonical JSON, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(data).encode()).hexdigest()


def protocols_of(module: ModuleType) -> dict[str, type]:
    """The protocols that `module` defines, by name."""
    return {name: cls for name, cls in _classes(module) if getattr(cls, "_is_protocol", False)}


def members(protocol: type) -> dict[str, Any]:
    """Name to function (of a method or property) or annotation (of an attribute): all that `protocol` asks for."""
    found: dict[str, Any] = {}
    for base in reversed(protocol.__mro__):
        if base is typing.Protocol or not getattr(base, "_is_protocol", False):
            continue
        found |= inspect.get_annotations(base)
        found |= {name: member for name, member in vars(base).items() if _is_asked_for(name, member)}
    return found


def _is_asked_for(name: str, member: Any) -> bool:
    is_public = name == "__call__" or not name.startswith("_")
    return is_public and (inspect.isfunction(member) or isinstance(member, property))


def _classes(module: ModuleType) -> Iterator[tuple[str, type]]:
    for name, value in vars(module).items():
        if inspect.isclass(value) and value.__module__ == module.__name__ and not is_array_hint(value):
            yield name, value


def _module(module: ModuleType) -> dict[str, Any]:
    found: dict[str, Any] = {"dims": [], "aliases": {}, "choices": {}, "tables": {}}
    for name in _assigned(module):
        value = vars(module)[name]
        if isinstance(value, Dim):
            found["dims"].append(value.name)
        elif is_array_hint(value):
            found["aliases"][name] = spell(value)
        elif typing.get_origin(value) is typing.Literal:
            found["choices"][name] = [repr(choice) for choice in typing.get_args(value)]
        elif name.isupper() and isinstance(value, Mapping):
            found["tables"][name] = _plain(value)
    found["dims"].sort()
    found["dataclasses"] = {name: _fields(cls) for name, cls in _classes(module) if is_record(cls)}
    found["protocols"] = {
        name: {member: _member(value) for member, value in members(protocol).items()}
        for name, protocol in protocols_of(module).items()
    }
    return found


def _assigned(module: ModuleType) -> Iterator[str]:
    """The names that `module` assigns itself: an alias that it imports belongs to another."""
    for node in ast.parse(inspect.getsource(module)).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def _plain(value: Any) -> Any:
    """Mappings and tuples as JSON has them."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def is_record(cls: type) -> bool:
    """Whether `cls` is a dataclass or a NamedTuple."""
    return dataclasses.is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


def _fields(cls: type) -> dict[str, dict[str, str]]:
    hints = typing.get_type_hints(cls, include_extras=True)
    dims = {field: dim for dim, field in bound_fields(cls).items()}
    found = {}
    for name, parameter in inspect.signature(cls).parameters.items():
        found[name] = {"type": spell(hints[name])}
        if name in dims:
            found[name]["dim"] = dims[name]
        if parameter.default is not parameter.empty:
            found[name]["default"] = repr(parameter.default)
    return found


def _member(member: Any) -> dict[str, Any]:
    if isinstance(member, property):
        return {"type": _annotation(inspect.signature(member.fget).return_annotation)}  # type: ignore[arg-type]
    if not inspect.isfunction(member):
        return {"type": _annotation(member)}
    signature = inspect.signature(member)
    arguments = [parameter for name, parameter in signature.parameters.items() if name != "self"]
    return {"takes": [_argument(each) for each in arguments], "returns": _annotation(signature.return_annotation)}


def _argument(parameter: inspect.Parameter) -> list[str]:
    argument = [parameter.name, _annotation(parameter.annotation)]
    return argument if parameter.default is parameter.empty else [*argument, repr(parameter.default)]


def _annotation(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return "?"
    return annotation if isinstance(annotation, str) else spell(annotation)
