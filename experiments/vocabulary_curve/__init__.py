"""What every vocabulary size costs a decoder: tokens, parameters, FLOPs and cache bytes a character.

One idea: a vocabulary holds all smaller ones, so one training and one count give the whole curve.
"""

from experiments.vocabulary_curve.measure import measure
from experiments.vocabulary_curve.question import QUESTION, VocabularyCurve, for_study, plan

__all__ = ["QUESTION", "VocabularyCurve", "for_study", "measure", "plan"]
