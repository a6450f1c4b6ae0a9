"""Parameters of a decoder by group, from its shape alone; and the share of them that one token id accounts for."""

from dataclasses import dataclass

from research.costs.shape import DecoderShape, require_at_least


@dataclass(frozen=True)
class DecoderParameters:
    """Parameters by group, each summed over all layers. Groups that do not add up to `total` are refused."""

    embedding: int
    head: int
    """0 where the head is the embedding"""
    attention: int
    feed_forward: int
    norms: int
    """two for each layer and the final one"""
    per_layer: int
    """attention, feed forward and two norms of a single layer"""
    total: int

    def __post_init__(self) -> None:
        if sum(self.groups.values()) != self.total:
            raise AssertionError(f"groups {self.groups} do not add up to total {self.total}")

    @property
    def groups(self) -> dict[str, int]:
        """The five groups by name; they are disjoint and complete."""
        names = ("embedding", "head", "attention", "feed_forward", "norms")
        return {name: getattr(self, name) for name in names}


def decoder_parameters(shape: DecoderShape) -> DecoderParameters:
    """Parameters of a decoder of this shape.

    One layer has the matrices
        queries        D x (H K)
        keys, values   D x (G K), twice
        output         (H K) x D            attention     D K (2 H + 2 G)
        gate, up       D x F, twice
        down           F x D                feed forward  3 D F
    and two norms of D scales. Around the layers stand the embedding V x D, the final norm D and, unless tied, the
    head D x V. Rotary positions have no parameters, and no projection has a bias. In all

        (1 if tied else 2) V D + L D (2 K (H + G) + 3 F + 2) + D

    and this, not the sum, is `total`: the groups are counted apart and have to agree with it.
    """
    vocab, width, layers = shape.vocab_size, shape.d_model, shape.n_layers
    query_width, kv_width = shape.n_heads * shape.head_dim, shape.n_kv_heads * shape.head_dim
    attention = width * query_width + 2 * width * kv_width + query_width * width
    feed_forward = 3 * width * shape.d_ff
    per_layer = attention + feed_forward + 2 * width
    return DecoderParameters(
        embedding=vocab * width,
        head=0 if shape.tied else width * vocab,
        attention=layers * attention,
        feed_forward=layers * feed_forward,
        norms=layers * 2 * width + width,
        per_layer=per_layer,
        total=token_parameters(vocab, width, shape.tied) + layers * per_layer + width,
    )


def token_parameters(vocab_size: int, d_model: int, tied: bool) -> int:
    """Parameters that exist because of token ids: an embedding row each and, untied, a head column each.

    V D tied, 2 V D untied: at D = 16 the bytes and one shared boundary (V = 257) have 8,224, the bytes with
    separate start and end (V = 258) have 8,256.
    """
    require_at_least(0, vocab_size=vocab_size)
    require_at_least(1, d_model=d_model)
    return (1 if tied else 2) * vocab_size * d_model


def boundary_parameters(n_protocol: int, d_model: int, tied: bool) -> int:
    """Parameters that the `n_protocol` protocol tokens of a boundary policy add: D each tied, 2 D each untied."""
    return token_parameters(n_protocol, d_model, tied)
