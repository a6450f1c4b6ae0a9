"""Keeping packed documents apart: what leaks without it, what it saves, and whether a decoder is better for it.

One idea: leakage and pairs are exact and need no statistics; quality is statistical, and may stay undecided.
"""

from experiments.document_isolation.measure import measure
from experiments.document_isolation.question import QUESTION, DocumentIsolation, for_study, plan

__all__ = ["QUESTION", "DocumentIsolation", "for_study", "measure", "plan"]
