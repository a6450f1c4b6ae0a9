"""Where arrays lie. Rows are split over all devices; parameters over those of the axis `data`, each where it can be.

This is fully sharded data parallelism (ZeRO stage 3, arXiv 1910.02054): each device keeps a part of the parameters and
of the optimizer's state, and gathers parameters when it computes with them. The partitioner of XLA puts in what is
sent. Along the axis `replica` parameters are repeated: for devices whose links to each other are slower than those
among `data`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from jaxtyping import PyTree

from contracts.errors import InputError

REPLICA, DATA = "replica", "data"


def data_mesh(devices: Sequence[Any] | None = None, replicas: int = 1) -> Mesh:
    """All devices of all processes, or these, as `[replica, data]`.

    Raises:
        InputError: for replicas that the devices can't be shared among equally.
    """
    found = np.array(jax.devices() if devices is None else list(devices))
    if replicas < 1 or found.size % replicas:
        raise InputError("replicas", expected=f"a number that divides {found.size} devices", got=replicas)
    return Mesh(found.reshape(replicas, -1), (REPLICA, DATA), axis_types=(AxisType.Auto,) * 2)


def sharded_axis(shape: tuple[int, ...], devices: int) -> int | None:
    """The largest axis that `devices` divide, the first of equals; `None` if there is none."""
    dividing = [axis for axis, size in enumerate(shape) if size % devices == 0]
    return max(dividing, key=lambda axis: shape[axis]) if dividing else None


def shardings(tree: PyTree, mesh: Mesh, stacked: int = 0) -> PyTree:
    """For each array its largest axis that the devices divide is split; where there is none, each has all of it.

    So many axes in front as `stacked` says are never split: that of seeds.
    """

    def sharding(array: Any) -> NamedSharding:
        axis = sharded_axis(array.shape[stacked:], mesh.shape[DATA])
        spec = [DATA if index == axis else None for index in range(len(array.shape) - stacked)]
        return NamedSharding(mesh, PartitionSpec(*[None] * stacked, *spec))

    return jax.tree.map(sharding, tree)


def everywhere(mesh: Mesh) -> NamedSharding:
    """Each device has all of it."""
    return NamedSharding(mesh, PartitionSpec())


def gathering(places: PyTree, mesh: Mesh) -> Callable[[PyTree], PyTree]:
    """From parameters that lie at `places` to the whole of them on each device; gradients go back to the places.

    Said explicitly, for the partitioner left to itself gathers the rows of all devices instead, on each of them.
    """
    if mesh.size == 1:
        return lambda params: params

    @jax.custom_vjp
    def gather(params: PyTree) -> PyTree:
        return jax.lax.with_sharding_constraint(params, everywhere(mesh))

    def forward(params: PyTree) -> tuple[PyTree, None]:
        return gather(params), None

    def backward(_: None, gradients: PyTree) -> tuple[PyTree]:
        summed = jax.lax.with_sharding_constraint(gradients, everywhere(mesh))  # over the rows, before it is cut
        return (jax.lax.with_sharding_constraint(summed, places),)

    gather.defvjp(forward, backward)
    return gather


def rows_over(mesh: Mesh, axes: int) -> NamedSharding:
    """Arrays of so many axes, `[..., rows, positions]`, have their rows on all devices."""
    return NamedSharding(mesh, PartitionSpec(*[None] * (axes - 2), (REPLICA, DATA), None))


def split_rows(fields: PyTree, mesh: Mesh) -> PyTree:
    """Fields `[..., rows, positions]` of this process's rows, as arrays whose rows lie on all devices."""
    return jax.tree.map(
        lambda field: jax.make_array_from_process_local_data(rows_over(mesh, field.ndim), field), fields
    )


def require_divisible(rows: int, mesh: Mesh) -> None:
    """Refuse rows of one part of a step that the devices can't share equally."""
    if rows % mesh.size:
        hint = "choose another --batch-size or --accumulate"
        expected = f"rows of a part of a step that {mesh.size} devices divide"
        raise InputError("batch_size / accumulate", expected=expected, got=rows, hint=hint)
