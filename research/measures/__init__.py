"""Measures of text and tokenizers: counts, ratios with intervals, and what simpler vocabularies and guesses lose."""

from research.measures.baselines import CharacterVocabulary, WordVocabulary
from research.measures.bootstrap import Ratio, paired_ratios
from research.measures.characters import EMOJI, check_length_law, normalized
from research.measures.guessing import chunk_characters, chunks, guess_error
from research.measures.pretokens import Pretokens, pretokens

__all__ = [
    "EMOJI",
    "CharacterVocabulary",
    "Pretokens",
    "Ratio",
    "WordVocabulary",
    "check_length_law",
    "chunk_characters",
    "chunks",
    "guess_error",
    "normalized",
    "paired_ratios",
    "pretokens",
]
