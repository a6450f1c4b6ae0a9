"""The decoder's parameters as spec: where each one hangs and which axes it has. Checked both ways, all at once.

A table, not a model: what a checkpoint holds is known before anything is built, and a path too many is found as surely
as one that is missing. Silently loading 12 layers into 16 is what this is against.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from contracts.decoder import DecoderConfig
from contracts.dims import bound_fields

#: Path to axes; `*` is the index of a layer. Under `scan_layers` it is left out and the axes begin with L.
PARAMETERS: Mapping[str, str] = {
    "embed.embedding": "V D",
    "blocks.*.mixer_norm.scale": "D",
    "blocks.*.mixer.query.kernel": "D H*K",
    "blocks.*.mixer.key.kernel": "D G*K",
    "blocks.*.mixer.value.kernel": "D G*K",
    "blocks.*.mixer.out.kernel": "H*K D",
    "blocks.*.feed_forward_norm.scale": "D",
    "blocks.*.feed_forward.gate.kernel": "D F",
    "blocks.*.feed_forward.up.kernel": "D F",
    "blocks.*.feed_forward.down.kernel": "F D",
    "norm.scale": "D",
}

#: What a decoder has besides unless `config.tied`.
UNTIED_PARAMETERS: Mapping[str, str] = {"head.kernel": "D V"}


class Parameter(NamedTuple):
    """One array that a decoder holds: its row of the table, the axes by name, and their sizes."""

    pattern: str
    axes: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str


def expected_parameters(config: DecoderConfig) -> dict[str, Parameter]:
    """Path to parameter, for every parameter of a decoder of this config."""
    sizes = {dim: getattr(config, field) for dim, field in bound_fields(type(config)).items()}
    table = {**PARAMETERS, **({} if config.tied else UNTIED_PARAMETERS)}
    found = {}
    for pattern, spelled in table.items():
        axes = tuple(spelled.split())
        if "*" in pattern and config.scan_layers:
            axes = ("L", *axes)
        shape = tuple(axis_size(axis, sizes) for axis in axes)
        parameter = Parameter(pattern, axes, shape, config.param_dtype)
        found.update(dict.fromkeys(_paths(pattern, config), parameter))
    return found


def axis_size(axis: str, sizes: Mapping[str, int]) -> int:
    """The size of an axis such as `D`, `H*K` or `2*F`."""
    return math.prod(int(factor) if factor.isdigit() else sizes[factor] for factor in axis.split("*"))


def parameter_count(config: DecoderConfig) -> int:
    """Elements of all parameters, by the table."""
    return sum(math.prod(parameter.shape) for parameter in expected_parameters(config).values())


def parameter_differences(config: DecoderConfig, found: Mapping[str, Any]) -> list[str]:
    """Every difference between the table and `found`, a mapping of path to anything with `shape` and `dtype`.

    Missing and unexpected paths, shapes and dtypes; what is the same in several layers is one line.
    """
    expected = expected_parameters(config)
    complaints: dict[str, list[str]] = {}
    for path in sorted({*expected, *found}, key=_layer_order):
        for complaint in _complaints(expected.get(path), found.get(path), _pattern(path)):
            complaints.setdefault(complaint, []).append(path)
    return [f"{complaint}{_layers(paths)}" for complaint, paths in complaints.items()]


def _paths(pattern: str, config: DecoderConfig) -> Iterator[str]:
    if "*" not in pattern:
        yield pattern
    elif config.scan_layers:
        yield pattern.replace(".*", "")
    else:
        yield from (pattern.replace("*", str(layer)) for layer in range(config.n_layers))


def _complaints(expected: Parameter | None, found: Any, pattern: str) -> Iterator[str]:
    if expected is None:
        yield f"{pattern}: unexpected {_array(found)}"
    elif found is None:
        yield f"{pattern}: missing {_array(expected)} = {' '.join(expected.axes)}"
    else:
        if tuple(found.shape) != expected.shape:
            yield f"{pattern}: {_shape(found)}, not {_shape(expected)} = {' '.join(expected.axes)}"
        if str(found.dtype) != expected.dtype:
            yield f"{pattern}: {found.dtype}, not {expected.dtype} (config.param_dtype)"


def _array(value: Any) -> str:
    return f"{value.dtype}{_shape(value)}"


def _shape(value: Any) -> str:
    return f"[{','.join(map(str, value.shape))}]"


def _pattern(path: str) -> str:
    return ".".join("*" if step.isdigit() else step for step in path.split("."))


def _layer_order(path: str) -> list[tuple[int, str]]:
    return [(int(step), "") if step.isdigit() else (-1, step) for step in path.split(".")]


def _layers(paths: list[str]) -> str:
    """`, in layers 0-11, 15`; nothing where the path names no layer."""
    numbers = sorted({int(step) for path in paths for step in path.split(".") if step.isdigit()})
    if not numbers:
        return ""
    return f", in layer{'s' if len(numbers) > 1 else ''} {', '.join(_ranges(numbers))}"


def _ranges(numbers: Iterable[int]) -> Iterator[str]:
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        first, *rest = (number for _, number in run)
        yield f"{first}-{rest[-1]}" if rest else str(first)
