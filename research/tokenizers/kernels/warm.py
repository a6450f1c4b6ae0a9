"""Runs every kernel once on a few bytes, so that all compiling happens here."""

from typing import get_args

import numpy as np

from contracts.tokenizer import TieBreak
from research.tokenizers.automaton import Automaton
from research.tokenizers.automaton.tables import DEAD, Tables
from research.tokenizers.kernels.automata import Runner
from research.tokenizers.kernels.count import WordCounter
from research.tokenizers.kernels.decode import Spelling
from research.tokenizers.kernels.encoder import Encoder
from research.tokenizers.kernels.learn import learn_merges
from research.tokenizers.kernels.pages import Layout, last_cut
from research.tokenizers.kernels.utf8 import is_utf8
from research.tokenizers.pretokenize import PATTERNS


def warm_up() -> None:
    """Validate, train, encode and decode."""
    text = np.frombuffer(b"it's the same 1234, the same again", np.uint8)
    is_utf8(text)
    counter = WordCounter()
    counter.add([text], PATTERNS["cl100k"])
    for tie_break in get_args(TieBreak):
        merges = learn_merges(counter.result(), 4, tie_break=tie_break)
    encoder = Encoder(merges, PATTERNS["cl100k"])
    Spelling(merges).decode(encoder.encode(text))
    last_cut(text, len(text), PATTERNS["cl100k"])
    next(Layout(_any_character()).pages([text]))


def _any_character() -> Runner:
    """The automaton of `(?s:.)`, without asking the `regex` module, which takes longer to import than this to run."""
    follows = np.array([[DEAD, 1], [DEAD, DEAD]], np.int32)
    tables = Tables(follows, np.array([[False, False], [True, True]]), np.zeros(2, np.bool_))
    return Runner.of(Automaton(np.ones(0x110000, np.uint8), tables, (), np.zeros((2, 2), np.bool_)))
