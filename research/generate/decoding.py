"""The loop that runs on the device: many tokens a dispatch, one compiled program whatever the lengths."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32

from contracts.core import contract
from contracts.decoder import Tokens
from contracts.generation import Allowed, Count, Finished, NextTokens, Pads, Sampling
from research.generate.cache import KeyValueCache, empty_cache, has_cache
from research.generate.recompute import TokenBuffer
from research.generate.sampling import row_keys, sample

PREFILL = 64
"""positions of a prompt that are read at once"""
MOST_STEPS = 16
"""tokens a dispatch: long enough to hide its cost, short enough to watch"""

NewTokens = Int32[Array, "B steps"]


class Decoding(NamedTuple):
    """Rows between two tokens: a pytree, given up to the step that follows."""

    memory: Any
    """a `KeyValueCache` or a `TokenBuffer`; all tokens but the newest are in it"""
    slot: Count
    """where the newest tokens are going to be written"""
    pads: Pads
    newest: NextTokens
    drawn: Count
    """tokens drawn so far, in each row"""
    finished: Finished


def begin(decoder: Any, contexts: list[list[int]], slots: int, drawn: int, finished: list[bool]) -> Decoding:
    """Read the contexts, each of at least one token; `slots` bounds the longest of them and what is to follow."""
    longest = max(map(len, contexts)) - 1
    written = -(-longest // PREFILL) * PREFILL if has_cache(decoder) else longest
    before = np.zeros((len(contexts), written), np.int32)
    for row, context in zip(before, contexts, strict=True):
        row[written - len(context) + 1 :] = context[:-1]
    pads = jnp.asarray([written - len(context) + 1 for context in contexts], jnp.int32)
    memory: Any
    if has_cache(decoder):
        memory = empty_cache(decoder, len(contexts), slots)
        for slot in range(0, written, PREFILL):
            memory = _prefill(decoder, memory, before[:, slot : slot + PREFILL], jnp.int32(slot), pads)
    else:
        memory = TokenBuffer(jnp.asarray(np.pad(before, ((0, 0), (0, slots - written)))))
    newest = jnp.asarray([context[-1] for context in contexts], jnp.int32)
    return Decoding(memory, jnp.int32(written), pads, newest, jnp.int32(drawn), jnp.asarray(finished))


@partial(jax.jit, donate_argnames="memory")
@contract
def _prefill(decoder: Any, memory: KeyValueCache, tokens: Tokens, slot: Count, pads: Pads) -> KeyValueCache:
    return memory.write(decoder, tokens, slot, pads)


@partial(jax.jit, static_argnames="sampling", donate_argnames="state")
@contract
def decode(
    decoder: Any, state: Decoding, seed: Any, steps: Count, stop: Count, allowed: Allowed, sampling: Sampling
) -> tuple[Decoding, NewTokens]:
    """Draw `steps` tokens a row, at most `MOST_STEPS`; fewer if every row has drawn `stop`.

    Columns past the last step hold no tokens, and neither does a row behind its stop.
    """
    rows = state.newest.shape[0]

    def goes_on(carry: tuple[Any, Any, Decoding]) -> Any:
        step, _, state = carry
        return (step < steps) & ~state.finished.all()

    def step(carry: tuple[Any, Any, Decoding]) -> tuple[Any, Any, Decoding]:
        step, found, state = carry
        logits, memory = state.memory.read(decoder, state.newest, state.slot, state.pads)
        drawn = sample(logits, row_keys(seed, rows, state.drawn), allowed, sampling)
        found = jax.lax.dynamic_update_slice(found, drawn[:, None], (0, step))
        finished = state.finished | (drawn == stop)
        return step + 1, found, Decoding(memory, state.slot + 1, state.pads, drawn, state.drawn + 1, finished)

    found = jnp.zeros((rows, MOST_STEPS), jnp.int32)
    _, found, state = jax.lax.while_loop(goes_on, step, (jnp.int32(0), found, state))
    return state, found
