"""Runs by name, from seconds on a laptop to a billion parameters: shapes and settings that go together.

Feed-forward widths are 8/3 d_model, so that the three matrices of SwiGLU cost what two of 4 d_model do
(arXiv 2002.05202, section 3), rounded up to a multiple of 64. Learning rates fall as width grows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from contracts.batch import RowPolicy
from contracts.decoder import DecoderConfig, Dtype
from contracts.errors import InputError
from research.train.config import OptimizerConfig, TrainConfig

#: Windows over the stream, as most public training code cuts them: no mask, no padding, every next token trained on.
PLAIN_ROWS = RowPolicy(packing="concatenate", isolation="cross", positions="continue", loss="all")


@dataclass(frozen=True)
class Preset:
    """The numbers of a run of this name; heads are 64 wide (32 in the smallest)."""

    about: str
    d_model: int
    n_layers: int
    length: int
    batch_size: int
    steps: int
    warmup_steps: int
    peak_learning_rate: float
    accumulate: int = 1
    steps_per_dispatch: int = 1
    checkpoint_interval: int = 1000
    head_dim: int = 64
    compute_dtype: Dtype = "float32"
    remat: bool = False

    def config(self, vocab_size: int) -> TrainConfig:
        """The run with a vocabulary of this size."""
        heads = self.d_model // self.head_dim
        decoder = DecoderConfig(
            vocab_size=vocab_size,
            d_model=self.d_model,
            n_layers=self.n_layers,
            n_heads=heads,
            n_kv_heads=heads,
            head_dim=self.head_dim,
            d_ff=64 * -(-8 * self.d_model // (3 * 64)),
            context_length=self.length,
            compute_dtype=self.compute_dtype,
            remat=self.remat,
        )
        return TrainConfig(
            decoder=decoder,
            policy=PLAIN_ROWS,
            batch_size=self.batch_size,
            length=self.length,
            steps=self.steps,
            optimizer=OptimizerConfig(peak_learning_rate=self.peak_learning_rate, warmup_steps=self.warmup_steps),
            accumulate=self.accumulate,
            steps_per_dispatch=self.steps_per_dispatch,
            checkpoint_interval=self.checkpoint_interval,
        )


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "seconds": Preset("seconds on a laptop", 64, 2, 128, 16, 200, 20, 4e-3, 1, 10, 100, head_dim=32),
        "minutes": Preset("minutes on a laptop", 128, 4, 256, 16, 1500, 100, 3e-3, 1, 5, 250),
        "hours": Preset("hours on a laptop, minutes on a GPU", 384, 6, 512, 32, 5000, 200, 1e-3, 1, 5, 250),
        "124m": Preset("GPT-2's smallest width and depth, on a GPU", 768, 12, 1024, 480, 20_000, 700, 6e-4, 8, 1, 500,
                       compute_dtype="bfloat16"),
        "350m": Preset("GPT-2's second, on a few GPUs", 1024, 24, 1024, 512, 30_000, 1000, 4e-4, 16, 1, 500,
                       compute_dtype="bfloat16"),
        "1b": Preset("a billion parameters, on many", 2048, 20, 2048, 512, 50_000, 2000, 3e-4, 8, 1, 500, head_dim=128,
                     compute_dtype="bfloat16", remat=True),
    }
)  # fmt: skip


def preset(name: str, vocab_size: int, **changes: Any) -> TrainConfig:
    """The run `name` with a vocabulary of this size, and with these fields of `TrainConfig` changed."""
    if name not in PRESETS:
        raise InputError("preset", expected=f"one of {', '.join(PRESETS)}", got=repr(name))
    return replace(PRESETS[name].config(vocab_size), **changes)
