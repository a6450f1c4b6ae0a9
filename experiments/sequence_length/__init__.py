"""How many tokens the same content costs, by language, format and tokenizer, and who pays for a guess.

One idea: the documents alternate between two halves, and each half is measured with the vocabulary that the other one
taught, so every number covers the whole text and no vocabulary is measured on text that it has seen.
"""

from experiments.sequence_length.measure import measure
from experiments.sequence_length.question import QUESTION, SequenceLength, for_study, plan

__all__ = ["QUESTION", "SequenceLength", "for_study", "measure", "plan"]
