"""The stateless shuffle: a bijection for every size, evenly distributed, the same everywhere and for ever."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.stream.permutation import permuted


def epoch_order(size, epoch=0, seed=0):
    return permuted(np.arange(size), np.full(size, epoch), size, seed).tolist()


@given(size=st.integers(1, 700), epoch=st.integers(0, 2**40), seed=st.integers(0, 2**64 - 1))
def test_every_index_goes_to_one_place_and_every_place_is_taken(size, epoch, seed):
    assert sorted(epoch_order(size, epoch, seed)) == list(range(size))


@given(index=st.lists(st.integers(0, 10**12 - 1), max_size=5), seed=st.integers(0, 99))
def test_where_an_index_goes_does_not_depend_on_what_else_is_asked(index, seed):
    together = permuted(np.array(index, np.int64), np.arange(len(index)), 10**12, seed)
    alone = [permuted(np.array([i]), np.array([epoch]), 10**12, seed)[0] for epoch, i in enumerate(index)]
    assert together.tolist() == alone


def test_epochs_and_seeds_have_orders_of_their_own():
    orders = {tuple(epoch_order(50, epoch, seed)) for epoch in range(10) for seed in range(10)}
    assert len(orders) == 100


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_all_orders_of_a_few_rows_come_equally_often(size):
    epochs = 12_000
    index, epoch = np.tile(np.arange(size), epochs), np.repeat(np.arange(epochs), size)
    seen = Counter(map(tuple, permuted(index, epoch, size, 7).reshape(epochs, size).tolist()))
    orders = list(permutations(range(size)))
    expected = epochs / len(orders)
    # The mean of chi-squared over its degrees of freedom is 1, its deviation 1.41 for one degree and less for more.
    assert sum((seen[order] - expected) ** 2 / expected for order in orders) / (len(orders) - 1) < 4


def mixed(x):
    """SplitMix64 with Python's integers."""
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


def naive_permuted(index, epoch, size, seed):
    side = next(side for side in range(2, size + 2, 2) if side * side >= size)
    key = mixed(mixed(seed) ^ epoch)
    while True:
        left, right = divmod(index, side)
        for number in range(12):
            round_key = mixed((key + number * 0x9E3779B97F4A7C15) % 2**64)
            left, right = right, (left + mixed(round_key ^ right)) % side
        index = left * side + right
        if index < size:
            return index


@given(size=st.integers(1, 60), epoch=st.integers(0, 2**40), seed=st.integers(0, 2**64 - 1))
def test_the_order_is_the_one_that_plain_integers_give(size, epoch, seed):
    expected = [naive_permuted(index, epoch, size, seed) for index in range(size)]
    assert epoch_order(size, epoch, seed) == expected


def test_the_order_is_part_of_what_a_seed_means_and_never_changes():
    assert epoch_order(12, epoch=3, seed=5) == [6, 1, 0, 5, 3, 2, 8, 11, 9, 7, 4, 10]
