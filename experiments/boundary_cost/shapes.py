"""The decoders whose boundary costs are compared: from the origin's D = 16 to 7B parameters."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, get_args

from contracts.tokenizer import Boundary

POLICIES: tuple[Boundary, ...] = get_args(Boundary)

ShapeName = Literal["origin", "tiny", "124M", "350M", "1.3B", "7B"]


@dataclass(frozen=True)
class Shape:
    """A decoder's shape; what `research.costs` reads, without the imports of `contracts.decoder`."""

    name: str
    d_model: int
    n_layers: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    d_ff: int
    context_length: int
    text_vocab_sizes: tuple[int, ...]
    """the text vocabularies that it is combined with: bytes, and a BPE of the size that such models have"""
    vocab_size: int = 257
    tied: bool = False

    def with_vocabulary(self, vocab_size: int, tied: bool = False) -> "Shape":
        """The same layers around another embedding and head; protocol tokens count in `vocab_size`."""
        return replace(self, vocab_size=vocab_size, tied=tied)


#: 124M is GPT-2's with a SwiGLU of equally many weights, 350M and 1.3B its usual larger siblings, 7B is Mistral's.
SHAPES: dict[ShapeName, Shape] = {
    "origin": Shape("origin", 16, 1, 1, 1, 16, 64, 256, (256,)),
    "tiny": Shape("tiny", 256, 6, 4, 4, 64, 1024, 1024, (256, 4096)),
    "124M": Shape("124M", 768, 12, 12, 12, 64, 2048, 1024, (256, 50_256)),
    "350M": Shape("350M", 1024, 24, 16, 16, 64, 2816, 2048, (256, 50_256)),
    "1.3B": Shape("1.3B", 2048, 24, 16, 16, 128, 5504, 2048, (256, 50_256)),
    "7B": Shape("7B", 4096, 32, 32, 8, 128, 14_336, 4096, (256, 32_000)),
}


def shapes_named(names: Iterable[ShapeName]) -> list[Shape]:
    """The shapes of these names, from small to large."""
    wanted = set(names)
    return [shape for name, shape in SHAPES.items() if name in wanted]
