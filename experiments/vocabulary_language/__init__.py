"""A joint vocabulary of two languages against one of each language alone: same size, same training bytes, unseen text.

One idea: each vocabulary holds all smaller ones, so that three trainings tell not only what a joint vocabulary costs
each language at every size, but which size of the language's own it is worth.
"""

from experiments.vocabulary_language.measure import measure
from experiments.vocabulary_language.question import QUESTION, VocabularyLanguage, for_study, plan

__all__ = ["QUESTION", "VocabularyLanguage", "for_study", "measure", "plan"]
