"""Ablations as data: arms from factors, cells from arms and seeds, outcomes in a cache, verdicts from paired seeds.

One idea: a cell, which is one training, is a pure function of its description. So its outcome is kept under the
description's digest, a killed run goes on where it was, and every comparison is made from curves that are stored.
"""

from experiments.ablation.design import Ablation, Arm, Factor

__all__ = ["Ablation", "Arm", "Factor"]
