"""How the parameters of a config would lie on a mesh of one data axis: the largest axis that divides is sharded.

Where none divides the array is replicated; an odd vocabulary such as 257 never shards, but its other axis does.
"""

import math
from typing import NamedTuple

from contracts.decoder import DecoderConfig
from contracts.parameters import Parameter, expected_parameters
from experiments.tables import si
from research.costs.memory import dtype_bytes, parameter_bytes
from research.train.mesh import sharded_axis


class Placement(NamedTuple):
    """One row of the table of parameters, and the axis that is sharded, if there is one."""

    parameter: Parameter
    axis: int | None
    arrays: int

    def bytes_of_a_device(self, devices: int) -> int:
        """What one of `devices` holds of these arrays."""
        size = math.prod(self.parameter.shape) * dtype_bytes(self.parameter.dtype) * self.arrays
        return size if self.axis is None else size // devices

    def describe(self, devices: int) -> str:
        """`embed.embedding [257, 256]: D = 256 over 8 devices (V = 257 does not divide)`."""
        parameter, sizes = self.parameter, list(zip(self.parameter.axes, self.parameter.shape, strict=True))
        odd = ", ".join(f"{axis} = {size:,}" for axis, size in sizes if size % devices)
        plural = "does" if odd.count("=") == 1 else "do"
        rest = f"{odd} {plural} not divide" if odd else ""
        head = f"{parameter.pattern} {list(parameter.shape)}"
        if self.axis is None:
            return f"{head}: replicated, {rest}"
        axis, size = sizes[self.axis]
        return f"{head}: {axis} = {size:,} over {devices}" + (f"; {rest}" if rest else "")


def placements(config: DecoderConfig, devices: int) -> list[Placement]:
    """Where the parameters of each row of the table would lie."""
    rows: dict[str, list[Parameter]] = {}
    for parameter in expected_parameters(config).values():
        rows.setdefault(parameter.pattern, []).append(parameter)
    return [Placement(row[0], sharded_axis(row[0].shape, devices), len(row)) for row in rows.values()]


def layout(config: DecoderConfig, devices: int) -> list[str]:
    """A line for each row of the table, and what one device holds."""
    placed = placements(config, devices)
    held = sum(placement.bytes_of_a_device(devices) for placement in placed)
    return [
        *(placement.describe(devices) for placement in placed),
        f"{si(held, 'B')} of parameters on each device, of {si(parameter_bytes(config, config.param_dtype), 'B')}",
    ]
