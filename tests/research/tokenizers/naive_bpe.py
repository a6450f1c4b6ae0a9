"""The witness for training and encoding: recount every pair at every step, replace by scanning. Slow and obvious."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

Pair = tuple[int, int]


def naive_merges(word_counts: Mapping[bytes, int], limit: int, min_count: int, tie_break: str) -> list[Pair]:
    words = {word: list(word) for word in word_counts}
    tokens = {value: bytes([value]) for value in range(256)}
    merges: list[Pair] = []
    while len(merges) < limit:
        counts: Counter[Pair] = Counter()
        for word, ids in words.items():
            for pair in pairwise(ids):
                counts[pair] += word_counts[word]
        most = max(counts.values(), default=0)
        if most < min_count:
            break
        tied = [pair for pair, count in counts.items() if count == most]
        if tie_break == "smallest-ids":
            best = min(tied)
        else:
            largest = max((tokens[left], tokens[right]) for left, right in tied)
            best = min(pair for pair in tied if (tokens[pair[0]], tokens[pair[1]]) == largest)
        new_id = 256 + len(merges)
        tokens[new_id] = tokens[best[0]] + tokens[best[1]]
        merges.append(best)
        words = {word: replaced(ids, best, new_id) for word, ids in words.items()}
    return merges


def naive_encode(pieces: Iterable[str], merges: Sequence[Pair]) -> list[int]:
    """Every merge in learned order, over the whole of each piece."""
    found: list[int] = []
    for piece in pieces:
        ids = list(piece.encode())
        for new_id, pair in enumerate(merges, 256):
            ids = replaced(ids, pair, new_id)
        found += ids
    return found


def replaced(ids: list[int], pair: Pair, new_id: int) -> list[int]:
    """`ids` with every `pair` replaced, from left to right."""
    found, index = [], 0
    while index < len(ids):
        if tuple(ids[index : index + 2]) == pair:
            found.append(new_id)
            index += 2
        else:
            found.append(ids[index])
            index += 1
    return found
