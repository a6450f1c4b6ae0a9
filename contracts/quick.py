"""A quick yes for what most signatures consist of: arrays with plainly named axes, classes, and containers of them.

A yes here is always a yes of `mismatch`, and a no says nothing: `mismatch` alone judges what fails, and every array
whose axes are more than names, such as `"... d"` or `"2*d"`. Nothing is remembered: every leaf is looked at each time.
"""

from collections.abc import Callable
from typing import Any

from contracts.hints import Structure, array_hints, is_array_hint, is_record, meaning, structure
from contracts.matching import mismatch

Sizes = dict[str, Any]
"""dim to size, as bound so far; a match adds what it binds"""

Match = Callable[[Any, Sizes], bool]


def quick_match(hint: Any) -> Match | None:
    """Whether a value satisfies `hint`, given the sizes bound so far; `None` for a hint that needs `mismatch`."""
    return _match(meaning(hint), ())


def _match(hint: Any, outer: tuple[Any, ...]) -> Match | None:
    """`outer` are the hints that this one stands in: a class that holds itself is left to `mismatch`."""
    if is_array_hint(hint):
        return _array(hint)
    if _is_plain_class(hint):
        return lambda value, sizes: isinstance(value, hint)
    parts = structure(hint)
    if parts is not None and not any(hint is other for other in outer):
        inner = [_match(meaning(part), (*outer, hint)) for part in parts.parts]
        matches = [match for match in inner if match is not None]
        if len(matches) == len(inner):
            return _structure(parts, matches)
    return None if any(array_hints(hint)) else lambda value, sizes: mismatch(value, hint) is None


def _is_plain_class(hint: Any) -> bool:
    """A class that holds nothing to look into: no dataclass, no NamedTuple, no protocol."""
    return type(hint) is type and not is_record(hint)


def _array(hint: Any) -> Match | None:
    words = hint.dim_str.split()
    is_plain = all(word.isdigit() or (word.isidentifier() and word[0] != "_") for word in words)
    is_listed = isinstance(hint.dtypes, (tuple, list)) and all(isinstance(dtype, str) for dtype in hint.dtypes)
    kind: Any = object if hint.array_type is Any else hint.array_type
    if not is_plain or not is_listed or not isinstance(kind, type):
        return None
    axes = [int(word) if word.isdigit() else word for word in words]
    dtypes, rank = frozenset(hint.dtypes), len(axes)

    def match(value: Any, sizes: Sizes) -> bool:
        if not isinstance(value, kind) or _dtype_name(value) not in dtypes:
            return False
        shape = getattr(value, "shape", None)
        if shape is None or len(shape) != rank:
            return False
        for axis, size in zip(axes, shape, strict=True):
            if (sizes.setdefault(axis, size) if type(axis) is str else axis) != size:
                return False
        return True

    return match


def _dtype_name(value: Any) -> str:
    """As jaxtyping names it; empty for what is no array of JAX or NumPy."""
    return getattr(getattr(getattr(value, "dtype", None), "type", None), "__name__", "")


def _structure(parts: Structure, matches: list[Match]) -> Match:
    kind, cls = parts.kind, parts.cls
    if kind == "union":
        return lambda value, sizes: any(_bind_if(match, value, sizes) for match in matches)
    if kind == "keys":
        named = dict(zip(parts.names, matches, strict=True))
        required: frozenset[str] = cls.__required_keys__
        return lambda value, sizes: (
            isinstance(value, dict)
            and required <= value.keys()
            and all(match(value[key], sizes) for key, match in named.items() if key in value)
        )
    if kind == "fields":
        fields = list(zip(parts.names, matches, strict=True))
        return lambda value, sizes: (
            isinstance(value, cls) and all(match(getattr(value, name), sizes) for name, match in fields)
        )
    if kind == "tuple":
        return lambda value, sizes: (
            isinstance(value, tuple)
            and len(value) == len(matches)
            and all(match(item, sizes) for match, item in zip(matches, value, strict=True))
        )
    if kind == "mapping":
        key, item = matches
        return lambda value, sizes: (
            isinstance(value, cls) and all(key(k, sizes) and item(v, sizes) for k, v in value.items())
        )
    (item,) = matches
    plain = meaning(parts.parts[0])
    if _is_plain_class(plain):  # the hundred thousand ids of a text
        return lambda value, sizes: isinstance(value, cls) and all(isinstance(x, plain) for x in value)
    return lambda value, sizes: isinstance(value, cls) and all(item(x, sizes) for x in value)


def _bind_if(match: Match, value: Any, sizes: Sizes) -> bool:
    """`match`, which leaves `sizes` as they were if it fails half-way."""
    bound = dict(sizes)
    if not match(value, bound):
        return False
    sizes.update(bound)
    return True
