import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.decoder import DecoderConfig
from contracts.errors import InputError
from research.model import check_tokens

CONFIG = DecoderConfig(vocab_size=257)


@given(st.lists(st.integers(0, 256)))
def test_every_id_of_the_vocabulary_passes_unchanged(ids):
    tokens = np.array(ids, np.int32)
    assert check_tokens(tokens, CONFIG) is tokens


@given(st.lists(st.integers(-3, 259), min_size=1))
def test_the_first_id_outside_is_named_with_its_index(ids):
    outside = [(i, token) for i, token in enumerate(ids) if token not in range(257)]
    if not outside:
        check_tokens(np.array(ids, np.int32), CONFIG)
        return
    with pytest.raises(InputError) as error:
        check_tokens(np.array(ids, np.int32), CONFIG)
    assert (error.value.where, error.value.got) == (f"index {outside[0][0]}", outside[0][1])


def test_a_negative_id_is_refused_though_an_embedding_would_read_its_last_row():
    with pytest.raises(InputError, match=r"expected 0 to 256 .*got -1 at batch 7, index \(1, 2\)"):
        check_tokens(np.array([[0, 1, 2], [3, 4, -1]], np.int32), CONFIG, where="batch 7")


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.uint32, np.float32, bool])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(InputError, match=f"expected int32, got {np.dtype(dtype)}"):
        check_tokens(np.zeros((2, 3), dtype), CONFIG)
