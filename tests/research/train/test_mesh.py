"""Where arrays lie: the same on paper and on devices, and what is refused before anything is compiled."""

import jax
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from research.train.mesh import data_mesh, require_divisible, sharded_axis


@given(st.lists(st.integers(1, 96), min_size=1, max_size=4).map(tuple), st.integers(1, 12))
def test_the_sharded_axis_divides_and_no_larger_one_does(shape, devices):
    axis = sharded_axis(shape, devices)
    if axis is None:
        assert all(size % devices for size in shape)
    else:
        assert shape[axis] % devices == 0
        assert all(size % devices for size in shape if size > shape[axis])


def test_axes_are_automatic_and_replicas_must_divide_the_devices():
    mesh = data_mesh(jax.devices()[:1])
    assert dict(mesh.shape) == {"replica": 1, "data": 1}
    assert set(mesh.axis_types) == {jax.sharding.AxisType.Auto}
    for replicas in (0, 2):
        with pytest.raises(InputError, match=f"replicas: expected a number that divides 1 devices, got {replicas}"):
            data_mesh(jax.devices()[:1], replicas)


def test_rows_that_the_devices_can_not_share_are_refused():
    class Eight:
        size = 8

    require_divisible(16, Eight)
    with pytest.raises(InputError, match="expected rows of a part of a step that 8 devices divide, got 12"):
        require_divisible(12, Eight)
