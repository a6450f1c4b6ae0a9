"""Attention pairs of packed rows, counted row by row, beside the formula for documents cut anywhere."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int64

from experiments.ablation.rows import row_documents
from research.costs import causal_pairs, kept_pair_fraction, query_block_pairs
from research.model.query_blocks import query_block
from research.stream import Rows

PerRow = Int64[np.ndarray, "rows"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """What one epoch of rows computes, and what of it lies within documents."""

    length: int
    documents: PerRow
    """of each row"""
    filled: PerRow
    """positions of each row that are not padding"""
    within: PerRow
    """causal pairs within documents"""

    @property
    def rows(self) -> int:
        """Of the epoch."""
        return len(self.documents)

    @property
    def executed(self) -> int:
        """Pairs that the kernel of this machine computes, whatever the mask says: in blocks of queries on a CPU."""
        return self.rows * query_block_pairs(self.length, query_block(self.length))

    @property
    def causal(self) -> int:
        """Pairs of full rows with a causal mask alone."""
        return self.rows * causal_pairs(self.length)

    @property
    def visible_across(self) -> int:
        """Pairs that a document has with itself and with those before it in its row."""
        return int((self.filled * (self.filled + 1) // 2).sum())

    @property
    def useful(self) -> int:
        """Pairs within documents, of all rows."""
        return int(self.within.sum())

    @property
    def per_document_count(self) -> dict[int, tuple[int, float]]:
        """By the number of documents k: how many rows have it, and which share of their pairs lies within documents.

        Padding is left out, so that the share is that of a row that its documents fill.
        """
        share = self.within / (self.filled * (self.filled + 1) / 2)
        return {
            int(k): (int((self.documents == k).sum()), float(share[self.documents == k].mean()))
            for k in np.unique(self.documents)
        }

    @cached_property
    def mean_documents(self) -> float:
        """k in the mean."""
        return float(self.documents.mean())


def uniform_cuts(documents: float) -> float:
    """The share of causal pairs within k documents of a row that is cut in k - 1 places, all equally likely.

    The lengths of k pieces of a unit interval have E[x^2] = 2 / (k (k + 1)), so that the sum of their squares has the
    mean 2 / (k + 1); equal lengths give 1 / k, the least there is.
    """
    return 2 / (documents + 1)


def count_pairs(rows: Rows) -> Pairs:
    """Every row of an epoch."""
    counted: list[tuple[int, int, int]] = []
    for step in range(rows.batches_in_order):
        batch = rows.in_order(step)
        found = row_documents(rows, batch)
        if rows.policy.isolation == "reset":
            found = np.minimum(found, 0)  # a document a row
        for row in found:
            filled = int((row >= 0).sum())
            if filled:
                sizes = np.bincount(row[row >= 0])
                share = kept_pair_fraction(sizes.tolist(), rows.length)
                counted.append((len(sizes), filled, round(share * causal_pairs(rows.length))))
    documents, filled_, within = (np.array(field, np.int64) for field in zip(*counted, strict=True))
    return Pairs(rows.length, documents, filled_, within)
