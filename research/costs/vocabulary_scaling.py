"""How large a vocabulary a model can afford, after Tao et al. 2024 (2407.13623): more ids shorten the text and cost
parameters, and where the two balance depends on the rest of the model. English, their tokenizers, their data.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import huber

from contracts.errors import InputError

# f(V) = A ln^2 V + B ln V + C, fitted by the authors to tokens per character.
_A, _B, _C = 0.00639222, -0.15811069, 1.20470122
_SMALLEST, _LARGEST = 1_000.0, 200_000.0
_HUBER_DELTA = 0.001


def tokens_per_character(vocab_size: int) -> float:
    """Tokens per character of English text, f(V), as fitted by the authors; constant above 200,000."""
    log_vocab = math.log(min(vocab_size, _LARGEST))
    return _A * log_vocab**2 + _B * log_vocab + _C


def optimal_vocabulary(non_vocabulary_parameters: int, d_model: int) -> float:
    """The vocabulary at which a fixed number of characters costs the fewest FLOPs: their derivative method.

    H characters are H f(V) tokens of 6 (N + V d) FLOPs, N parameters outside the vocabulary and d an id (tied). The
    derivative by V is zero where

        d f(V) + (N + V d) (2 A ln V + B) / V = 0

    Refuses a model whose optimum lies outside 1,000 .. 200,000, the range of the fit.
    """

    def slope(vocab: float) -> float:
        log_vocab = math.log(vocab)
        tokens = _A * log_vocab**2 + _B * log_vocab + _C
        return d_model * tokens + (non_vocabulary_parameters + vocab * d_model) * (2 * _A * log_vocab + _B) / vocab

    if not slope(_SMALLEST) < 0 < slope(_LARGEST):
        raise InputError(
            "optimal vocabulary",
            expected=f"a model whose optimum is between {_SMALLEST:,.0f} and {_LARGEST:,.0f}",
            got=f"{non_vocabulary_parameters:,} non-vocabulary parameters at width {d_model}",
        )
    return float(brentq(slope, _SMALLEST, _LARGEST))


def vocabulary_exponent(non_vocabulary: Sequence[int], vocabulary: Sequence[float]) -> float:
    """The power gamma with which vocabulary parameters grow with the others; below 1, slower.

    Fits ln(v_i / v_0) = gamma ln(n_i / n_0) through the first model under a Huber loss of delta 0.001, as they do.
    """
    log_n = np.log(np.asarray(non_vocabulary[1:]) / non_vocabulary[0])
    log_v = np.log(np.asarray(vocabulary[1:]) / vocabulary[0])
    fit = minimize_scalar(lambda gamma: huber(_HUBER_DELTA, gamma * log_n - log_v).sum(), bounds=(0, 2))
    return float(fit.x)
