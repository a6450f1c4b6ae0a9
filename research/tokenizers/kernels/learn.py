"""Sets up a training for the kernels of `merge.py`, watches it, and gives it room; the kernels allocate nothing."""

from typing import NamedTuple

import numpy as np

from contracts.errors import InputError
from contracts.tokenizer import Merges, TieBreak
from research.progress import progress
from research.tokenizers import limits
from research.tokenizers.kernels import merge
from research.tokenizers.kernels.count import WordCounts

_AT_ONCE = 1 << 22  # places walked between two looks at the progress bar: some tenths of a second


class _State(NamedTuple):
    """The arrays of a training, in the order in which `merge.learn` takes them."""

    symbols: np.ndarray
    """int32[bytes, 2]: the symbol at each byte, and the word it belongs to"""
    counts: np.ndarray
    """int64[words]: how often each word occurs"""
    pairs: np.ndarray
    """int64[..., 5]: left, right, count, first place, number of places; pair 0 is no pair"""
    slots: np.ndarray
    """uint32: numbers of pairs, open addressing by hash"""
    heap: np.ndarray
    """int64[..., 2]: count when queued, pair"""
    places: np.ndarray
    """int32: where pairs stand, pair after pair"""
    lengths: np.ndarray
    """int32[vocabulary]: bytes of each symbol"""
    spelled: np.ndarray
    """int32[vocabulary]: a place where the symbol stands"""
    merges: np.ndarray
    """int32[limit, 2]: the result"""
    before: np.ndarray
    """int64[..., 3]: the neighbours before the pair being merged: symbol, place of the pair it forms, word count"""
    after: np.ndarray
    """the neighbours after it"""
    tally: np.ndarray
    """int64[vocabulary, 2]: for each neighbour in how many words and at how many places it is one"""
    touched: np.ndarray
    """int64[vocabulary]: the neighbours, each once"""
    sizes: np.ndarray
    """int64[5]: how many pairs, entries of the heap, places, merges, bytes of all tokens there are"""


def learn_merges(words: WordCounts, limit: int, min_count: int = 2, tie_break: TieBreak = "smallest-ids") -> Merges:
    """The merges alone that `learn` learns."""
    return learn(words, limit, min_count, tie_break)[0]


def learn(
    words: WordCounts, limit: int, min_count: int = 2, tie_break: TieBreak = "smallest-ids"
) -> tuple[Merges, bool]:
    """What `research.tokenizers.plain.train.learn` learns from the same words."""
    limit = min(limit, int(words.starts[-1]))  # each merge makes a text shorter
    state, text = _begin(words, limit, min_count, tie_break)
    names = None if tie_break == "smallest-ids" else (text, state.lengths, state.spelled)
    most = limits.MOST_TOKEN_BYTES, limits.MOST_VOCABULARY_BYTES
    with progress("learning merges", total=limit, unit="merges") as bar:
        while (ended := merge.learn(*state, names, limit, min_count, *most, _AT_ONCE)) == merge.GOES_ON:
            bar.advance(int(state.sizes[merge.MERGED]) - bar.done)
            state = _with_room(state)
    return state.merges[: state.sizes[merge.MERGED]].copy(), ended == merge.FULL


def _begin(words: WordCounts, limit: int, min_count: int, tie_break: TieBreak) -> tuple[_State, np.ndarray]:
    size, vocabulary = int(words.starts[-1]) + len(words.counts), 256 + limit
    if size >= 2**31:
        raise InputError("corpus", expected="distinct pre-tokens below 2 GiB together", got=f"{size} bytes")
    text, symbols, spelled = np.empty(size, np.uint8), np.empty((size, 2), np.int32), np.zeros(vocabulary, np.int32)
    byte_pairs = np.zeros((1 << 16, 2), np.int64)
    merge.lay_out(words.text, words.starts, words.counts, text, symbols, spelled, byte_pairs)

    born = np.flatnonzero(byte_pairs[:, 0] >= min_count)
    left, right, (counts, numbers) = born >> 8, born & 0xFF, byte_pairs[born].T
    firsts = np.cumsum(numbers) - numbers
    pairs = np.zeros((2 << len(born).bit_length(), 5), np.int64)
    pairs[1 : len(born) + 1] = np.column_stack([left, right, counts, firsts, numbers])
    order = np.lexsort((right, left, -counts) if tie_break == "smallest-ids" else (-right, -left, -counts))
    heap = np.empty((len(pairs), 2), np.int64)
    heap[: len(born)] = np.column_stack([counts, np.arange(1, len(born) + 1)])[order]  # sorted, hence a heap
    places = np.empty(3 * size, np.int32)  # a merge adds at most two and ends a symbol; untouched pages cost nothing
    cursors = np.full(1 << 16, -1)
    cursors[born] = firsts
    merge.write_places(symbols, cursors, places)
    before, after = np.empty((2, int(numbers.max(initial=0)), 3), np.int64)
    state = _State(
        symbols=symbols,
        counts=words.counts,
        pairs=pairs,
        slots=_slots(pairs, len(born) + 1),
        heap=heap,
        places=places,
        lengths=np.ones(vocabulary, np.int32),
        spelled=spelled,
        merges=np.empty((limit, 2), np.int32),
        before=before,
        after=after,
        tally=np.zeros((vocabulary, 2), np.int64),
        touched=np.empty(vocabulary, np.int64),
        sizes=np.array([len(born) + 1, len(born), numbers.sum(), 0, 256]),
    )
    return state, text


def _with_room(state: _State) -> _State:
    """The same with room for as many pairs as another merge can bring forth."""
    if merge.fits(state.pairs, state.heap, state.sizes):
        return state
    pairs, heap = (np.concatenate([array, np.zeros_like(array)]) for array in (state.pairs, state.heap))
    return state._replace(pairs=pairs, heap=heap, slots=_slots(pairs, int(state.sizes[merge.PAIRS])))


def _slots(pairs: np.ndarray, used: int) -> np.ndarray:
    slots = np.zeros(2 * len(pairs), np.uint32)
    merge.fill_slots(slots, pairs, used)
    return slots
