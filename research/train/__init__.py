"""A decoder learns: from a stream of tokens to trained parameters, in memory or in a folder that survives a kill."""

from research.train.config import OptimizerConfig, TrainConfig
from research.train.in_folder import resume, train
from research.train.in_memory import Fitted, fit
from research.train.loop import StepFailed
from research.train.presets import PRESETS, preset
from research.train.run import Run, open_run

__all__ = [
    "PRESETS",
    "Fitted",
    "OptimizerConfig",
    "Run",
    "StepFailed",
    "TrainConfig",
    "fit",
    "open_run",
    "preset",
    "resume",
    "train",
]
