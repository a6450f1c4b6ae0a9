"""Checks of values on the host, before anything is on a device: what each costs where it stands."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from contracts.parameters import expected_parameters, parameter_differences
from experiments.contract_cost.clock import Samples, interleaved
from experiments.contract_cost.programs import WIDE
from research.model import check_tokens
from research.tokenizers import ByteTokenizer

_BATCHES = ((4, 128), (64, 2048))


def value_checks() -> Mapping[str, Callable[[], Any]]:
    """What is checked, and the check."""
    random, tokenizer, config = np.random.default_rng(0), ByteTokenizer(), WIDE
    calls: dict[str, Callable[[], Any]] = {}
    for rows, length in _BATCHES:
        ids = random.integers(0, config.vocab_size, (rows, length)).astype(np.int32)
        calls[f"ids of a batch of {rows} x {length:,}"] = partial(check_tokens, ids, config)
    identity, other, found = tokenizer.identity, ByteTokenizer().identity, expected_parameters(config)
    calls["a tokenizer's identity"] = lambda: identity.require(other, "the corpus")
    calls[f"the parameters of {config.n_layers} layers, by the table"] = lambda: parameter_differences(config, found)
    return calls


def value_times(repeats: int, seed: int) -> Samples:
    """Seconds of each check, on data that is right."""
    return interleaved("checks of values", value_checks(), repeats, seed)
