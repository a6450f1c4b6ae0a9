"""What a boundary's position and its id cost in FLOPs and in cache bytes.

Rows are packed full and documents see each other, so a position costs the mean of a full causal row, boundary or not;
an id costs one more logit at every position of the stream.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.results import Factor, Row
from contracts.tokenizer import PROTOCOL_NAMES, Boundary
from experiments.boundary_cost.agreement import agreeing, exact
from experiments.boundary_cost.positions import Encoded
from experiments.boundary_cost.shapes import POLICIES, Shape
from research.costs import causal_pairs, forward_flops, kv_cache_bytes_per_token, training_flops

#: What caches are kept in.
CACHE_DTYPE = "bfloat16"


def training_flops_per_position(shape: Shape) -> int:
    """Forward and backward FLOPs of one position, the mean over a full causal row.

    All terms are multiples of T: projections, feed forward and logits are linear in it, and the T (T + 1) / 2 pairs of
    scores and weighted sum are counted 2 HK each.
    """
    length = shape.context_length
    return training_flops(forward_flops(shape, length, causal_pairs(length)).total) // length


def training_flops_of_an_id(shape: Shape) -> int:
    """Training FLOPs that one more id adds at every position: its logit, 2 D forward and 4 D backward."""
    return training_flops(2 * shape.d_model)


@dataclass(frozen=True)
class Bill:
    """What a whole corpus costs to train on once, for one decoder shape and tokenizer."""

    shape: Shape
    corpus: Encoded

    @property
    def plain_position(self) -> int:
        """Training FLOPs of a position without protocol ids."""
        return training_flops_per_position(self.shape.with_vocabulary(self.corpus.text_vocab_size))

    def of_positions(self, boundary: Boundary) -> int:
        """Training FLOPs of the boundary positions themselves."""
        return self.corpus.boundaries[boundary] * self.plain_position

    def of_ids(self, boundary: Boundary) -> int:
        """Training FLOPs of the protocol ids' logits, at every position."""
        ids = len(PROTOCOL_NAMES[boundary])
        return self.corpus.positions(boundary) * ids * training_flops_of_an_id(self.shape)

    def total(self, boundary: Boundary) -> int:
        """Training FLOPs of the corpus under the policy."""
        size = self.corpus.text_vocab_size + len(PROTOCOL_NAMES[boundary])
        return self.corpus.positions(boundary) * training_flops_per_position(self.shape.with_vocabulary(size))

    @property
    def positions_saved(self) -> int:
        """Training FLOPs that sharing saves through positions: n - 1 positions of a model with one id."""
        shared = training_flops_per_position(self.shape.with_vocabulary(self.corpus.text_vocab_size + 1))
        return self.corpus.saved * shared

    @property
    def id_saved(self) -> int:
        """Training FLOPs that sharing saves through the id: one logit at every position of the longer stream."""
        return self.corpus.positions("separate") * training_flops_of_an_id(self.shape)

    @property
    def dearness(self) -> float:
        """FLOPs of the saved positions over those of the saved id; above 1 the positions are dearer."""
        return self.positions_saved / self.id_saved

    @property
    def break_even_length(self) -> float:
        """Text tokens of a document at which the id that sharing saves costs as much as the position.

        For n documents of l tokens, n -> infinity, with c FLOPs for a position under one id: separating adds n c for
        positions and n (l + 2) 6 D for the id's logits. They are equal at l = c / 6 D - 2; below, positions are dearer.
        """
        shared = training_flops_per_position(self.shape.with_vocabulary(self.corpus.text_vocab_size + 1))
        return shared / training_flops_of_an_id(self.shape) - 2

    def cache_bytes(self, boundary: Boundary) -> float:
        """Cache bytes that boundaries hold in a full context: their share of its positions, in the mean."""
        held = self.corpus.boundary_share(boundary) * self.shape.context_length
        return held * cache_bytes_per_position(self.shape)


def cache_bytes_per_position(shape: Shape) -> int:
    """Keys and values of one position in all layers."""
    return kv_cache_bytes_per_token(shape, CACHE_DTYPE)


def shape_rows(shape: Shape) -> list[Row]:
    """What one position and one id cost in this shape, whatever the corpus."""
    from experiments.boundary_cost.witnesses import logits_flops_of_an_id

    factors: dict[str, Factor] = {"shape": shape.name, "d_model": shape.d_model, "text_vocab_size": 256}
    counted = logits_flops_of_an_id(shape)
    return [
        *agreeing("logits_flops_of_an_id", "FLOPs a token", factors, 2 * shape.d_model, "jaxpr", counted),
        exact(
            "training_flops_of_a_position",
            training_flops_per_position(shape),
            "FLOPs",
            "formula",
            {**factors, "boundary": "shared", "context_length": shape.context_length},
        ),
        exact(
            "cache_bytes_of_a_position",
            cache_bytes_per_position(shape),
            "bytes",
            "formula",
            {**factors, "dtype": CACHE_DTYPE},
        ),
    ]


def bill_rows(bill: Bill) -> list[Row]:
    """What every policy adds to training on the corpus and to a full cache, and what sharing saves."""
    factors: dict[str, Factor] = {
        "shape": bill.shape.name,
        "slice": bill.corpus.slice,
        "tokenizer": bill.corpus.tokenizer,
    }
    rows = []
    for boundary in POLICIES:
        here = {**factors, "boundary": boundary}
        cached = {**here, "context_length": bill.shape.context_length, "dtype": CACHE_DTYPE}
        added = bill.of_positions(boundary) + bill.of_ids(boundary)
        rows += [
            exact("training_flops_of_boundary_positions", bill.of_positions(boundary), "FLOPs", "formula", here),
            exact("training_flops_of_protocol_ids", bill.of_ids(boundary), "FLOPs", "formula", here),
            exact("boundary_share_of_training_flops", added / bill.total(boundary), "ratio", "formula", here),
            exact("cache_bytes_of_boundaries", bill.cache_bytes(boundary), "bytes a context", "formula", cached),
        ]
    return [
        *rows,
        exact("training_flops_saved_by_sharing_positions", bill.positions_saved, "FLOPs", "formula", factors),
        exact("training_flops_saved_by_sharing_the_id", bill.id_saved, "FLOPs", "formula", factors),
        exact("break_even_document_length", bill.break_even_length, "tokens", "formula", factors),
    ]


def bills(shapes: Sequence[Shape], corpora: Sequence[Encoded]) -> list[Bill]:
    """Every shape with every tokenizer's corpus."""
    return [Bill(shape, corpus) for corpus in corpora for shape in shapes]
