"""The second net refuses a wrong array, alone and below our contracts, and leaves everything else alone."""

import numpy as np
import pytest
from jaxtyping import Int64, TypeCheckError, jaxtyped
from second_net import check

from contracts.core import contract
from contracts.decoder import LanguageModel
from contracts.errors import ShapeError

Ids = Int64[np.ndarray, "n"]


@jaxtyped(typechecker=check)
def joined(model: LanguageModel, left: Ids, right: Ids | None, size: int) -> list[Ids]:
    return [left[:size]]


def test_arrays_are_checked_and_other_hints_are_not():
    ids = np.arange(3)
    joined(None, ids, None, np.int64(3))
    with pytest.raises(TypeCheckError, match="'right'"):
        joined(None, ids, np.arange(4), 3)
    with pytest.raises(TypeCheckError, match="return value"):
        joined(None, ids, ids, 2)


@pytest.mark.needs_contracts
def test_below_a_contract_the_contract_speaks_first_and_what_it_passes_the_net_passes():
    both = contract(jaxtyped(typechecker=check)(joined.__wrapped__))
    ids = np.arange(3)
    both(None, ids, ids, 3)
    with pytest.raises(ShapeError, match="argument 'right'"):
        both(None, ids, np.arange(4), 3)
