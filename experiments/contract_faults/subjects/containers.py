"""A subject for faults: the caches of many layers in every kind of container, each read leaf by leaf.

No two leaves are ever compared, so only a checker can see that one of them is not like the others.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float32

from contracts.core import contract

Slots = Float32[Array, "B S G K"]
Newest = Float32[Array, ""]


class Four(NamedTuple):
    """Four layers' keys."""

    first: Slots
    second: Slots
    third: Slots
    last: Slots


@dataclass(frozen=True)
class FourFrozen:
    """The same as a dataclass."""

    first: Slots
    second: Slots
    third: Slots
    last: Slots


@contract
def of_list(caches: list[Slots]) -> Newest:
    """The newest key of the first head, summed over layers."""
    return _newest(caches)


@contract
def of_tuple(caches: tuple[Slots, ...]) -> Newest:
    """The same of a tuple."""
    return _newest(caches)


@contract
def of_dict(caches: dict[str, Slots]) -> Newest:
    """The same of a dict."""
    return _newest(caches.values())


@contract
def of_named_tuple(caches: Four) -> Newest:
    """The same of a NamedTuple."""
    return _newest(caches)


@contract
def of_dataclass(caches: FourFrozen) -> Newest:
    """The same of a dataclass."""
    return _newest((caches.first, caches.second, caches.third, caches.last))


def _newest(caches: Iterable[Any]) -> Any:
    return sum((jnp.sum(cache[:, -1, 0]) for cache in caches), jnp.float32(0))
