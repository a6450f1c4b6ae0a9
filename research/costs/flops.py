"""Forward FLOPs of a decoder by term, from its shape alone. One idea: attention costs what its query-key pairs cost,
so full, causal, segmented and blocked attention are one formula with a different number of pairs.

Counted are matrix multiplications, a multiply-add as 2. Left out are the embedding (a lookup), norms, rotary turns,
softmax, gating and residuals: O(T D) and O(T^2 H) elementwise work, small beside O(T D^2) and O(T^2 H K).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from contracts.errors import InputError
from research.costs.shape import DecoderShape, require_at_least


def full_pairs(length: int) -> int:
    """Pairs that a dense kernel computes, masked or not: T^2. The executed cost."""
    return length**2


def causal_pairs(length: int) -> int:
    """Pairs that a causal mask keeps: 1 + 2 + ... + T = T (T + 1) / 2, a mean of (T + 1) / 2 keys for each query."""
    return length * (length + 1) // 2


def segment_pairs(lengths: Sequence[int]) -> int:
    """Pairs that a causal mask inside each segment keeps: the sum of n (n + 1) / 2 over segment lengths n."""
    return sum(causal_pairs(length) for length in lengths)


def query_block_pairs(length: int, block: int) -> int:
    """Pairs that causal attention in blocks of queries computes: each block reads the keys up to its own end.

    With `block` = 1 these are `causal_pairs`, with `block` >= T `full_pairs`.
    """
    require_at_least(1, length=length, block=block)
    ends = (*range(block, length, block), length)
    return sum((end - start) * end for start, end in pairwise((0, *ends)))


def kept_pair_fraction(lengths: Sequence[int], length: int) -> float:
    """Share of a row's causal pairs that stay when its documents do not see each other.

    Documents of n_1, n_2, ... tokens in a row of T positions keep sum n (n + 1) / (T (T + 1)). Positions beyond the
    documents are padding and keep none. With k - 1 uniform cuts the expectation is about 2 / (k + 1).
    """
    require_at_least(1, length=length)
    if any(n < 1 for n in lengths) or sum(lengths) > length:
        raise InputError("lengths", expected=f"positive lengths that sum to at most {length}", got=list(lengths))
    return segment_pairs(lengths) / causal_pairs(length)


@dataclass(frozen=True)
class ForwardFlops:
    """Matmul FLOPs of the forward pass over one sequence, each term summed over all layers."""

    length: int
    n_layers: int
    queries: int
    keys: int
    values: int
    scores: int
    weighted_sum: int
    output: int
    feed_forward: int
    """three matrices"""
    logits: int

    @property
    def terms(self) -> dict[str, int]:
        """Every term by name, in the order of computation."""
        names = ("queries", "keys", "values", "scores", "weighted_sum", "output", "feed_forward", "logits")
        return {name: getattr(self, name) for name in names}

    @property
    def attention(self) -> int:
        """Scores and weighted sum: all that grows with pairs."""
        return self.scores + self.weighted_sum

    @property
    def projections(self) -> int:
        """Every other matmul of the layers: all that grows with tokens."""
        return self.queries + self.keys + self.values + self.output + self.feed_forward

    @property
    def total(self) -> int:
        return sum(self.terms.values())

    @property
    def per_token(self) -> float:
        """Mean over the sequence."""
        return self.total / self.length

    @property
    def executions(self) -> dict[str, int]:
        """How many matmuls each term is: one a layer, three for the feed forward, one for all logits."""
        return {**dict.fromkeys(self.terms, self.n_layers), "feed_forward": 3 * self.n_layers, "logits": 1}


def forward_flops(shape: DecoderShape, length: int, pairs: int) -> ForwardFlops:
    """Forward FLOPs over one sequence of `length` tokens whose attention computes `pairs` query-key pairs a head.

    A product of (m x k) and (k x n) is 2 m k n. For T tokens and P pairs one layer has
        queries 2 T D H K,  keys 2 T D G K,  values 2 T D G K,  output 2 T H K D,
        scores 2 P H K (a dot product of K for each pair and query head),
        weighted sum 2 P H K (a multiple of a value of K for each pair and query head),
        feed forward 3 * 2 T D F,
    and the logits are 2 T D V, tied or not. Sharing keys and values between heads saves projections, not scores.

    P is `full_pairs(T)` for what a dense kernel executes, `causal_pairs(T)` for what is useful, `segment_pairs` when
    documents do not see each other. One token decoded on a cache of t - 1: `length` = 1, `pairs` = t.
    """
    require_at_least(1, length=length)
    require_at_least(0, pairs=pairs)
    layers, width, query_width = shape.n_layers, shape.d_model, shape.n_heads * shape.head_dim
    query = 2 * length * width * query_width
    key = 2 * length * width * shape.n_kv_heads * shape.head_dim
    score = 2 * pairs * query_width
    return ForwardFlops(
        length=length,
        n_layers=layers,
        queries=layers * query,
        keys=layers * key,
        values=layers * key,
        scores=layers * score,
        weighted_sum=layers * score,
        output=layers * query,
        feed_forward=layers * 3 * 2 * length * width * shape.d_ff,
        logits=2 * length * width * shape.vocab_size,
    )


def training_flops(forward: int) -> int:
    """Forward and backward: 3 times the forward pass.

    A matmul Y = X W of 2 m k n FLOPs has two in the backward pass, dX = dY W^T and dW = X^T dY, of 2 m k n each.
    Scores and weighted sum likewise. Recomputing a layer adds its forward pass once more, but for the last matmul
    of the feed forward: no gradient needs its output.
    """
    return 3 * forward


def full_crossover(shape: DecoderShape, feed_forward_matrices: int = 3) -> float:
    """The length at which dense attention costs as much as all other matmuls of a layer.

    With m matrices in the feed forward, a layer's attention is 4 T^2 H K and the rest 2 T D (2 H K + 2 G K + m F).
    They are equal at

        T = D (2 H K + 2 G K + m F) / (2 H K)

    With H = G, H K = D, m = 2 and F = 4 D that is the textbook 6 D. In general this is the mean number of keys a
    query at which they are equal.
    """
    query_width, kv_width = shape.n_heads * shape.head_dim, shape.n_kv_heads * shape.head_dim
    projected = 2 * query_width + 2 * kv_width + feed_forward_matrices * shape.d_ff
    return shape.d_model * projected / (2 * query_width)


def causal_crossover(shape: DecoderShape, feed_forward_matrices: int = 3) -> float:
    """The length at which exactly causal attention costs as much as all other matmuls of a layer.

    A query sees (T + 1) / 2 keys in the mean, so T = 2 `full_crossover` - 1: the textbook 12 D, less one because a
    token sees itself.
    """
    return 2 * full_crossover(shape, feed_forward_matrices) - 1


@dataclass(frozen=True)
class TermComparison:
    """FLOPs of some terms of the formula and of the matmuls of a program that have their size."""

    terms: tuple[str, ...]
    """empty for the matmuls whose size no term predicts"""
    formula: int
    counted: int


def compare_terms(formula: ForwardFlops, counted: Mapping[int, int], rows: int = 1) -> tuple[TermComparison, ...]:
    """Formula and program term by term, the program over `rows` sequences at once.

    `counted` maps the FLOPs of a single matmul to how many of that size run (`FlopCount.matmul_sizes`): the size of
    a matmul survives any layout of its axes. Terms of equal size stand together: scores and weighted sum always do.
    """
    terms_of_size: dict[int, list[str]] = {}
    for name, executions in formula.executions.items():
        terms_of_size.setdefault(rows * formula.terms[name] // executions, []).append(name)
    comparisons = [
        TermComparison(tuple(names), rows * sum(formula.terms[name] for name in names), size * counted.get(size, 0))
        for size, names in terms_of_size.items()
    ]
    unpredicted = sum(size * count for size, count in counted.items() if size not in terms_of_size)
    return (*comparisons, TermComparison((), 0, unpredicted)) if unpredicted else tuple(comparisons)
