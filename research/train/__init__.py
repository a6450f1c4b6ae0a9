"""A decoder learns: from a stream of tokens to trained parameters, in memory or in a folder that survives a kill."""

from research.train.config import OptimizerConfig, TrainConfig
from research.train.fit import Fitted, fit
from research.train.loop import StepFailed
from research.train.presets import PRESETS, preset

__all__ = ["PRESETS", "Fitted", "OptimizerConfig", "StepFailed", "TrainConfig", "fit", "preset"]
