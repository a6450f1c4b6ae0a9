"""What is varied and what is held: a base, factors whose levels set some of its fields, the arms, and the seeds."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Generic, TypeVar

from contracts.errors import InputError

Base = TypeVar("Base")
#: The level of each factor, in the order of the factors.
Arm = tuple[str, ...]


@dataclass(frozen=True)
class Factor:
    """One thing that is varied. A level is a name, and the fields of the base that it sets."""

    name: str
    levels: Mapping[str, Mapping[str, Any]]

    def __post_init__(self) -> None:
        if not self.levels:
            raise InputError(f"factor {self.name}", expected="at least one level", got="none")


@dataclass(frozen=True)
class Ablation(Generic[Base]):
    """Every arm under every seed. The base is any frozen dataclass: what one cell is made from."""

    base: Base
    factors: tuple[Factor, ...]
    seeds: tuple[int, ...]
    arms: tuple[Arm, ...] = ()
    """the combinations of levels that are run; all of them if none are named"""

    def __post_init__(self) -> None:
        if len(self.seeds) < 2 or len(set(self.seeds)) < len(self.seeds):
            hint = "a single training has no spread, so nothing can be said of it"
            raise InputError("seeds", expected="at least two, all different", got=self.seeds, hint=hint)
        self._require_one_owner()
        if not self.arms:
            object.__setattr__(self, "arms", tuple(product(*(factor.levels for factor in self.factors))))
        for arm in self.arms:
            self.settings(arm)

    def settings(self, arm: Arm) -> Base:
        """The base with the fields that the levels of `arm` set.

        Raises `InputError` for a level or a field that there is none of.
        """
        changes: dict[str, Any] = {}
        if len(arm) != len(self.factors):
            raise InputError("arm", expected=f"a level of each of {len(self.factors)} factors", got=arm)
        for factor, level in zip(self.factors, arm, strict=True):
            if level not in factor.levels:
                raise InputError(f"level of {factor.name}", expected=f"one of {', '.join(factor.levels)}", got=level)
            changes |= factor.levels[level]
        unknown = set(changes) - {field.name for field in dataclasses.fields(self.base)}  # type: ignore[arg-type]
        if unknown:
            raise InputError(
                "factors", expected=f"fields of {type(self.base).__name__}", got=", ".join(sorted(unknown))
            )
        return dataclasses.replace(self.base, **changes)  # type: ignore[type-var]

    def levels(self, arm: Arm) -> dict[str, str]:
        """The level of each factor by its name, as rows and tables state it."""
        return {factor.name: level for factor, level in zip(self.factors, arm, strict=True)}

    def _require_one_owner(self) -> None:
        owner: dict[str, str] = {}
        for factor in self.factors:
            for field in {field for level in factor.levels.values() for field in level}:
                if field in owner:
                    got = f"{field} set by {owner[field]} and by {factor.name}"
                    raise InputError("factors", expected="each field set by one factor", got=got)
                owner[field] = factor.name
