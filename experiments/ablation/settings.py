"""What the factors of an ablation set: a small training in plain fields, and how it becomes a cell."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from contracts.batch import Isolation, JoinLoss, Packing, PositionRule, RowPolicy
from contracts.decoder import DecoderConfig
from contracts.evaluation import ContextPolicy
from contracts.tokenizer import Boundary
from experiments.ablation.cell import Cell, Material
from research.stream import Rows
from research.train import OptimizerConfig, TrainConfig

_STEPS_PER_DISPATCH = 5


@dataclass(frozen=True)
class Settings:
    """A training. Equal `text_bytes` are equal bytes read, however many tokens and steps that takes."""

    text_bytes: int
    """training ends when so many bytes of text were trained on"""
    length: int
    """positions of a row"""
    batch_size: int
    tokenizer: str = "bytes"
    boundary: Boundary = "shared"
    d_model: int = 64
    n_layers: int = 2
    head_dim: int = 32
    packing: Packing = "concatenate"
    isolation: Isolation = "cross"
    positions: PositionRule = "continue"
    loss: JoinLoss = "all"
    peak_learning_rate: float = 3e-3
    warmup_steps: int = 20
    evaluations: int = 8

    @property
    def policy(self) -> RowPolicy:
        """How rows are made."""
        return RowPolicy(self.packing, self.isolation, self.positions, self.loss)

    def decoder(self, vocab_size: int, context: int) -> DecoderConfig:
        """The decoder: feed-forward width 8/3 of the model's, rounded up to a multiple of 32."""
        heads = self.d_model // self.head_dim
        return DecoderConfig(
            vocab_size=vocab_size,
            d_model=self.d_model,
            n_layers=self.n_layers,
            n_heads=heads,
            n_kv_heads=heads,
            head_dim=self.head_dim,
            d_ff=32 * -(-8 * self.d_model // (3 * 32)),
            context_length=context,
        )


def make_cell(
    name: str,
    settings: Settings,
    seed: int,
    material: Material,
    contexts: Mapping[str, ContextPolicy],
    leakage: Mapping[str, RowPolicy] | None = None,
) -> Cell:
    """The cell of `settings` on that text.

    Steps are as many as read `text_bytes` in the mean, rounded up to a dispatch. After its warm-up the learning rate is
    constant, so that every point of the curve is a training that ended there: under a schedule that
    falls, a run read half-way is worse than one that was planned to be that short.
    """
    rows = Rows(material.train, material.tokenizer, settings.policy, settings.batch_size, settings.length)
    step_bytes = material.train.counts.bytes / rows.rows_per_epoch * settings.batch_size
    steps, dispatch = _steps(settings.text_bytes / step_bytes, settings.evaluations)
    context = max(settings.length, *(policy.length for policy in contexts.values()))
    config = TrainConfig(
        decoder=settings.decoder(material.tokenizer.vocab_size, context),
        policy=settings.policy,
        batch_size=settings.batch_size,
        length=settings.length,
        steps=steps,
        optimizer=OptimizerConfig(
            peak_learning_rate=settings.peak_learning_rate,
            warmup_steps=min(settings.warmup_steps, steps // 2),
            schedule="wsd",
            decay_share=0.0,
        ),
        seed=seed,
        steps_per_dispatch=dispatch,
        checkpoint_interval=steps,
    )
    parts, units = settings.evaluations, steps // dispatch
    evaluations = tuple(dispatch * math.ceil(units * part / parts) for part in range(1, parts + 1))
    return Cell(name, config, material, evaluations, contexts, leakage or {})


def _steps(wanted: float, evaluations: int) -> tuple[int, int]:
    """Steps, and how many are one dispatch: so few that a training overshoots by less than an evaluation interval."""
    steps = max(evaluations, math.ceil(wanted))
    dispatch = _STEPS_PER_DISPATCH if steps >= _STEPS_PER_DISPATCH * evaluations else 1
    return dispatch * math.ceil(steps / dispatch), dispatch
