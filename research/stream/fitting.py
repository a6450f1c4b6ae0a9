"""Best fit decreasing, for as many documents as there are: those of one length are placed together.

Source: Ding et al. 2024, "Fewer truncations improve language modeling", arXiv 2404.10830, section 3.
"""

from bisect import bisect_left, insort

import numpy as np
from jaxtyping import Bool, Int64

Sizes = Int64[np.ndarray, "pieces"]
Some = Int64[np.ndarray, "_"]
"""some of the pieces, or of the bins, by number"""


def best_fit(sizes: Sizes, capacity: int, opens_bin: Bool[np.ndarray, "pieces"]) -> Sizes:
    """The bin of each piece, by size from the largest down, always where the least room remains that is enough.

    Pieces that `opens_bin` get a bin each before all others are placed. No size may exceed `capacity`.
    """
    bin_of = np.empty(len(sizes), np.int64)
    bins = _Bins(capacity)
    for size, pieces in _by_size(sizes, np.flatnonzero(opens_bin)):
        bin_of[pieces] = bins.opened(len(pieces))
        bins.leave(bin_of[pieces], capacity - size)
    for size, pieces in _by_size(sizes, np.flatnonzero(~opens_bin)):
        while len(pieces):
            # Best fit puts equal pieces into one bin until it has no room for another, then into the next tightest.
            room, found = bins.tightest(size, len(pieces))
            each = room // size
            taken = np.repeat(found, each)[: len(pieces)]
            bin_of[pieces[: len(taken)]] = taken
            full, rest = divmod(len(taken), each)
            bins.leave(found[:full], room - each * size)
            bins.leave(found[full:], room - rest * size)
            pieces = pieces[len(taken) :]
    return bin_of


def _by_size(sizes: Sizes, pieces: Some) -> list[tuple[int, Some]]:
    """(size, those of `pieces` that have it), from the largest size down."""
    order = pieces[np.argsort(-sizes[pieces], kind="stable")]
    borders = np.flatnonzero(np.diff(sizes[order])) + 1
    return [(int(sizes[group[0]]), group) for group in np.split(order, borders) if len(group)]


class _Bins:
    """Bins by the room that they have left."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.count = capacity, 0
        self.rooms: list[int] = []  # sorted, those of which there is a bin
        self.stacks: dict[int, list[Some]] = {}

    def opened(self, count: int) -> Some:
        """That many new bins."""
        self.count += count
        return np.arange(self.count - count, self.count)

    def leave(self, bins: Some, room: int) -> None:
        """Put bins back, with the room that they now have."""
        if len(bins) and room:
            if room not in self.stacks:
                insort(self.rooms, room)
            self.stacks.setdefault(room, []).append(bins)

    def tightest(self, size: int, pieces: int) -> tuple[int, Some]:
        """The least room that holds `size`, and bins that have it: no more than that many pieces fill."""
        place = bisect_left(self.rooms, size)
        if place == len(self.rooms):
            return self.capacity, self.opened(-(-pieces // (self.capacity // size)))
        room = self.rooms[place]
        needed = -(-pieces // (room // size))
        stack = self.stacks[room]
        bins = stack.pop()
        if len(bins) > needed:
            stack.append(bins[needed:])
        if not stack:
            del self.stacks[room], self.rooms[place]
        return room, bins[:needed]
