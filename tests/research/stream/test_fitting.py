"""Best fit in bulk against best fit one by one."""

import time

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive_rows import naive_best_fit

from research.stream.fitting import best_fit

CAPACITY = 12
sizes = st.lists(st.integers(1, CAPACITY), max_size=40)


def rooms_left(bin_of, sizes):
    used = np.bincount(bin_of, sizes).astype(int) if sizes else np.zeros(0, int)
    return sorted((CAPACITY - used).tolist())


@given(sizes=sizes)
def test_equal_pieces_placed_together_leave_the_rooms_that_one_by_one_leaves(sizes):
    bin_of = best_fit(np.array(sizes, np.int64), CAPACITY, np.zeros(len(sizes), bool))
    assert rooms_left(bin_of, sizes) == naive_best_fit(sizes, CAPACITY)


@given(alone=sizes, sizes=sizes)
def test_a_piece_that_opens_a_bin_shares_it_only_with_pieces_that_do_not(alone, sizes):
    opens_bin = np.repeat([True, False], [len(alone), len(sizes)])
    bin_of = best_fit(np.array(alone + sizes, np.int64), CAPACITY, opens_bin)
    assert len(set(bin_of[opens_bin])) == len(alone)
    assert rooms_left(bin_of, alone + sizes) == naive_best_fit(sizes, CAPACITY, alone)


def test_a_million_documents_are_placed_in_seconds():
    sizes = np.random.default_rng(0).zipf(1.3, 1_000_000).clip(1, 1024)
    begun = time.monotonic()
    bin_of = best_fit(sizes, 1024, np.zeros(len(sizes), bool))
    assert time.monotonic() - begun < 20
    assert np.bincount(bin_of, sizes).max() <= 1024
