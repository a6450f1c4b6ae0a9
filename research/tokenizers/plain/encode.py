"""Applies merges to a pre-token: always the earliest learned pair that is present, from left to right.

A heap of merges over linked ids keeps a long piece (100,000 letters without a space) at n log n, not n squared.
"""

import heapq
from collections.abc import Mapping
from itertools import pairwise

Pair = tuple[int, int]

_ABSORBED = -1


def merge_bytes(data: bytes, ranks: Mapping[Pair, int]) -> list[int]:
    """The ids of one pre-token. `ranks` gives the id that a pair merges into, larger than the two ids of the pair.

    So when a merge's turn comes, no further place of its pair can come to be: all are taken in one pass.
    """
    ids = list(data)
    end = len(ids)
    before = list(range(-1, end - 1))
    after = list(range(1, end + 1))
    places: dict[int, list[int]] = {}
    for place, pair in enumerate(pairwise(data)):
        if (merged := ranks.get(pair)) is not None:
            places.setdefault(merged, []).append(place)
    heap = list(places)
    heapq.heapify(heap)
    while heap:
        merged = heapq.heappop(heap)
        for place in sorted(places.pop(merged)):
            right = after[place]
            if right == end or ranks.get((ids[place], ids[right])) != merged:
                continue  # an earlier merge changed one of the two, or absorbed this place
            ids[place], ids[right] = merged, _ABSORBED
            after[place] = following = after[right]
            if following < end:
                before[following] = place
                if (later := ranks.get((merged, ids[following]))) is not None:
                    _offer(heap, places, later, place)
            previous = before[place]
            if previous >= 0 and (later := ranks.get((ids[previous], merged))) is not None:
                _offer(heap, places, later, previous)
    return [token_id for token_id in ids if token_id != _ABSORBED]


def _offer(heap: list[int], places: dict[int, list[int]], merged: int, place: int) -> None:
    if merged in places:
        places[merged].append(place)
    else:
        places[merged] = [place]
        heapq.heappush(heap, merged)


class PieceEncoder:
    """Pre-token to ids, remembering the short ones: text repeats its words."""

    most_remembered = 1 << 16
    longest_remembered = 64

    def __init__(self, ranks: Mapping[Pair, int]) -> None:
        self._ranks = ranks
        self._remembered: dict[str, list[int]] = {}

    def __call__(self, piece: str) -> list[int]:
        ids = self._remembered.get(piece)
        if ids is None:
            ids = merge_bytes(piece.encode(), self._ranks)
            if len(piece) <= self.longest_remembered:
                if len(self._remembered) >= self.most_remembered:
                    self._remembered.clear()
                self._remembered[piece] = ids
        return ids
