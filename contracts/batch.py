"""What a training step is fed, and by which policy its rows were cut.

One batch contract: five arrays, all of them given. A field that is missing is an error, never a default such as
"attend across documents". Fields are NumPy on the host and JAX on a device, with the same shapes and dtypes.
"""

from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, get_args

from jaxtyping import Float32, Int32

from contracts.dims import Dim
from contracts.errors import InputError

B = Dim("B", "rows of a batch; bound by the call")
T = Dim("T", "positions of a row; bound by the call")

RowTokens = Int32[Any, "B T"]
RowTargets = Int32[Any, "B T"]
RowSegments = Int32[Any, "B T"]
RowPositions = Int32[Any, "B T"]
RowWeights = Float32[Any, "B T"]


class Batch(NamedTuple):
    """Rows of tokens, what each position has to predict, and what it may see. A pytree as it is."""

    tokens: RowTokens
    targets: RowTargets
    """the next token"""
    segments: RowSegments
    """positions see earlier ones of their own segment; -1 is padding"""
    positions: RowPositions
    """what rotary embedding turns by"""
    weights: RowWeights
    """1 where the target is trained on, else 0; 0 on padding"""


Packing = Literal["concatenate", "fit"]
Isolation = Literal["cross", "segments", "reset"]
PositionRule = Literal["continue", "restart"]
JoinLoss = Literal["all", "no-cross"]


@dataclass(frozen=True)
class RowPolicy:
    """How a stream of documents becomes rows. Every choice is spelled out: each changes what is learned.

    Which tokens stand between documents is the tokenizer's boundary policy.
    """

    packing: Packing
    """`concatenate`: windows over the stream; `fit`: whole documents by best fit, split only if longer than a row"""
    isolation: Isolation
    """`cross`: a document sees those before it in the row; `segments`: only itself; `reset`: it has a row of its own"""
    positions: PositionRule
    """`continue`: counted through the row; `restart`: from 0 at each document"""
    loss: JoinLoss
    """`all`: every next token is trained on; `no-cross`: not the first token of a document after another's last"""

    def __post_init__(self) -> None:
        choices = {"packing": Packing, "isolation": Isolation, "positions": PositionRule, "loss": JoinLoss}
        for field in fields(self):
            allowed = get_args(choices[field.name])
            if getattr(self, field.name) not in allowed:
                got = repr(getattr(self, field.name))
                raise InputError(f"RowPolicy {field.name}", expected=f"one of {', '.join(allowed)}", got=got)
        if self.isolation == "reset" and self.packing == "concatenate":
            hint = "concatenated windows hold several documents"
            raise InputError("RowPolicy packing", expected="'fit' under 'reset'", got="'concatenate'", hint=hint)

    @property
    def needs_mask(self) -> bool:
        """Whether rows hold several segments before the padding; where not, causal attention alone keeps them apart."""
        return self.isolation == "segments"


@dataclass(frozen=True)
class Waste:
    """What the rows of one epoch hold besides trained predictions, and what they leave out."""

    rows: int
    positions: int
    """of all rows: what is computed"""
    padded: int
    """positions without a token to predict"""
    unscored: int
    """positions with a target of weight 0: at joins, under `no-cross`"""
    split_documents: int
    """documents whose predictions stand in more than one row"""
    untrained_tokens: int
    """text tokens that no position is trained to predict"""
