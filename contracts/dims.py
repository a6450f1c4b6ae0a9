"""A dim is one letter with one meaning, declared once and bound once: by a config field or by the call."""

import dataclasses
import typing
from dataclasses import dataclass


@dataclass(frozen=True)
class Dim:
    """The name of an axis. `Annotated[int, D]` on a config field binds it to that field's value."""

    name: str
    meaning: str


def bound_fields(cls: type) -> dict[str, str]:
    """Dim name to the name of the dataclass field that binds it, in the order of the fields."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {
        mark.name: field.name
        for field in dataclasses.fields(cls)
        for mark in getattr(hints[field.name], "__metadata__", ())
        if isinstance(mark, Dim)
    }
