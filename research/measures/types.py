"""What kind of tokens a text consists of, from how often each id of a vocabulary stands in it."""

import numpy as np

from contracts.core import contract
from contracts.errors import InputError
from contracts.measures import IdCounts
from research.tokenizers.tokenizer import ByteLevelTokenizer


@contract
def renyi_efficiency(occurrences: IdCounts, alpha: int | float) -> float:
    """How evenly a text uses a vocabulary: 1 if every id stands equally often, 0 if there is one alone.

    The Rényi entropy of order `alpha` of the ids' shares p, over the largest one possible, that of all ids equally:

        ln(sum p^alpha) / (1 - alpha) / ln V

    Zouhar et al. 2023 (2306.16842) found alpha = 2.5 to go with translation quality. V counts ids that never stand
    in the text too. For alpha = 1 it is Shannon's.
    """
    if not 0 < alpha < np.inf:
        raise InputError("alpha", expected="a positive number", got=alpha)
    shares = occurrences[occurrences > 0] / occurrences.sum()
    entropy = -(shares * np.log(shares)).sum() if alpha == 1 else np.log((shares**alpha).sum()) / (1 - alpha)
    return float(entropy / np.log(len(occurrences)))


@contract
def used_share(occurrences: IdCounts) -> float:
    """Share of the ids that stand in the text at all: the utilisation of a vocabulary."""
    return float((occurrences > 0).mean())


@contract
def single_byte_share(occurrences: IdCounts) -> float:
    """Share of the tokens that are one byte: ASCII letters, spaces and digits, and what was never merged."""
    return float(occurrences[:256].sum() / occurrences.sum())


@contract
def broken_share(occurrences: IdCounts, tokenizer: ByteLevelTokenizer) -> float:
    """Share of the tokens that are not valid UTF-8 alone: a model that stops after one has written half a character."""
    broken = [token for token in np.flatnonzero(occurrences).tolist() if not _is_text(tokenizer.token_bytes(token))]
    return float(occurrences[broken].sum() / occurrences.sum())


def _is_text(token: bytes) -> bool:
    try:
        token.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
