"""The decoder: tokens to next-token logits, in files short enough to copy. Bring your own mixer, keep the rest."""

from research.model.attention import Attention
from research.model.decoder import Decoder
from research.model.tokens import check_tokens

__all__ = ["Attention", "Decoder", "check_tokens"]
