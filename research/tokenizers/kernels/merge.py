"""Stage 3: learns merges from counted words. Time goes to the places where a merged pair stands, and nowhere else.

    symbols   #  t  h  e  #  h  e  #       a symbol for every byte, words between #. When (h, e) becomes 256, 2 bytes:
              #  t 256 256 # 256 256 #     a symbol is written at its first and its last byte

A symbol's length leads to its neighbours, so there are no links to keep. `places` holds for pair after pair where it
stands, from left to right. All places of a pair arise in one pass, when the younger of its symbols is made; later they
only go stale and its count only falls. So an entry of the heap may be late, but never too low: it is put right when it
comes up.
"""

import numpy as np
from numba import njit

from research.tokenizers.kernels.jit import kernel

_BETWEEN, _INSIDE = -1, -2
_A, _HALF, _ONE = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(1)

_LEFT, _RIGHT, _COUNT, _FIRST, _PLACES = range(5)
_SYMBOL, _PLACE, _WEIGHT = range(3)
PAIRS, QUEUED, PLACES, MERGED, BYTES = range(5)
GOES_ON, ENDED, FULL = range(3)


@kernel
def lay_out(words, starts, counts, text, symbols, spelled, byte_pairs):
    """Words become symbols between marks, and pairs of bytes are counted."""
    symbols[0, 0] = _BETWEEN
    at = 1
    for word in range(1, len(counts)):
        for source in range(starts[word], starts[word + 1]):
            byte = words[source]
            text[at] = byte
            symbols[at, 0], symbols[at, 1] = byte, word
            spelled[byte] = at
            before = symbols[at - 1, 0]
            if before != _BETWEEN:
                byte_pairs[before << 8 | byte, 0] += counts[word]
                byte_pairs[before << 8 | byte, 1] += 1
            at += 1
        symbols[at, 0] = _BETWEEN
        at += 1


@kernel
def write_places(symbols, cursors, places):
    """Where each pair of bytes stands; a cursor below 0 is that of a pair too rare."""
    for at in range(1, len(symbols) - 1):
        left, right = symbols[at, 0], symbols[at + 1, 0]
        if left != _BETWEEN and right != _BETWEEN and cursors[left << 8 | right] >= 0:
            places[cursors[left << 8 | right]] = at
            cursors[left << 8 | right] += 1


@kernel
def learn(
    symbols, counts, pairs, slots, heap, places, lengths, spelled, merges, before, after, tally, touched, sizes,
    names, limit, min_count, most_in_token, most_bytes, at_once,
):  # fmt: skip
    """Merge until nothing is left to do, the next token would have too many bytes (FULL), or for a while (GOES_ON):
    until room is short or `at_once` places were walked."""
    walked = 0
    while sizes[MERGED] < limit:
        _put_right(heap, sizes, pairs, min_count, names)
        if sizes[QUEUED] == 0:
            return ENDED
        if walked > at_once or not fits(pairs, heap, sizes):
            return GOES_ON
        length = lengths[pairs[heap[0, 1], _LEFT]] + lengths[pairs[heap[0, 1], _RIGHT]]
        if length > most_in_token or sizes[BYTES] + length > most_bytes:
            return FULL
        pair = _pop(heap, sizes, pairs, names)
        left, right, new = pairs[pair, _LEFT], pairs[pair, _RIGHT], 256 + sizes[MERGED]
        merges[sizes[MERGED], 0], merges[sizes[MERGED], 1] = left, right
        sizes[MERGED] += 1
        lengths[new] = length
        sizes[BYTES] += length
        mine = places[pairs[pair, _FIRST] : pairs[pair, _FIRST] + pairs[pair, _PLACES]]
        walked += len(mine)
        n_before, n_after = _replace(mine, left, right, new, symbols, counts, lengths, spelled, before, after)
        born = sizes[PAIRS]
        # In this order: of `abab`, the second `ab` first loses (new, a), then the pair (new, new) takes it.
        _settle(after[:n_after], False, left, right, new, min_count, tally, touched, pairs, slots, places, sizes)
        _settle(before[:n_before], True, left, right, new, min_count, tally, touched, pairs, slots, places, sizes)
        for pair in range(born, sizes[PAIRS]):
            if pairs[pair, _COUNT] >= min_count:
                _push(heap, sizes, pair, pairs, names)
    return ENDED


@kernel
def fits(pairs, heap, sizes):
    """Whether there is room for the pairs that one more merge can bring forth."""
    most = 2 * min(pairs[heap[0, 1], _PLACES], 256 + sizes[MERGED] + 1)
    return sizes[PAIRS] + most <= len(pairs)


@njit
def _replace(places, left, right, new, symbols, counts, lengths, spelled, before, after):
    """Put `new` wherever `left`, `right` still stand, and note the neighbours; how many before and after."""
    left_length, length = lengths[left], lengths[new]
    n_before = n_after = 0
    for start in places:
        middle, end = start + left_length, start + length
        if symbols[start, 0] != left or symbols[middle, 0] != right:
            continue  # one of the two has become part of another symbol
        symbols[middle, 0] = _INSIDE
        symbols[start, 0] = symbols[end - 1, 0] = new
        spelled[new] = start
        count = counts[symbols[start, 1]]
        neighbour = symbols[start - 1, 0]
        if neighbour != _BETWEEN:
            note = before[n_before]
            note[_SYMBOL], note[_PLACE], note[_WEIGHT] = neighbour, start - lengths[neighbour], count
            n_before += 1
        neighbour = symbols[end, 0]
        if neighbour != _BETWEEN:
            note = after[n_after]
            note[_SYMBOL], note[_PLACE], note[_WEIGHT] = neighbour, start, count
            n_after += 1
    return n_before, n_after


@njit
def _settle(notes, are_before, left, right, new, min_count, tally, touched, pairs, slots, places, sizes):
    """What its neighbours lose with the old symbols they win with `new`: two look-ups for a distinct neighbour."""
    distinct = 0
    for note in range(len(notes)):
        symbol = notes[note, _SYMBOL]
        if tally[symbol, 1] == 0:
            touched[distinct] = symbol
            distinct += 1
        tally[symbol, 0] += notes[note, _WEIGHT]
        tally[symbol, 1] += 1
    for index in range(distinct):
        symbol = touched[index]
        count, number = tally[symbol, 0], tally[symbol, 1]
        if are_before:
            old, first, second = _find(pairs, slots, symbol, left), symbol, new
        else:
            old, first, second = _find(pairs, slots, right, symbol), new, symbol
        pairs[old, _COUNT] -= count
        tally[symbol, 0] = _bear(first, second, count, number, pairs, slots, sizes) if count >= min_count else -1
    for note in range(len(notes)):
        symbol = notes[note, _SYMBOL]
        if tally[symbol, 0] >= 0:
            places[tally[symbol, 0]] = notes[note, _PLACE]
            tally[symbol, 0] += 1
    for index in range(distinct):
        tally[touched[index], 0] = tally[touched[index], 1] = 0


@njit
def _bear(left, right, count, number, pairs, slots, sizes):
    """Add a pair with room for `number` places; where its first place goes."""
    pair, first = sizes[PAIRS], sizes[PLACES]
    sizes[PAIRS] += 1
    sizes[PLACES] += number
    row = pairs[pair]
    row[_LEFT], row[_RIGHT], row[_COUNT], row[_FIRST], row[_PLACES] = left, right, count, first, number
    _take_slot(slots, pairs, pair)
    return first


@njit
def _slot(slots, left, right):
    mixed = (np.uint64(left) << _HALF | np.uint64(right)) * _A
    return (mixed ^ mixed >> _HALF) & np.uint64(len(slots) - 1)


@njit
def _find(pairs, slots, left, right):
    """The pair of two symbols; pair 0, whose count means nothing, for one that always was too rare."""
    slot = _slot(slots, left, right)
    while slots[slot]:
        pair = slots[slot]
        if pairs[pair, _LEFT] == left and pairs[pair, _RIGHT] == right:
            return pair
        slot = (slot + _ONE) & np.uint64(len(slots) - 1)
    return np.uint32(0)


@njit
def _take_slot(slots, pairs, pair):
    slot = _slot(slots, pairs[pair, _LEFT], pairs[pair, _RIGHT])
    while slots[slot]:
        slot = (slot + _ONE) & np.uint64(len(slots) - 1)
    slots[slot] = pair


@kernel
def fill_slots(slots, pairs, used):
    for pair in range(1, used):
        _take_slot(slots, pairs, pair)


@njit
def _put_right(heap, sizes, pairs, min_count, names):
    """Correct entries that are late until the first one is true, or none is left."""
    while sizes[QUEUED] > 0 and heap[0, 0] != pairs[heap[0, 1], _COUNT]:
        count = pairs[heap[0, 1], _COUNT]
        if count < min_count:
            _pop(heap, sizes, pairs, names)
        else:
            heap[0, 0] = count
            _sink(heap, sizes[QUEUED], pairs, names)


@njit
def _pop(heap, sizes, pairs, names):
    pair = heap[0, 1]
    sizes[QUEUED] -= 1
    heap[0, 0], heap[0, 1] = heap[sizes[QUEUED], 0], heap[sizes[QUEUED], 1]
    _sink(heap, sizes[QUEUED], pairs, names)
    return pair


@njit
def _push(heap, sizes, pair, pairs, names):
    at, count = sizes[QUEUED], pairs[pair, _COUNT]
    sizes[QUEUED] += 1
    while at > 0:
        parent = (at - 1) >> 1
        if not _precedes(count, pair, heap[parent, 0], heap[parent, 1], pairs, names):
            break
        heap[at, 0], heap[at, 1] = heap[parent, 0], heap[parent, 1]
        at = parent
    heap[at, 0], heap[at, 1] = count, pair


@njit
def _sink(heap, size, pairs, names):
    """Move the first entry down to where it belongs."""
    at, count, pair = 0, heap[0, 0], heap[0, 1]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        other = child + 1
        if other < size and _precedes(heap[other, 0], heap[other, 1], heap[child, 0], heap[child, 1], pairs, names):
            child = other
        if not _precedes(heap[child, 0], heap[child, 1], count, pair, pairs, names):
            break
        heap[at, 0], heap[at, 1] = heap[child, 0], heap[child, 1]
        at = child
    heap[at, 0], heap[at, 1] = count, pair


@njit
def _precedes(count, pair, other_count, other, pairs, names):
    """Whether the first comes before the second: the higher count, then the tie-break.

    `names` is `None` for smallest ids, so that this compiles to a few comparisons: 2.5 times the speed of the whole.
    """
    if count != other_count:
        return count > other_count
    if names is not None:
        order = _compared(pairs[pair, _LEFT], pairs[other, _LEFT], names)
        if order == 0:
            order = _compared(pairs[pair, _RIGHT], pairs[other, _RIGHT], names)
        if order != 0:
            return order > 0
    if pairs[pair, _LEFT] != pairs[other, _LEFT]:
        return pairs[pair, _LEFT] < pairs[other, _LEFT]
    return pairs[pair, _RIGHT] < pairs[other, _RIGHT]


@njit
def _compared(symbol, other, names):
    """Above 0 if the bytes of `symbol` are greater than those of `other`, below if less."""
    text, lengths, spelled = names
    for index in range(min(lengths[symbol], lengths[other])):
        difference = np.int64(text[spelled[symbol] + index]) - np.int64(text[spelled[other] + index])
        if difference != 0:
            return difference
    return np.int64(lengths[symbol]) - np.int64(lengths[other])
