"""A dim is one letter with one meaning, declared once and bound once: by a config field or by the call."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Dim:
    """The name of an axis. `Annotated[int, D]` on a config field binds it to that field's value."""

    name: str
    meaning: str
