"""Faults that no slip in a function makes: data, checkpoints, tokenizers and caches that belong to something else.

Each case is a program that is right in itself and is given the wrong thing. `refuse` is what a check where the thing
comes in makes of it; a case without one has no such check.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from contracts.batch import Batch
from contracts.decoder import DecoderConfig
from contracts.parameters import parameter_differences
from experiments.contract_faults.programs import EQUAL, TRAINING, parameters_of
from experiments.contract_faults.regimes import Copies
from research.model import Decoder, check_tokens
from research.stream import build_stream
from research.tokenizers import BPETokenizer, ByteTokenizer

CONFIG = replace(EQUAL.config, vocab_size=257, context_length=32)
BYTES = ByteTokenizer()

Call = Callable[[Copies], tuple[Callable[..., Any], tuple[Any, ...]]]
"""Under a regime: a function, and what it is given."""


class Case(NamedTuple):
    """Something wrong that is handed over."""

    fault: str
    what: str
    wrong: Call
    right: Call | None = None
    """what should have been handed over; `None` where nothing but a refusal is right"""
    refuse: Callable[[], None] | None = None
    """raises, if a check where the thing comes in sees that it is wrong"""
    unseen: str = ""
    """why nothing sees it, where that is so"""


def decoder_call(tokens: Any, config: DecoderConfig = CONFIG) -> Call:
    """A decoder of `config` on `tokens`."""

    def call(copies: Copies) -> Any:
        return copies["research.model"].Decoder(config, rngs=nnx.Rngs(0)), (tokens,)

    return call


def loaded_call(config: DecoderConfig, other: DecoderConfig) -> Call:
    """A decoder of `config` with the parameters of one of `other` put into it, as `nnx.update` does."""

    def call(copies: Copies) -> Any:
        decoder = copies["research.model"].Decoder(config, rngs=nnx.Rngs(0))
        nnx.update(decoder, _saved(other))
        return decoder, (_text_ids(),)

    return call


@cache
def _saved(config: DecoderConfig) -> nnx.State:
    """The parameters of a decoder of that config."""
    return nnx.state(Decoder(config, rngs=nnx.Rngs(1)))


def _against_table(config: DecoderConfig, other: DecoderConfig) -> None:
    """The table of parameters, with which a checkpoint is compared before a weight is read."""
    found = parameters_of(nnx.eval_shape(lambda: Decoder(other, rngs=nnx.Rngs(0))))
    problems = parameter_differences(config, found)
    if problems:
        raise ValueError("; ".join(problems))


def _checkpoints() -> list[Case]:
    deep, deeper = replace(CONFIG, n_layers=12), replace(CONFIG, n_layers=16)
    others = {
        "12 layers put into 16": (deeper, deep),
        "16 layers put into 12": (deep, deeper),
        "a wider feed-forward layer of equal names": (CONFIG, replace(CONFIG, d_ff=48)),
        "fewer key-value heads of equal names": (CONFIG, replace(CONFIG, n_kv_heads=2)),
        "bfloat16 parameters where the config says float32": (CONFIG, replace(CONFIG, param_dtype="bfloat16")),
        "a tied model's parameters, without a head": (CONFIG, replace(CONFIG, tied=True)),
        "a model of another vocabulary": (CONFIG, replace(CONFIG, vocab_size=258)),
        "8 heads of width 2 where the config says 4 of width 4": (
            CONFIG,
            replace(CONFIG, n_heads=8, n_kv_heads=8, head_dim=2),
        ),
    }
    same_shapes = "every shape is equal; the config in a checkpoint's manifest tells them apart"
    return [
        Case(
            "checkpoint of another model",
            what,
            loaded_call(config, other),
            refuse=partial(_against_table, config, other),
            unseen=same_shapes if other.n_heads == 8 else "",
        )
        for what, (config, other) in others.items()
    ]


@cache
def _bpe(pair: str) -> BPETokenizer:
    """Three merges of two letters: vocabularies of equal size, with other ids."""
    first, second = pair.encode()
    return BPETokenizer([[first, second], [256, first], [256, second]])


def _text_ids(tokenizer: Any = BYTES, text: str = "abcdabc") -> np.ndarray:
    """Two short documents as one row."""
    return build_stream([text, text[::-1]], tokenizer).tokens[None, :]


def _tokenizers() -> list[Case]:
    mine, other = _bpe("ab"), _bpe("cd")
    config = replace(CONFIG, vocab_size=mine.vocab_size)
    bos, separate = ByteTokenizer("bos"), ByteTokenizer("separate")
    return [
        Case(
            "ids of another tokenizer",
            "a vocabulary of equal size with other ids",
            decoder_call(_text_ids(other), config),
            decoder_call(_text_ids(mine), config),
            lambda: mine.identity.require(other.identity, "the corpus"),
        ),
        Case(
            "ids of another tokenizer",
            "256 as `bos` where the model learned it as `doc`",
            decoder_call(_text_ids(bos)),
            decoder_call(_text_ids()),
            lambda: BYTES.identity.require(bos.identity, "the corpus"),
        ),
        Case(
            "ids of another tokenizer",
            "`eos` of the separate policy, one id past the vocabulary",
            decoder_call(_text_ids(separate)),
            refuse=lambda: _checked(_text_ids(separate)),
        ),
    ]


def _checked(tokens: np.ndarray, config: DecoderConfig = CONFIG) -> None:
    check_tokens(tokens, config)


def _ids() -> list[Case]:
    good = np.arange(16, dtype=np.int32).reshape(2, 8)

    def with_id(value: int) -> np.ndarray:
        return np.where(good == 5, np.int32(value), good)

    wrong = {
        "-1 as padding": with_id(-1),
        "one id past the vocabulary": with_id(257),
        "ids wrapped to int8": np.where(good == 5, 200, good).astype(np.int8),
        "ids as float32": good.astype(np.float32),
    }
    return [
        Case("ids out of range", what, decoder_call(tokens), refuse=partial(_checked, tokens))
        for what, tokens in wrong.items()
    ]


def batch_call(change: Callable[[Batch], Batch]) -> Call:
    """The loss of a batch that was changed on its way."""

    def call(copies: Copies) -> Any:
        training = copies["experiments.contract_faults.subjects.training_step"]
        decoder = copies["research.model"].Decoder(EQUAL.config, rngs=nnx.Rngs(0))

        def loss(windows: Any) -> Any:
            return training.mean_loss(decoder, change(training.batch_of(windows, EQUAL.boundary_id)))

        return loss, (TRAINING.input(EQUAL),)

    return call


def _batches() -> list[Case]:
    right = batch_call(lambda batch: batch)
    turned = "every shape is equal; nothing in the numbers says which axis is which"
    fields: Mapping[str, tuple[Callable[[Batch], Batch], str]] = {
        "without segment ids": (lambda batch: batch._replace(segments=None), ""),
        "without positions": (lambda batch: batch._replace(positions=None), ""),
        "weights as integers": (lambda batch: batch._replace(weights=2 * batch.segments), ""),
        "targets of one position fewer": (lambda batch: batch._replace(targets=batch.targets[:, :1]), ""),
        "tokens T x B with B = T": (lambda batch: batch._replace(tokens=batch.tokens.T), turned),
        "the whole batch T x B with B = T": (lambda batch: jax.tree.map(jnp.transpose, batch), turned),
        "segments T x B with B = T": (lambda batch: batch._replace(segments=batch.segments.T), turned),
    }
    return [Case("batch", what, batch_call(change), right, unseen=unseen) for what, (change, unseen) in fields.items()]


def cache_call(change: Callable[[list[Any]], list[Any]] = list, slots: int = 9) -> Call:
    """Seven tokens at once and two one by one, through caches that were changed before."""

    def call(copies: Copies) -> Any:
        caching = copies["experiments.contract_faults.subjects.cached_decoding"]
        decoder = copies["research.model"].Decoder(replace(EQUAL.config, n_layers=3), rngs=nnx.Rngs(0))
        cached = caching.CachedDecoder(decoder)

        def logits(tokens: Any) -> Any:
            caches = change(cached.empty(tokens, slots))
            _, caches = cached.step(tokens[:, :7], caches, jnp.int32(0))
            _, caches = cached.step(tokens[:, 7:8], caches, jnp.int32(7))
            return cached.step(tokens[:, 8:], caches, jnp.int32(8))[0]

        return logits, (TRAINING.input(EQUAL),)

    return call


def _caches() -> list[Case]:
    def last(**fields: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
        def change(caches: list[Any]) -> list[Any]:
            changed = {name: function(getattr(caches[-1], name)) for name, function in fields.items()}
            return [*caches[:-1], caches[-1]._replace(**changed)]

        return change

    def both(function: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
        return last(keys=function, values=function)

    wrong: Mapping[str, Callable[[list[Any]], list[Any]]] = {
        "the last layer's cache one slot short": both(lambda x: x[:, 1:]),
        "the last layer's values one slot short": last(values=lambda x: x[:, 1:]),
        "one layer too few": lambda caches: caches[:-1],
        "the last layer's values as bfloat16": last(values=lambda x: x.astype(jnp.bfloat16)),
        "the last layer's cache of another batch": both(lambda x: x[:1]),
    }
    full = "how full a cache is, is a number; whoever allocates it must compare its slots with the longest row"
    return [
        Case("cache", "all caches of 8 slots for a row of 9", cache_call(slots=8), cache_call(), unseen=full),
        *(Case("cache", what, cache_call(change), cache_call()) for what, change in wrong.items()),
    ]


#: Function to the number of leaves and how they are packed.
_PACKED: Mapping[str, tuple[int, Callable[[Any, list[Any]], Any]]] = {
    "of_list": (12, lambda module, leaves: leaves),
    "of_tuple": (12, lambda module, leaves: tuple(leaves)),
    "of_dict": (12, lambda module, leaves: {f"layer {index}": leaf for index, leaf in enumerate(leaves)}),
    "of_named_tuple": (4, lambda module, leaves: module.Four(*leaves)),
    "of_dataclass": (4, lambda module, leaves: module.FourFrozen(*leaves)),
}


def container_call(function: str, change: Callable[[Any], Any] = lambda leaf: leaf) -> Call:
    """A function over a container, the last leaf of which was changed."""
    count, pack = _PACKED[function]

    def call(copies: Copies) -> Any:
        module = copies["experiments.contract_faults.subjects.containers"]

        def total(first: Any) -> Any:
            leaves = [first + layer for layer in range(count)]
            return getattr(module, function)(pack(module, [*leaves[:-1], change(leaves[-1])]))

        return total, (np.random.default_rng(5).normal(size=(2, 8, 4, 3)).astype(np.float32),)

    return call


def _containers() -> list[Case]:
    changes: Mapping[str, Callable[[Any], Any]] = {
        "two axes swapped": lambda leaf: leaf.swapaxes(1, 2),
        "one slot short": lambda leaf: leaf[:, :-1],
        "integers": lambda leaf: leaf.astype(jnp.int32),
    }
    return [
        Case(
            "bad leaf in a container",
            f"the last of {count} in a {function.removeprefix('of_').replace('_', ' ')}: {what}",
            container_call(function, change),
            container_call(function),
        )
        for function, (count, _) in _PACKED.items()
        for what, change in changes.items()
    ]


def cases() -> list[Case]:
    """Every case, by class."""
    return [*_checkpoints(), *_tokenizers(), *_ids(), *_batches(), *_caches(), *_containers()]
