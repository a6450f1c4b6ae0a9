"""The numbers of a decoder that its costs depend on, and nothing else of it: costs are arithmetic and need no jax."""

from typing import Protocol, runtime_checkable

from contracts.errors import InputError


@runtime_checkable
class DecoderShape(Protocol):
    """What every cost formula reads. A `contracts.decoder.DecoderConfig` is one; so is any object with these fields.

    The architecture is the one of `research.model`: pre-norm RMSNorm with a scale, rotary positions, grouped-query
    attention, SwiGLU of three matrices, no biases, an output head that may be the embedding.
    """

    @property
    def vocab_size(self) -> int:
        """V, protocol tokens included"""

    @property
    def d_model(self) -> int:
        """D"""

    @property
    def n_layers(self) -> int:
        """L"""

    @property
    def n_heads(self) -> int:
        """H, query heads"""

    @property
    def n_kv_heads(self) -> int:
        """G, key-value heads"""

    @property
    def head_dim(self) -> int:
        """K"""

    @property
    def d_ff(self) -> int:
        """F"""

    @property
    def tied(self) -> bool:
        """whether the head is the embedding"""


def require_at_least(minimum: int, **values: int) -> None:
    """Refuse any value below `minimum`, by name."""
    for name, value in values.items():
        if value < minimum:
            raise InputError(name, expected=f"at least {minimum}", got=value)
