"""A run so small that it compiles and trains in a moment, with sizes that are all different."""

from dataclasses import replace

from contracts.batch import RowPolicy
from contracts.decoder import DecoderConfig
from research.stream import build_stream
from research.tokenizers import ByteTokenizer
from research.train import OptimizerConfig, TrainConfig

CROSS = RowPolicy("concatenate", "cross", "continue", "all")
SEGMENTS = RowPolicy("concatenate", "segments", "restart", "no-cross")
DECODER = DecoderConfig(
    vocab_size=257, d_model=24, n_layers=1, n_heads=2, n_kv_heads=1, head_dim=8, d_ff=40, context_length=16
)
CONFIG = TrainConfig(
    decoder=DECODER,
    policy=CROSS,
    batch_size=6,
    length=12,
    steps=12,
    optimizer=OptimizerConfig(peak_learning_rate=0.01, warmup_steps=3),
    steps_per_dispatch=2,
    log_interval=2,
    checkpoint_interval=4,
)
DOCUMENTS = [f"line {number} says 안녕 again and again." for number in range(40)]
TOKENIZER = ByteTokenizer()
STREAM = build_stream(DOCUMENTS, TOKENIZER)


def tiny(**changes) -> TrainConfig:
    """`CONFIG` with these fields changed."""
    return replace(CONFIG, **changes)
