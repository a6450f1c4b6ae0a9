"""The decoder's spec: every dim, array and interface of the model, spelled here and bound to one config."""

import math
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, Protocol, get_args

from jaxtyping import Array, Float, Float32, Int32

from contracts.dims import Dim
from contracts.errors import InputError

V = Dim("V", "vocabulary size, protocol tokens included")
D = Dim("D", "model width")
L = Dim("L", "layers")
H = Dim("H", "query heads")
G = Dim("G", "key-value heads (groups of query heads)")
K = Dim("K", "head width")
F = Dim("F", "feed-forward width")
B = Dim("B", "rows of a batch; bound by the call")
T = Dim("T", "positions of a row; bound by the call")

Tokens = Int32[Array, "B T"]
Positions = Int32[Array, "B T"]
Segments = Int32[Array, "B T"]
Hidden = Float[Array, "B T D"]
Queries = Float[Array, "B T H K"]
KeysValues = Float[Array, "B T G K"]
Logits = Float32[Array, "B T V"]

Dtype = Literal["float32", "bfloat16", "float16"]
DTYPES: tuple[Dtype, ...] = get_args(Dtype)


@dataclass(frozen=True)
class DecoderConfig:
    """The shape of a decoder. Refuses conflicting values, all of them at once."""

    vocab_size: Annotated[int, V] = 257
    d_model: Annotated[int, D] = 256
    n_layers: Annotated[int, L] = 6
    n_heads: Annotated[int, H] = 4
    n_kv_heads: Annotated[int, G] = 4
    head_dim: Annotated[int, K] = 64
    d_ff: Annotated[int, F] = 1024
    context_length: int = 1024
    """the most positions a row may have"""
    tied: bool = False
    """the output head is the embedding, transposed"""
    rope_theta: float = 10_000.0
    """base of the rotary frequencies"""
    param_dtype: Dtype = "float32"
    compute_dtype: Dtype = "float32"
    scan_layers: bool = False
    """layers stacked and scanned: compiles in constant time, runs slower on a CPU"""
    remat: bool = False
    """recompute each layer in the backward pass"""

    def __post_init__(self) -> None:
        problems = self.problems()
        if problems:
            raise InputError("DecoderConfig", expected="a consistent shape", got="; ".join(problems))

    def problems(self) -> list[str]:
        """Every rule that these values break, each with the value and the rule."""
        problems = {field.name: self._field_problem(field.name, field.type) for field in fields(self)}
        found = [problem for problem in problems.values() if problem]
        if not problems["head_dim"] and self.head_dim % 2:
            found.append(f"head_dim = {self.head_dim} is odd, but rotary embedding turns pairs")
        if not problems["n_heads"] and not problems["n_kv_heads"] and self.n_heads % self.n_kv_heads:
            found.append(f"n_heads = {self.n_heads} is not a multiple of n_kv_heads = {self.n_kv_heads}")
        return found

    def _field_problem(self, name: str, kind: Any) -> str:
        value = getattr(self, name)
        if kind is bool:
            return "" if isinstance(value, bool) else f"{name} = {value!r} is not True or False"
        if kind is float:
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return "" if is_number and 0 < value < math.inf else f"{name} = {value!r} is not a positive number"
        if kind is Dtype:
            return "" if value in DTYPES else f"{name} = {value!r} is not one of {', '.join(DTYPES)}"
        is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
        return "" if is_count else f"{name} = {value!r} is not a positive integer"


class Mixer(Protocol):
    """Moves information between positions: the ablation boundary. A position sees itself and earlier positions
    of the same segment, nothing else; `segments=None` means that the whole row is one document."""

    config: DecoderConfig

    def __call__(self, x: Hidden, positions: Positions, segments: Segments | None) -> Hidden: ...


class FeedForward(Protocol):
    """Transforms each position on its own."""

    config: DecoderConfig

    def __call__(self, x: Hidden) -> Hidden: ...


class LanguageModel(Protocol):
    """Token ids to next-token logits, float32 whatever the compute dtype."""

    config: DecoderConfig

    def __call__(
        self, tokens: Tokens, segments: Segments | None = None, positions: Positions | None = None
    ) -> Logits: ...
