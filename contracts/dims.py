"""A dim is one letter with one meaning, declared once and bound once: by a config field or by the call."""

import typing
from dataclasses import dataclass


@dataclass(frozen=True)
class Dim:
    """The name of an axis. `Annotated[int, D]` on a config field binds it to that field's value."""

    name: str
    meaning: str


def bound_fields(cls: type) -> dict[str, str]:
    """Dim name to the name of the field of `cls` that binds it, in the order of the fields."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {
        mark.name: field
        for field, hint in hints.items()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, Dim)
    }
