"""Training in memory: text in, decoder out, no file written. What ablations are made of."""

from typing import Any, NamedTuple

import jax
import numpy as np

from contracts.decoder import LanguageModel
from contracts.stream import TokenStream
from contracts.tokenizer import Tokenizer
from research.model import Decoder
from research.progress import progress
from research.train.config import TrainConfig
from research.train.loop import Training
from research.train.step import MakeDecoder, Metrics, TrainState


class Fitted(NamedTuple):
    """A decoder that was trained, and how it went."""

    decoder: LanguageModel
    state: TrainState
    metrics: Metrics
    """of every step, as NumPy arrays `[steps]`"""


def fit(
    config: TrainConfig,
    stream: TokenStream,
    tokenizer: Tokenizer,
    *,
    make: MakeDecoder = Decoder,
    mesh: jax.sharding.Mesh | None = None,
) -> Fitted:
    """Train `make(config.decoder, rngs=...)` on the stream from the config's seed. Equal arguments, equal result.

    Raises:
        InputError: for a tokenizer of another vocabulary or boundary policy than decoder and stream have.
        StepFailed: (an `InputError`) for a loss that is not finite, with its step.
    """
    training = Training(config, stream, tokenizer, make=make, mesh=mesh)
    found: list[Any] = []
    with progress("training", total=config.steps) as bar:
        for done in training.dispatches():
            found.append(done.metrics)
            bar.advance(done.stop - done.first)
    metrics = jax.tree.map(lambda *each: np.concatenate(each), *found)
    return Fitted(training.decoder, training.state, metrics)
