"""Integers as they enter from outside: ids in range become int32; all else is refused, ids with their position."""

from typing import Any

import numpy as np

from contracts.core import contract
from contracts.errors import InputError
from contracts.tokenizer import TokenIds


@contract
def checked_ids(ids: Any, below: int) -> TokenIds:
    """`ids` as int32, each in 0..below-1. Raises `InputError` for other types, shapes and values."""
    if hasattr(ids, "__array__"):
        return _checked_array(np.asarray(ids), below)
    try:
        values = list(ids)
    except TypeError:
        raise InputError("ids", expected="a sequence of integers", got=type(ids).__name__) from None
    return np.array([checked_id(value, below, position) for position, value in enumerate(values)], np.int32)


def checked_id(value: Any, below: int, position: int = 0) -> int:
    """One id as an int in 0..below-1. Raises `InputError` for another type or value."""
    if not is_integer(value):
        raise InputError("ids", expected="integers", got=repr(value), where=f"position {position}")
    if not 0 <= value < below:
        raise _out_of_range(value, below, position)
    return int(value)


def checked_threads(threads: Any) -> int:
    """`threads` as an int of at least 1. Raises `InputError` for anything else."""
    if not is_integer(threads) or threads < 1:
        raise InputError("threads", expected="an integer of at least 1", got=repr(threads))
    return int(threads)


def is_integer(value: Any) -> bool:
    """Whether `value` is a Python or numpy integer; a bool is none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _checked_array(array: np.ndarray, below: int) -> np.ndarray:
    if array.ndim != 1 or array.dtype.kind not in "iu":
        got = f"{array.dtype} of shape {array.shape}"
        raise InputError("ids", expected="a one-dimensional array of an integer dtype", got=got)
    if array.size and (array.min() < 0 or array.max() >= below):
        position = int(((array < 0) | (array >= below)).argmax())
        raise _out_of_range(array[position], below, position)
    return array.astype(np.int32)


def _out_of_range(value: Any, below: int, position: int) -> InputError:
    return InputError("ids", expected=f"ids 0..{below - 1}", got=value, where=f"position {position}")
