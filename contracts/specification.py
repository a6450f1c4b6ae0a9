"""The specs as data: canonical JSON and its digest, which go into every manifest.

Documentation and line numbers are left out, so that only a change of meaning changes the digest.
"""

import dataclasses
import hashlib
import importlib
import inspect
import json
import typing
from types import ModuleType
from typing import Any

from contracts.dims import Dim
from contracts.explain import spell
from contracts.matching import is_array_hint

SPEC_MODULES = ("contracts.tokenizer", "contracts.stream", "contracts.decoder", "contracts.results")


def specification() -> dict[str, Any]:
    """Every dim, alias, dataclass and protocol of the specs, by module."""
    return {name: _module(importlib.import_module(name)) for name in SPEC_MODULES}


def canonical_json(data: Any) -> str:
    """Sorted keys, no spaces: equal data is equal text."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(data: Any) -> str:
    """SHA-256 of the canonical JSON, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(data).encode()).hexdigest()


def _module(module: ModuleType) -> dict[str, Any]:
    found: dict[str, Any] = {"dims": [], "aliases": {}, "dataclasses": {}, "protocols": {}}
    for name, value in vars(module).items():
        if isinstance(value, Dim):
            found["dims"].append(value.name)
        elif is_array_hint(value):
            found["aliases"][name] = spell(value)
        elif inspect.isclass(value) and value.__module__ == module.__name__:
            if dataclasses.is_dataclass(value):
                found["dataclasses"][name] = _fields(value)
            elif typing.is_typeddict(value) or getattr(value, "_is_protocol", False):
                found["protocols"][name] = _methods(value)
    return found


def _fields(cls: type) -> dict[str, str]:
    hints = typing.get_type_hints(cls, include_extras=True)
    spelled = {}
    for field in dataclasses.fields(cls):
        marks = [mark.name for mark in getattr(hints[field.name], "__metadata__", ()) if isinstance(mark, Dim)]
        default = "" if field.default is dataclasses.MISSING else f" = {field.default!r}"
        spelled[field.name] = spell(hints[field.name]) + "".join(f" as {mark}" for mark in marks) + default
    return spelled


def _methods(protocol: type) -> dict[str, str]:
    spelled = {}
    for name, member in vars(protocol).items():
        function = member.fget if isinstance(member, property) else member
        if inspect.isfunction(function) and (name == "__call__" or not name.startswith("_")):
            signature = inspect.signature(function)
            parts = [
                f"{p.name}: {_annotation(p.annotation)}" for p in signature.parameters.values() if p.name != "self"
            ]
            spelled[name] = f"({', '.join(parts)}) -> {_annotation(signature.return_annotation)}"
    return spelled


def _annotation(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return "?"
    return annotation if isinstance(annotation, str) else spell(annotation)
