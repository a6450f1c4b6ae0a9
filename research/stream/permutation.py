"""A shuffle without state: where one index goes is computed, not looked up, so any step of any epoch costs the same.

A Feistel network is a permutation whatever its round function; walking its cycles narrows it to any size.
"""

import math

import numpy as np
from jaxtyping import Int64, UInt64

from contracts.core import contract

Indices = Int64[np.ndarray, "n"]
Words = UInt64[np.ndarray, "*shape"]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
ROUNDS = np.arange(12, dtype=np.uint64)[:, None] * GOLDEN


@contract
def permuted(index: Indices, epoch: Indices, size: int, seed: int) -> Indices:
    """Where each `index` below `size` goes in the permutation of its `epoch` and of `seed` (0 to 2**64 - 1).

    The network permutes a square that holds `size` with little to spare; an image outside `size` is mapped again until
    it is inside (cycle walking: Black and Rogaway 2002). Its side is even, without which half of all permutations, the
    odd ones, could not come.
    """
    keys = _mixed(_mixed(_mixed(np.full(len(index), seed, np.uint64)) ^ epoch.astype(np.uint64)) + ROUNDS)
    side = math.isqrt(size - 1) + 1
    side += side % 2
    image = index.astype(np.uint64)
    outside = np.arange(len(image))
    while len(outside):
        image[outside] = _feistel(image[outside], keys[:, outside], np.uint64(side))
        outside = outside[image[outside] >= size]
    return image.astype(np.int64)


def _feistel(index: Words, keys: UInt64[np.ndarray, "rounds *shape"], side: np.uint64) -> Words:
    left, right = np.divmod(index, side)
    for key in keys:
        left, right = right, (left + _mixed(key ^ right) % side) % side
    return left * side + right


def _mixed(x: Words) -> Words:
    """The output function of SplitMix64 (Steele, Lea and Flood 2014): a flipped bit flips half of the others."""
    x = x + GOLDEN
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
