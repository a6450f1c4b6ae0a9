"""Where arrays lie: one axis of devices, `data`. Rows are split over it, and so is every parameter that can be.

This is fully sharded data parallelism (ZeRO stage 3, arXiv 1910.02054): each device keeps a part of the parameters and
of the optimizer's state, and gathers a layer's when it computes it. The partitioner of XLA puts in what is sent.
"""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from jaxtyping import PyTree

from contracts.errors import InputError

AXIS = "data"


def data_mesh(devices: Sequence[Any] | None = None) -> Mesh:
    """All devices of all processes, or these, in one row."""
    found = jax.devices() if devices is None else list(devices)
    return Mesh(np.array(found), (AXIS,), axis_types=(AxisType.Auto,))


def sharded_axis(shape: tuple[int, ...], devices: int) -> int | None:
    """The largest axis that `devices` divide, the first of equals; `None` if there is none."""
    dividing = [axis for axis, size in enumerate(shape) if size % devices == 0]
    return max(dividing, key=lambda axis: shape[axis]) if dividing else None


def shardings(tree: PyTree, mesh: Mesh) -> PyTree:
    """For each array its largest axis that the devices divide is split; where there is none, each has all of it."""

    def sharding(array: Any) -> NamedSharding:
        axis = sharded_axis(array.shape, mesh.size)
        spec = [AXIS if index == axis else None for index in range(len(array.shape))]
        return NamedSharding(mesh, PartitionSpec(*spec))

    return jax.tree.map(sharding, tree)


def everywhere(mesh: Mesh) -> NamedSharding:
    """Each device has all of it."""
    return NamedSharding(mesh, PartitionSpec())


def split_rows(fields: PyTree, mesh: Mesh) -> PyTree:
    """Fields `[steps, parts, rows, positions]` of this process's rows, as arrays whose rows lie on all devices."""
    sharding = NamedSharding(mesh, PartitionSpec(None, None, AXIS, None))
    return jax.tree.map(lambda field: jax.make_array_from_process_local_data(sharding, field), fields)


def require_divisible(rows: int, mesh: Mesh) -> None:
    """Refuse rows of one part of a step that the devices can't share equally."""
    if rows % mesh.size:
        hint = "choose another --batch-size or --accumulate"
        expected = f"rows of a part of a step that {mesh.size} devices divide"
        raise InputError("batch_size / accumulate", expected=expected, got=rows, hint=hint)
