"""The project's own step, as `bytebound train` makes it."""

import jax
import numpy as np
from flax import nnx

from contracts.batch import Batch
from contracts.decoder import DecoderConfig
from experiments.speed.training.candidates import BETAS, CLIP_NORM, PEAK_LEARNING_RATE, WEIGHT_DECAY, Train
from experiments.speed.training.question import Shape
from research.model import Decoder
from research.train import OptimizerConfig, TrainConfig
from research.train.presets import PLAIN_ROWS
from research.train.step import first_state, make_dispatch, make_train_step


def config(shape: Shape) -> TrainConfig:
    """The run of this shape; the head is the embedding, as in the peers."""
    decoder = DecoderConfig(
        vocab_size=shape.vocab_size,
        d_model=shape.d_model,
        n_layers=shape.n_layers,
        n_heads=shape.n_heads,
        n_kv_heads=shape.n_heads,
        head_dim=shape.d_model // shape.n_heads,
        d_ff=shape.d_ff,
        context_length=shape.length,
        tied=True,
        compute_dtype=shape.dtype,
    )
    optimizer = OptimizerConfig(
        peak_learning_rate=PEAK_LEARNING_RATE,
        warmup_steps=1,
        beta1=BETAS[0],
        beta2=BETAS[1],
        weight_decay=WEIGHT_DECAY,
        clip_norm=CLIP_NORM,
    )
    return TrainConfig(
        decoder,
        PLAIN_ROWS,
        batch_size=shape.batch_size,
        length=shape.length,
        steps=1_000_000,
        optimizer=optimizer,
        steps_per_dispatch=shape.steps,
    )


def make(shape: Shape, windows: np.ndarray) -> Train:
    """All steps of a round are one dispatch."""
    run = config(shape)
    graph = nnx.split(nnx.eval_shape(lambda: Decoder(run.decoder, rngs=nnx.Rngs(0))))[0]
    bytes_of_ids = np.ones(shape.vocab_size, np.int32)
    dispatch = make_dispatch(make_train_step(run, graph, bytes_of_ids))
    state = first_state(run, Decoder)
    batches = jax.device_put(_stacked(windows, shape))

    def train(steps: int) -> float:
        nonlocal state
        for _ in range(steps // shape.steps):
            state, metrics = dispatch(state, batches)
        return float(metrics.loss[-1])

    return train


def _stacked(windows: np.ndarray, shape: Shape) -> Batch:
    tokens, targets = windows[:, :-1], windows[:, 1:]
    positions = np.broadcast_to(np.arange(shape.length, dtype=np.int32), tokens.shape)
    batch = Batch(tokens, targets, np.zeros_like(tokens), positions, np.ones(tokens.shape, np.float32))
    return Batch(*(np.broadcast_to(field, (shape.steps, 1, *field.shape)) for field in batch))
