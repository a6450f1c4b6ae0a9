"""Bytes against BPE, and one shared boundary against two, by what a decoder makes of the same text in bits a byte.

One idea: a training keeps its whole curve, so that one run answers at equal bytes, equal FLOPs and equal parameters.
"""

from experiments.bits_per_byte.measure import measure
from experiments.bits_per_byte.question import QUESTION, BitsPerByte, for_study, plan

__all__ = ["QUESTION", "BitsPerByte", "for_study", "measure", "plan"]
