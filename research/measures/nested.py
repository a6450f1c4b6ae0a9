"""Every vocabulary inside a large one from a single count: splitting the token learned last, again and again, passes
through all smaller vocabularies, so that each row's worth and each size's tokens are known without encoding again.
"""

import numpy as np

from contracts.core import contract
from contracts.measures import IdCounts, LengthsByMerges
from contracts.tokenizer import Merges


@contract
def split_back(occurrences: IdCounts, merges: Merges, size: int = 256) -> IdCounts:
    """The ids from `size` on, split one after the other, the last one first: each leaves its left and right part.

    Below `size` stands how often each id occurs under the vocabulary of that size. From `size` on stands how often
    an id occurred when it was the last one: as many tokens its row saves.
    """
    counts, parts = occurrences.tolist(), merges.tolist()
    for token in range(len(counts) - 1, size - 1, -1):
        left, right = parts[token - 256]
        counts[left] += counts[token]
        counts[right] += counts[token]
    return np.array(counts, np.int64)


@contract
def lengths_by_merges(occurrences: IdCounts, merges: Merges) -> LengthsByMerges:
    """Tokens of the text under no merge, the first one, the first two, ... and all of them."""
    counts = split_back(occurrences, merges)
    return counts[:256].sum() - np.cumsum(np.concatenate([[0], counts[256:]]))
