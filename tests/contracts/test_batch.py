"""The one batch contract: five fields, none of which may be missing, and a policy whose every choice is spelled out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from contracts.batch import Batch, RowPolicy
from contracts.core import contract
from contracts.errors import InputError, ShapeError

FIELDS = {
    "tokens": np.zeros((2, 3), np.int32),
    "targets": np.zeros((2, 3), np.int32),
    "segments": np.zeros((2, 3), np.int32),
    "positions": np.zeros((2, 3), np.int32),
    "weights": np.ones((2, 3), np.float32),
}
POLICY = {"packing": "fit", "isolation": "segments", "positions": "restart", "loss": "all"}

every_field = pytest.mark.parametrize("name", Batch._fields)


@contract
def total_weight(batch: Batch) -> jax.Array | np.generic:
    return batch.weights.sum()


@every_field
def test_a_batch_without_a_field_can_not_be_made(name):
    with pytest.raises(TypeError, match=name):
        Batch(**{field: value for field, value in FIELDS.items() if field != name})


@pytest.mark.needs_contracts
@every_field
@pytest.mark.parametrize(
    "wrong",
    [None, np.zeros((2, 4), np.int32), np.zeros((2, 3), np.int64), np.zeros(3, np.int32)],
    ids=["none", "another length", "int64", "one axis"],
)
def test_a_field_that_is_not_what_the_contract_says_is_refused_by_name(name, wrong):
    # Whichever of two fields of different length is looked at first decides, so the second is named.
    named = "targets" if name == "tokens" and np.shape(wrong) == (2, 4) else name
    with pytest.raises(ShapeError, match=rf"'batch'\.{named}\n"):
        total_weight(Batch(**{**FIELDS, name: wrong}))


def test_a_batch_is_the_same_contract_on_host_and_device_and_under_jit():
    batch = Batch(**FIELDS)
    assert total_weight(batch) == jax.jit(total_weight)(jax.tree.map(jnp.asarray, batch)) == 6


@pytest.mark.parametrize("name", POLICY)
def test_no_choice_of_a_policy_has_a_default(name):
    with pytest.raises(TypeError, match=name):
        RowPolicy(**{choice: value for choice, value in POLICY.items() if choice != name})


@pytest.mark.parametrize("name", POLICY)
def test_an_unknown_choice_is_refused_with_the_known_ones(name):
    with pytest.raises(InputError, match=f"RowPolicy {name}: expected one of .*, got 'other'"):
        RowPolicy(**{**POLICY, name: "other"})


def test_windows_over_the_stream_can_not_give_each_document_its_own_row():
    with pytest.raises(InputError, match="expected 'fit' under 'reset', got 'concatenate'"):
        RowPolicy(**{**POLICY, "packing": "concatenate", "isolation": "reset"})


@pytest.mark.parametrize(("isolation", "expected"), [("cross", False), ("segments", True), ("reset", False)])
def test_only_segments_need_a_mask(isolation, expected):
    assert RowPolicy(**{**POLICY, "isolation": isolation}).needs_mask is expected
