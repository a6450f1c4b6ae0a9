"""The decoders whose costs are compared, by name: shapes of other experiments, or any config from the command line."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contracts.errors import InputError
from contracts.results import Factor
from experiments.boundary_cost.shapes import SHAPES
from experiments.contracts.configs import config_values
from research.costs import (
    DecoderShape,
    causal_pairs,
    decoder_parameters,
    forward_flops,
    kv_cache_bytes_per_token,
    token_parameters,
)
from research.costs.vocabulary_scaling import optimal_vocabulary

CACHE_DTYPE = "bfloat16"
#: Protocol tokens above the text ids: the shared document boundary.
_PROTOCOL_IDS = 1


@dataclass(frozen=True)
class CostedDecoder:
    """A decoder around vocabularies of any size."""

    name: str
    shape: Any
    """a `DecoderShape` that is a dataclass"""

    @property
    def label(self) -> str:
        """Its heading: the name, or width and layers where that is a list of fields."""
        return f"d={self.shape.d_model} L={self.shape.n_layers}" if "=" in self.name else self.name

    @property
    def factors(self) -> dict[str, Factor]:
        """What identifies it in a row."""
        shape = self.shape
        return {"decoder": self.name, "d_model": shape.d_model, "n_layers": shape.n_layers, "tied": shape.tied}

    def around(self, text_vocab_size: int) -> DecoderShape:
        """The same layers around that many text ids and the document boundary."""
        return dataclasses.replace(self.shape, vocab_size=text_vocab_size + _PROTOCOL_IDS)

    def embedding_share(self, text_vocab_size: int) -> float:
        """Embedding and head, of all parameters."""
        shape = self.around(text_vocab_size)
        return token_parameters(shape.vocab_size, shape.d_model, shape.tied) / decoder_parameters(shape).total

    def flops_per_token(self, text_vocab_size: int, length: int) -> float:
        """Forward FLOPs of a token, the mean over a context of `length` tokens under causal attention."""
        return forward_flops(self.around(text_vocab_size), length, causal_pairs(length)).per_token

    def cache_bytes_per_token(self) -> int:
        """Keys and values of one position."""
        return kv_cache_bytes_per_token(self.shape, CACHE_DTYPE)

    def row_flops(self) -> int:
        """What one more id adds to every token: its logit, a dot product of D."""
        return 2 * self.shape.d_model

    def published_optimum(self) -> int | None:
        """The vocabulary that Tao et al. name for as many parameters outside it; `None` outside the range of their fit.

        Fitted to English and to their tokenizer, so a second opinion from other text.
        """
        shape = self.around(256)
        others = decoder_parameters(shape).total - token_parameters(shape.vocab_size, shape.d_model, shape.tied)
        try:
            return round(optimal_vocabulary(others, shape.d_model))
        except InputError:
            return None


def decoders_named(names: Sequence[str]) -> list[CostedDecoder]:
    """The decoders of these names, presets, files or fields, in order. Raises `InputError` for what is none."""
    found: dict[str, CostedDecoder] = {}
    for term in names:
        decoder = _decoder(term)
        if found.setdefault(decoder.name, decoder) != decoder:
            raise InputError("--decoder", expected="files with different names", got=f"two called {decoder.name!r}")
    return list(found.values())


def _decoder(term: str) -> CostedDecoder:
    shape = next((shape for name, shape in SHAPES.items() if name == term), None)
    if shape is not None:
        return CostedDecoder(term, shape)
    from contracts.decoder import DecoderConfig  # brings in jaxtyping

    name = Path(term).stem if Path(term).is_file() else term
    return CostedDecoder(name, DecoderConfig(**config_values([term])))
