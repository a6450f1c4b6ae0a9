"""Learns merges from counted pre-tokens; nothing else of a corpus matters, so a repeated text merges no slower.

Every adjacent position of a pair counts, weighted by how often its pre-token occurs. Merging a pair touches only the
places where it stands, and the counts of its neighbours there.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

from contracts.errors import InputError
from contracts.tokenizer import TieBreak
from research.progress import progress
from research.tokenizers import limits
from research.tokenizers.text import utf8

Pair = tuple[int, int]

_ABSORBED = -1
_NONE = -1


def count_pretokens(documents: Iterable[str], split: Callable[[str], list[str]]) -> Counter[str]:
    """How often each pre-token occurs in all documents together."""
    if isinstance(documents, (str, bytes)) or not isinstance(documents, Iterable):
        raise InputError(
            "documents",
            expected="an iterable of texts",
            got=type(documents).__name__,
            hint="put a single text in a list",
        )
    counts: Counter[str] = Counter()
    with progress("counting pre-tokens", unit="characters") as bar:
        for index, document in enumerate(documents):
            utf8(document, what=f"document {index}")
            counts.update(split(document))
            bar.advance(len(document))
    return counts


def learn_merges(
    word_counts: Mapping[bytes, int], limit: int, min_count: int = 2, tie_break: TieBreak = "smallest-ids"
) -> list[Pair]:
    """The merges alone that `learn` learns."""
    return learn(word_counts, limit, min_count, tie_break)[0]


def learn(
    word_counts: Mapping[bytes, int], limit: int, min_count: int = 2, tie_break: TieBreak = "smallest-ids"
) -> tuple[list[Pair], bool]:
    """At most `limit` merges, the most frequent pair first, until no pair occurs `min_count` times.

    It stops, too, where the next token would have more bytes than `limits` allows, and says so (True): a vocabulary
    with it could not be read again, and one without it would not be the training's.

    A merge takes its pair from left to right, so three equal ids become a pair and a rest. Ties go to the smallest
    (left id, right id), as in rustbpe, or to the largest (left bytes, right bytes), as in Stanford's CS336.
    """
    chains = _Chains(word_counts)
    precedence = _Precedence(tie_break)
    merges: list[Pair] = []
    heap = [precedence.entry(count, pair) for pair, count in chains.counts.items() if count >= min_count]
    heapq.heapify(heap)
    with progress("learning merges", total=limit, unit="merges") as bar:
        while heap and len(merges) < limit:
            negative_count, *_, pair = heapq.heappop(heap)
            count = chains.counts[pair]
            if count != -negative_count:
                # Counts only fall once a pair's younger token exists, so an entry may be late but never too low.
                if count >= min_count:
                    heapq.heappush(heap, precedence.entry(count, pair))
                continue
            if not precedence.has_room(pair):
                return merges, True
            merges.append(pair)
            precedence.add(pair)
            for born in chains.merge(pair, 255 + len(merges)):
                if chains.counts[born] >= min_count:
                    heapq.heappush(heap, precedence.entry(chains.counts[born], born))
            bar.advance()
    return merges, False


class _Precedence:
    """Orders pairs in the heap: higher count first, then the tie-break, then the ids. Knows the bytes of tokens."""

    def __init__(self, tie_break: TieBreak) -> None:
        self._by_bytes = tie_break == "largest-bytes"
        self._tokens = [bytes([value]) for value in range(256)]
        self._keys = [self._key(token_id) for token_id in range(256)]
        self._total = 256

    def has_room(self, pair: Pair) -> bool:
        size = len(self._tokens[pair[0]]) + len(self._tokens[pair[1]])
        return size <= limits.MOST_TOKEN_BYTES and self._total + size <= limits.MOST_VOCABULARY_BYTES

    def add(self, pair: Pair) -> None:
        self._tokens.append(self._tokens[pair[0]] + self._tokens[pair[1]])
        self._total += len(self._tokens[-1])
        self._keys.append(self._key(len(self._tokens) - 1))

    def entry(self, count: int, pair: Pair) -> tuple[Any, ...]:
        return -count, self._keys[pair[0]], self._keys[pair[1]], pair

    def _key(self, token_id: int) -> Any:
        if not self._by_bytes:
            return token_id
        # Complements turn the order round, and 256 after the last byte puts `ab` before its prefix `a`.
        return *(255 - value for value in self._tokens[token_id]), 256


class _Chains:
    """Every distinct pre-token as a chain of ids, and for each pair its count and where it stands."""

    def __init__(self, word_counts: Mapping[bytes, int]) -> None:
        self.ids: list[int] = []
        self.weights: list[int] = []
        self.after: list[int] = []
        self.before: list[int] = []
        self.counts: dict[Pair, int] = defaultdict(int)
        self.places: dict[Pair, list[int]] = defaultdict(list)
        for word, count in word_counts.items():
            self._append(word, count)

    def _append(self, word: bytes, count: int) -> None:
        start, end = len(self.ids), len(self.ids) + len(word)
        self.ids += word
        self.weights += [count] * len(word)
        self.before += [_NONE, *range(start, end - 1)]
        self.after += [*range(start + 1, end), _NONE]
        for place, pair in enumerate(pairwise(word), start):
            self.counts[pair] += count
            self.places[pair].append(place)

    def merge(self, pair: Pair, merged: int) -> set[Pair]:
        """Put `merged` wherever `pair` stands; the pairs that came to be.

        All places of a pair arise in one pass, that of its younger token, from left to right: lists are in order.
        """
        left, right = pair
        ids, after, before, counts = self.ids, self.after, self.before, self.counts
        born: set[Pair] = set()
        for place in self.places.pop(pair):
            next_place = after[place]
            if ids[place] != left or next_place == _NONE or ids[next_place] != right:
                continue  # an earlier merge, or this one a place to the left, took one of the two
            weight = self.weights[place]
            previous, following = before[place], after[next_place]
            ids[place], ids[next_place] = merged, _ABSORBED
            after[place] = following
            if previous != _NONE:
                counts[ids[previous], left] -= weight
                born.add(self._stand((ids[previous], merged), previous, weight))
            if following != _NONE:
                before[following] = place
                counts[right, ids[following]] -= weight
                born.add(self._stand((merged, ids[following]), place, weight))
        del counts[pair]
        return born

    def _stand(self, pair: Pair, place: int, weight: int) -> Pair:
        self.counts[pair] += weight
        self.places[pair].append(place)
        return pair
