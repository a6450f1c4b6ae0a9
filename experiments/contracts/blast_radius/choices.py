"""Two choices of tokenizer, boundary policy and decoder, over the same documents: the two sides of a blast radius."""

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from contracts.decoder import DecoderConfig
from contracts.errors import InputError
from contracts.stream import TokenStream
from experiments.contracts.configs import config_values
from experiments.corpora import slices
from experiments.vocabularies import tokenizer_named
from research.stream import build_stream


@dataclass(frozen=True)
class Choice:
    """A tokenizer with its boundary policy, a decoder, and the documents on which amounts are counted."""

    name: str
    tokenizer: Any
    config: DecoderConfig
    documents: tuple[str, ...]

    @cached_property
    def stream(self) -> TokenStream:
        """The documents as one stream of tokens."""
        return build_stream(self.documents, self.tokenizer)

    @property
    def corpus(self) -> str:
        """How much text amounts are counted on."""
        return f"{len(self.documents):,} documents, {sum(len(text.encode()) for text in self.documents):,} bytes"


def choices(
    tokenizers: Sequence[str], boundaries: Sequence[str], configs: Sequence[str], corpus: Sequence[str]
) -> tuple[Choice, Choice]:
    """The old and the new choice. One value of a kind goes for both; at least one kind has two.

    A decoder's vocabulary is its tokenizer's, unless neither tokenizer nor boundary was named.

    Raises:
        InputError: if no kind has two values or one has more, and for values that can't be read.
    """
    given = {"--tokenizer": tokenizers, "--boundary": boundaries, "--config": configs}
    for name, values in given.items():
        if len(values) > 2:
            raise InputError(name, expected="one value for both sides, or two", got=len(values))
    if all(len(values) < 2 for values in given.values()):
        raise InputError("diff", expected=f"two values for one of {', '.join(given)}", got="one for each")
    documents, named = _documents(corpus), functools.cache(tokenizer_named)

    def side(number: int) -> Choice:
        name, boundary, config = (
            values[min(number, len(values) - 1)] if values else default
            for values, default in zip(given.values(), ("bytes", "", "tiny"), strict=True)
        )
        tokenizer = named(name).with_boundary(boundary) if boundary else named(name)
        decoder = DecoderConfig(**config_values([config]))
        if tokenizers or boundaries:
            decoder = dataclasses.replace(decoder, vocab_size=tokenizer.vocab_size)
        return Choice(f"{name} {tokenizer.boundary} {config}", tokenizer, decoder, documents)

    return side(0), side(1)


def _documents(corpus: Sequence[str]) -> tuple[str, ...]:
    """The documents of every slice of the corpus, without empty ones."""
    return tuple(document for cut in slices(corpus) for document in cut.documents if document)
