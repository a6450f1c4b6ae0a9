"""What a training run is, as frozen data: the decoder, the rows it reads, the optimizer, and when something is kept.

Two runs of equal config on equal text are the same run. Every conflict is told at once, before anything is compiled.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from contracts.batch import RowPolicy
from contracts.decoder import DecoderConfig
from contracts.errors import InputError

Schedule = Literal["cosine", "wsd"]


@dataclass(frozen=True)
class OptimizerConfig:
    """AdamW (Loshchilov and Hutter, arXiv 1711.05101) with a warm-up and a schedule; decay on matrices only."""

    peak_learning_rate: float = 3e-3
    warmup_steps: int = 20
    """steps in which the learning rate rises in a line to its peak"""
    schedule: Schedule = "cosine"
    """`cosine`: half a wave down (arXiv 1608.03983); `wsd`: stable, then a line down (arXiv 2404.06395)"""
    decay_share: float = 0.2
    """of all steps, those at the end in which `wsd` decays"""
    final_share: float = 0.1
    """of the peak, what the learning rate ends at"""
    beta1: float = 0.9
    beta2: float = 0.95
    eps: float = 1e-8
    weight_decay: float = 0.1
    """of matrices, embedding and head among them; scales of norms are left alone"""
    clip_norm: float = 1.0
    """the most that the norm of all gradients together may be; larger ones are scaled down"""

    def __post_init__(self) -> None:
        _refuse("OptimizerConfig", self.problems())

    def problems(self) -> list[str]:
        """Every rule that these values break, each with the value and the rule."""
        rules = {
            "peak_learning_rate": _number(self.peak_learning_rate, above=0),
            "warmup_steps": _count(self.warmup_steps, least=0),
            "schedule": "" if self.schedule in get_args(Schedule) else f"one of {', '.join(get_args(Schedule))}",
            "decay_share": _number(self.decay_share, least=0, most=1),
            "final_share": _number(self.final_share, least=0, most=1),
            "beta1": _number(self.beta1, least=0, below=1),
            "beta2": _number(self.beta2, least=0, below=1),
            "eps": _number(self.eps, above=0),
            "weight_decay": _number(self.weight_decay, least=0),
            "clip_norm": _number(self.clip_norm, above=0),
        }
        return [f"{name} = {getattr(self, name)!r} is not {rule}" for name, rule in rules.items() if rule]


@dataclass(frozen=True)
class TrainConfig:
    """A whole run. Which text it reads and by which tokenizer is given beside it, and kept in the run's manifest."""

    decoder: DecoderConfig
    policy: RowPolicy
    batch_size: int
    """rows of a step, of all processes and of all its parts together"""
    length: int
    """positions of a row"""
    steps: int
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    accumulate: int = 1
    """parts in which a step is computed one after another, for the memory of one: the result is that of the whole"""
    seed: int = 0
    """of the first parameters and of the order of the rows"""
    steps_per_dispatch: int = 1
    """steps that the device makes without asking the host"""
    log_interval: int = 10
    """steps between two lines of `metrics.jsonl`"""
    checkpoint_interval: int = 1000
    """steps between two checkpoints; the last step always has one"""
    evaluation_interval: int = 0
    """steps between two evaluations on held-out text; 0: after the last step alone"""
    keep_checkpoints: int = 2
    """the newest ones that are kept"""

    def __post_init__(self) -> None:
        _refuse("TrainConfig", self.problems())

    def problems(self) -> list[str]:
        """Every rule that these values break, each with the value and the rule."""
        found = []
        for name in ("batch_size", "length", "steps", "accumulate", "steps_per_dispatch", "log_interval"):
            found += _broken(name, getattr(self, name), _count(getattr(self, name), least=1))
        for name in ("checkpoint_interval", "keep_checkpoints"):
            found += _broken(name, getattr(self, name), _count(getattr(self, name), least=1))
        for name in ("seed", "evaluation_interval"):
            found += _broken(name, getattr(self, name), _count(getattr(self, name), least=0))
        return found or self._conflicts()

    def _conflicts(self) -> list[str]:
        found = []
        if self.seed >= 1 << 32:
            found.append(f"seed = {self.seed} is not below 2**32")
        if self.batch_size % self.accumulate:
            found.append(f"batch_size = {self.batch_size} can't be computed in accumulate = {self.accumulate} parts")
        if self.length > self.decoder.context_length:
            found.append(
                f"length = {self.length} is more than the decoder's context_length {self.decoder.context_length}"
            )
        for name in ("checkpoint_interval", "evaluation_interval"):
            if getattr(self, name) % self.steps_per_dispatch:
                rule = f"a multiple of steps_per_dispatch = {self.steps_per_dispatch}"
                found.append(f"{name} = {getattr(self, name)} is not {rule}")
        return found + self._schedule_conflicts()

    def _schedule_conflicts(self) -> list[str]:
        optimizer = self.optimizer
        if optimizer.warmup_steps >= self.steps:
            return [f"steps = {self.steps} is not more than the optimizer's warmup_steps = {optimizer.warmup_steps}"]
        if optimizer.schedule == "wsd" and optimizer.warmup_steps + self.decay_steps > self.steps:
            parts = f"{optimizer.warmup_steps} of warm-up and {self.decay_steps} of decay"
            return [f"steps = {self.steps} is less than {parts} (decay_share = {optimizer.decay_share})"]
        return []

    @property
    def decay_steps(self) -> int:
        """Steps in which the learning rate falls: after the warm-up, or under `wsd` the last share of all."""
        if self.optimizer.schedule == "wsd":
            return max(1, round(self.optimizer.decay_share * self.steps))
        return self.steps - self.optimizer.warmup_steps

    def next_stop(self, step: int) -> int:
        """Where the dispatch that begins at `step` ends: a function of the step alone, so that resuming cuts alike."""
        return min((step // self.steps_per_dispatch + 1) * self.steps_per_dispatch, self.steps)

    def to_json(self) -> dict[str, Any]:
        """The config as JSON has it."""
        return dataclasses.asdict(self)


def parse_config(data: Mapping[str, Any], where: str) -> TrainConfig:
    """The config of which `to_json` made `data`. Raises `InputError` for other fields or values."""
    groups: dict[str, type] = {"decoder": DecoderConfig, "policy": RowPolicy, "optimizer": OptimizerConfig}
    found: dict[str, Any] = dict(data)
    refusals = []
    try:
        for name, group in groups.items():
            try:
                found[name] = group(**data[name])
            except InputError as refusal:
                refusals.append(refusal)
        if refusals:
            raise all_of(refusals)
        return TrainConfig(**found)
    except (KeyError, TypeError) as error:
        raise InputError("training config", expected="the fields of one", got=str(error), where=where) from None


def all_of(refusals: Sequence[InputError]) -> InputError:
    """The refusals as one, in one line; a single one as it is."""
    if len(refusals) == 1:
        return refusals[0]
    return InputError("settings", expected="ones that fit", got="; and ".join(map(str, refusals)))


def flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """`{"decoder": {"d_model": 64}}` as `{"decoder.d_model": 64}`."""
    found: dict[str, Any] = {}
    for name, value in data.items():
        found |= flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return found


def _refuse(what: str, problems: list[str]) -> None:
    if problems:
        raise InputError(what, expected="consistent values", got="; ".join(problems))


def _broken(name: str, value: Any, rule: str) -> list[str]:
    return [f"{name} = {value!r} is not {rule}"] if rule else []


def _count(value: Any, least: int) -> str:
    """The rule that `value` breaks, or nothing."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= least
    return "" if is_count else f"an integer of at least {least}"


def _number(
    value: Any, above: float = -math.inf, least: float = -math.inf, most: float = math.inf, below: float = math.inf
) -> str:
    """The rule that `value` breaks, or nothing."""
    bounds = {"above": above, "at least": least, "at most": most, "below": below}
    rule = " and ".join(f"{word} {bound:g}" for word, bound in bounds.items() if math.isfinite(bound))
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return "" if is_number and above < value < below and least <= value <= most else f"a number {rule}"
