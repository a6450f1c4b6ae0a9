"""Stage 4: ids of words. A word is merged once, remembered by its number, and copied whenever it comes again.

    words      mark | the | cat       numbers from `words.py`
    id_starts  0      0     1    3
    ids               263   99 305

In the merge table every pair has two homes and is in one of them (cuckoo hashing): two loads and no search, 1.4 to 1.6
times the speed of merging through open addressing.
"""

import numpy as np
from numba import njit

from research.tokenizers.kernels.jit import kernel

ID_BITS = 21
"""so that an entry of the merge table, left id, right id and the id they merge into, is one number"""

_ID, _NONE, _FREE = np.uint64(ID_BITS), np.uint64(1 << ID_BITS), np.uint64(2**64 - 1)
_ONE = np.uint64(1)
_A, _B, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(32)
_BETWEEN, _INSIDE = -1, -2
_FEW = 48  # bytes of a word up to which all places are tried for every merge: 4.5 times the speed of the heap


def merge_table(merges: np.ndarray) -> np.ndarray:
    """uint64: the merges by pair, in a table at least twice as large."""
    bits = max(10, int(2 * len(merges) - 1).bit_length())
    while True:
        table = np.full(1 << bits, _FREE, np.uint64)
        if _fill(table, merges):
            return table
        bits += 1


@kernel
def _fill(table, merges):
    """Put every merge into one of its homes, moving others to theirs; False if that takes a larger table."""
    for index in range(len(merges)):
        entry = _pair(merges[index, 0], merges[index, 1]) | np.uint64(256 + index)
        home = _homes(entry, table)[0]
        for _ in range(500):
            entry, table[home] = table[home], entry
            if entry == _FREE:
                break
            first, second = _homes(entry, table)
            home = second if home == first else first
        else:
            return False
    return True


@njit
def _pair(left, right):
    return (np.uint64(left) << _ID | np.uint64(right)) << _ID


@njit
def _homes(entry, table):
    mixed = (entry >> _ID) * _A
    mixed = (mixed ^ mixed >> _HALF) * _B
    mask = np.uint64(len(table) - 1)
    return mixed >> _HALF & mask, (mixed ^ mixed >> _HALF) & mask


@njit
def _merged(table, left, right):
    """The id that two ids merge into, or a number from _NONE on. What differs in the pair leaves high bits."""
    pair = _pair(left, right)
    first, second = _homes(pair, table)
    return min(table[first] ^ pair, table[second] ^ pair)


@kernel
def encode_words(text, starts, first, last, table, merges, lengths, ids, id_starts):
    """Append the ids of the words from `first` to before `last`."""
    ranks = np.empty(_FEW, np.uint64)
    at = id_starts[first]
    for word in range(first, last):
        size = np.int64(starts[word + 1] - starts[word])
        if size <= _FEW:
            for index in range(size):
                ids[at + index] = text[starts[word] + index]
            at += _merge_few(ids[at : at + size], ranks, table)
        else:
            at += _merge_many(text[starts[word] : starts[word + 1]], table, merges, lengths, ids[at:])
        id_starts[word + 1] = at


@njit
def _merge_few(ids, ranks, table):
    """Merge `ids` in place, the earliest learned pair first; how many remain."""
    size = len(ids)
    for index in range(size - 1):
        ranks[index] = _merged(table, ids[index], ids[index + 1])
    while True:
        place, lowest = 0, _FREE
        for index in range(size - 1):
            if ranks[index] < lowest:
                place, lowest = index, ranks[index]
        if lowest >= _NONE:
            return size
        size -= 1
        ids[place] = lowest
        for index in range(place + 1, size):
            ids[index] = ids[index + 1]
            ranks[index - 1] = ranks[index]
        if place > 0:
            ranks[place - 1] = _merged(table, ids[place - 1], lowest)
        if place < size - 1:
            ranks[place] = _merged(table, lowest, ids[place + 1])


@njit
def _merge_many(text, table, merges, lengths, ids):
    """The same for a long word in n log n: a heap of (id, place), symbols as in `merge.py`."""
    size = len(text)
    symbols = np.full(size + 2, _BETWEEN, np.int32)
    heap = np.empty(3 * size, np.int64)
    queued = 0
    for index in range(size):
        symbols[index + 1] = text[index]
        queued = _offer(heap, queued, table, symbols[index], symbols[index + 1], index)
    while queued > 0:
        new, start = (heap[0] >> 32), heap[0] & 0xFFFFFFFF
        queued = _drop_first(heap, queued)
        left, right = merges[new - 256, 0], merges[new - 256, 1]
        middle, end = start + lengths[left], start + lengths[new]
        if symbols[start] != left or symbols[middle] != right:
            continue
        symbols[middle] = _INSIDE
        symbols[start] = symbols[end - 1] = new
        queued = _offer(heap, queued, table, new, symbols[end], start)
        before = symbols[start - 1]
        if before != _BETWEEN:
            queued = _offer(heap, queued, table, before, new, start - lengths[before])
    count, at = 0, 1
    while at <= size:
        ids[count] = symbols[at]
        at += lengths[symbols[at]]
        count += 1
    return count


@njit
def _offer(heap, queued, table, left, right, place):
    """Queue the merge of two neighbours, if there is one; how many are queued then."""
    if left == _BETWEEN or right == _BETWEEN:
        return queued
    merged = _merged(table, left, right)
    if merged >= _NONE:
        return queued
    entry, at = np.int64(merged) << 32 | place, queued
    while at > 0 and heap[(at - 1) >> 1] > entry:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = entry
    return queued + 1


@njit
def _drop_first(heap, queued):
    size = queued - 1
    entry, at = heap[size], 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= entry:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = entry
    return size


@kernel
def emit(numbers, pieces, ids, id_starts, out, at, closed, offsets, documents):
    """Write the ids of words one after another from `at` on, and at a mark that closes a document where it ends.

    Returns the new end, and how many documents have ended.
    """
    end, marks = np.uint64(at), 0
    for piece in range(pieces):
        word = numbers[piece]
        if word == 0:
            if closed[marks]:
                documents += 1
                offsets[documents] = end
            marks += 1
        for index in range(id_starts[word], id_starts[word + 1]):
            out[end] = ids[index]
            end += _ONE
    return end, documents
