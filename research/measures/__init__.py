"""Measures of text and tokenizers: counts, ratios with intervals, and what simpler vocabularies and guesses lose."""

from research.measures.baselines import CharacterVocabulary, WordVocabulary
from research.measures.bootstrap import Ratio, paired_ratios
from research.measures.characters import EMOJI, check_length_law, normalized
from research.measures.compression import ByteNGram, xz_bits
from research.measures.gini import Gini, gini, paired_gini
from research.measures.guessing import chunk_characters, chunks, guess_error
from research.measures.nested import lengths_by_merges, split_back
from research.measures.pretokens import Encoded, Pretokens, pretokens
from research.measures.types import broken_share, renyi_efficiency, single_byte_share, used_share
from research.measures.words import WordPlaces, Words, word_places, words_kept

__all__ = [
    "EMOJI",
    "ByteNGram",
    "CharacterVocabulary",
    "Encoded",
    "Gini",
    "Pretokens",
    "Ratio",
    "WordPlaces",
    "WordVocabulary",
    "Words",
    "broken_share",
    "check_length_law",
    "chunk_characters",
    "chunks",
    "gini",
    "guess_error",
    "lengths_by_merges",
    "normalized",
    "paired_gini",
    "paired_ratios",
    "pretokens",
    "renyi_efficiency",
    "single_byte_share",
    "split_back",
    "used_share",
    "word_places",
    "words_kept",
    "xz_bits",
]
