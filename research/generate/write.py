"""Text from a decoder: as it comes (`stream`), or whole (`generate`).

A row opens with the tokenizer's start id, which is given and not sampled, so it never ends the text. A prompt is
encoded as text, so nothing in it becomes a protocol id. Of the protocol ids only the stop id can be sampled.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

import jax
import jax.numpy as jnp
import numpy as np

from contracts.decoder import LanguageModel
from contracts.errors import InputError
from contracts.generation import DEFAULT_SAMPLING, Generated, Overflow, Sampling, Stop
from contracts.tokenizer import Tokenizer
from research.evaluate.score import is_pytree, require_vocabulary
from research.generate.cache import has_cache
from research.generate.decoding import MOST_STEPS, PREFILL, Decoding, begin, decode

Prompt = str | bytes
_SMALLEST = 128


class NoCacheWarning(UserWarning):
    """Every new token costs a pass over the whole row."""


class Piece(NamedTuple):
    """What a row has got since its last piece."""

    row: int
    tokens: tuple[int, ...]
    """text ids"""
    stop: Stop | None
    """why the row ended, if it did"""


def generate(
    decoder: LanguageModel,
    tokenizer: Tokenizer,
    prompts: Sequence[Prompt],
    *,
    length: int | None = None,
    sampling: Sampling = DEFAULT_SAMPLING,
    seed: int = 0,
    overflow: Overflow = "error",
) -> list[Generated]:
    """A text for each prompt; arguments and errors as in `stream`."""
    tokens: list[list[int]] = [[] for _ in prompts]
    stops: list[Stop] = ["length"] * len(prompts)
    for piece in stream(decoder, tokenizer, prompts, length=length, sampling=sampling, seed=seed, overflow=overflow):
        tokens[piece.row].extend(piece.tokens)
        stops[piece.row] = piece.stop or stops[piece.row]
    return [
        Generated(_utf8(prompt), tokenizer.decode_bytes(ids), tuple(ids), stop)
        for prompt, ids, stop in zip(prompts, tokens, stops, strict=True)
    ]


def stream(
    decoder: LanguageModel,
    tokenizer: Tokenizer,
    prompts: Sequence[Prompt],
    *,
    length: int | None = None,
    sampling: Sampling = DEFAULT_SAMPLING,
    seed: int = 0,
    overflow: Overflow = "error",
) -> Iterator[Piece]:
    """Continue all prompts side by side, and tell what each has got after every few tokens.

    A row's draws depend on the seed, its number and how far it is, so the first rows are the same whatever follows
    them. Lengths are padded up to powers of two: all that fit into one share a compiled program.

    Args:
        prompts: UTF-8 text or bytes of any lengths; an empty one begins a document.
        length: The most tokens of each row; `None` goes on until a stop id or the end of the context.
        overflow: When a row has filled the decoder's context: `error` refuses a `length` that could get there, and
            without one ends the row (`context`); `slide` goes on with the later half of the context; `reset` with its
            last token alone, as rows of training are cut.

    Raises:
        InputError: for a decoder and tokenizer of different vocabularies, a prompt that is no UTF-8, an empty prompt
            where no start id stands for it, a prompt or length that the context can't hold.
    """
    rows = _open(decoder, tokenizer, prompts, length, overflow)
    if not has_cache(decoder):
        warnings.warn(
            "the decoder's mixer has no key-value cache: every token costs a pass over the whole row",
            NoCacheWarning,
            stacklevel=2,
        )
    return _Writer(decoder, tokenizer, rows, length, sampling, seed, overflow).run()


@dataclass
class _Row:
    """One text while it is written."""

    context: list[int]
    """what the next token is drawn from"""
    stop: Stop | None = None
    new: list[int] = field(default_factory=list)
    """drawn since the last piece"""
    is_told: bool = False
    """whether a piece has said why it ended"""


@dataclass
class _Writer:
    decoder: Any
    tokenizer: Tokenizer
    rows: list[_Row]
    length: int | None
    sampling: Sampling
    seed: int
    overflow: Overflow
    drawn: int = 0

    def run(self) -> Iterator[Piece]:
        """The rows, from refill to refill of the cache."""
        model = self.decoder if is_pytree(self.decoder) else jax.tree_util.Partial(self.decoder)
        seed, stop, allowed = jax.random.key(self.seed), self._stop_id, self._allowed
        state, slots = self._begin()
        while True:
            steps = self._steps(slots - int(state.slot))
            state, found = decode(model, state, seed, jnp.int32(steps), stop, allowed, self.sampling)
            self.drawn += steps
            self._take(np.asarray(found)[:, :steps])
            yield from self._pieces()
            if all(row.stop for row in self.rows):
                return
            if self._is_cut() or int(state.slot) == slots:
                state, slots = self._begin()

    @property
    def limit(self) -> int:
        """Positions of the decoder's context."""
        return self.decoder.config.context_length

    @property
    def _stop_id(self) -> jax.Array:
        stop = self.tokenizer.stop_id
        return jnp.int32(-1 if stop is None else stop)

    @property
    def _allowed(self) -> jax.Array:
        ids = np.arange(self.tokenizer.vocab_size)
        return jnp.asarray((ids < self.tokenizer.text_vocab_size) | (ids == self.tokenizer.stop_id))

    def _begin(self) -> tuple[Decoding, int]:
        """Read all contexts anew; what a finished row is about no longer matters."""
        contexts = [row.context[-1:] if row.stop else row.context for row in self.rows]
        longest = max(map(len, contexts))
        left = self.limit if self.length is None else self.length - self.drawn
        needed = min(self.limit, longest + left)
        slots = min(self.limit, max(_SMALLEST, 1 << (needed - 1).bit_length()))
        if has_cache(self.decoder):
            slots = -(-slots // PREFILL) * PREFILL + PREFILL  # prompts are padded to whole pieces
        finished = [row.stop is not None for row in self.rows]
        return begin(self.decoder, contexts, slots, self.drawn, finished), slots

    def _steps(self, slots_left: int) -> int:
        """How many tokens every row can draw before one of them has to stop or to be cut."""
        room = min(self.limit - len(row.context) + 1 for row in self.rows if not row.stop)
        asked = MOST_STEPS if self.length is None else self.length - self.drawn
        return min(MOST_STEPS, room, slots_left, asked)

    def _take(self, found: np.ndarray) -> None:
        for row, tokens in zip(self.rows, found.tolist(), strict=True):
            if row.stop:
                continue
            if self.tokenizer.stop_id in tokens:
                tokens = tokens[: tokens.index(self.tokenizer.stop_id)]
                row.stop = "stop id"
            row.context.extend(tokens)
            row.new.extend(tokens)
            if not row.stop and self.drawn == self.length:
                row.stop = "length"
            elif not row.stop and len(row.context) > self.limit and self.overflow == "error":
                row.stop = "context"

    def _pieces(self) -> Iterator[Piece]:
        for number, row in enumerate(self.rows):
            if row.new or (row.stop and not row.is_told):
                yield Piece(number, tuple(row.new), row.stop)
                row.new, row.is_told = [], row.stop is not None

    def _is_cut(self) -> bool:
        """Cut the contexts that are full; whether there was one."""
        full = [row for row in self.rows if not row.stop and len(row.context) > self.limit]
        for row in full:
            row.context = row.context[-_kept(self.overflow, self.limit) :]
        return bool(full)


def _kept(overflow: Overflow, limit: int) -> int:
    """How many tokens of a full context are gone on with."""
    return max(1, limit // 2) if overflow == "slide" else 1


def _open(
    decoder: LanguageModel,
    tokenizer: Tokenizer,
    prompts: Sequence[Prompt],
    length: int | None,
    overflow: Overflow,
) -> list[_Row]:
    """The rows as they are before the first draw."""
    require_vocabulary(decoder, tokenizer)
    if isinstance(prompts, (str, bytes)) or not prompts:
        got = "none" if not prompts else "a single one"
        raise InputError("prompts", expected="a sequence of texts", got=got, hint="pass [prompt]")
    if overflow not in get_args(Overflow):
        raise InputError("overflow", expected=f"one of {', '.join(get_args(Overflow))}", got=repr(overflow))
    if length is not None and length < 1:
        raise InputError("length", expected="at least 1 token", got=length)
    if length is None and overflow != "error":
        hint = "without one a text might never end"
        raise InputError("length", expected=f"a number of tokens under {overflow!r}", got="none", hint=hint)
    limit = decoder.config.context_length
    return [_row(tokenizer, index, prompt, length, overflow, limit) for index, prompt in enumerate(prompts)]


def _row(tokenizer: Tokenizer, index: int, prompt: Prompt, length: int | None, overflow: Overflow, limit: int) -> _Row:
    ids = tokenizer.encode(prompt) if isinstance(prompt, str) else tokenizer.encode_bytes(prompt)
    opening = [] if tokenizer.start_id is None else [tokenizer.start_id]
    context = [*opening, *map(int, ids)]
    where = f"prompt {index}"
    if not context:
        hint = "the tokenizer has no start id, which an empty prompt would stand for"
        raise InputError("prompt", expected="some text", got="none", where=where, hint=hint)
    if len(context) <= limit and (length is None or len(context) + length <= limit + 1):
        return _Row(context)
    if overflow == "error":
        expected = f"at most {limit} tokens of prompt and {limit + 1} with what follows (config.context_length)"
        got = f"{len(context)} of prompt" + ("" if length is None else f" and a length of {length}")
        hint = f"ask for at most {limit + 1 - len(context)}" if len(context) <= limit else "shorten it"
        hint += ", or choose what happens when the context is full: slide or reset"
        raise InputError("context", expected=expected, got=got, where=where, hint=hint)
    return _Row(context if len(context) <= limit else context[-_kept(overflow, limit) :])


def _utf8(prompt: Prompt) -> bytes:
    return prompt.encode() if isinstance(prompt, str) else prompt
