"""Whether documents that share a batch know of each other: tried, not claimed.

The text of the first document of a row is replaced. Where documents are isolated, the logits of the others and the
gradient of their loss stay the same bit for bit: masked scores add exact zeros, in the same order. Where they are not,
the same replacement is seen, which shows that the trial can tell.
"""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from contracts.batch import Batch
from contracts.core import contract
from contracts.decoder import LanguageModel, Logits, Positions, Segments, Tokens
from contracts.errors import InputError
from contracts.evaluation import Certificate
from research.evaluate.score import is_pytree, require_vocabulary
from research.model.nats import token_nats
from research.stream import Rows

Chosen = Bool[Array, "B T"]


def certificate(decoder: LanguageModel, rows: Rows, *, seed: int = 0) -> Certificate:
    """Replace a document in the first batch that holds several, under the policy of `rows`, and compare the others.

    Under `reset` the first row's document is replaced and the other rows are compared; otherwise the first document of
    every row that holds more than one, and what stands behind it.

    Raises:
        InputError: if no batch holds two documents, and for a decoder of another vocabulary.
    """
    require_vocabulary(decoder, rows.tokenizer)
    batch, changed, compared = _batch_of_several(rows)
    rng = np.random.default_rng(seed)
    text_ids = rows.tokenizer.text_vocab_size
    others = (batch.tokens + rng.integers(1, text_ids, batch.tokens.shape)) % text_ids
    after = batch._replace(tokens=np.where(changed, others, batch.tokens).astype(np.int32))
    masked = rows.policy.needs_mask
    logits, gradients = zip(*(_measure(decoder, each, compared, masked) for each in (batch, after)), strict=True)
    return Certificate(
        policy=rows.policy,
        changed=int(changed.sum()),
        compared=int(compared.sum()),
        logits=_farthest(*(each[compared] for each in logits)),
        gradient=max(map(_farthest, *gradients), default=0.0),
    )


def _batch_of_several(rows: Rows) -> tuple[Batch, np.ndarray, np.ndarray]:
    """The first batch with two documents, which positions of it are replaced, and which are compared."""
    is_reset = rows.policy.isolation == "reset"
    seen = rows if is_reset else replace(rows, policy=replace(rows.policy, isolation="segments"))
    for step in range(rows.batches_in_order):
        batch, document = rows.in_order(step), seen.in_order(step).segments
        is_real, is_text = document >= 0, batch.tokens < rows.tokenizer.text_vocab_size
        row = np.arange(len(document))[:, None]
        first = is_real & ((row == 0) if is_reset else (document == document[:, :1]))
        compared = is_real & ~first
        # without a mask or a row of its own, a row of one document has nothing to compare
        changed = first & is_text & (is_reset | compared.any(axis=1, keepdims=True))
        if changed.any() and compared.any():
            return batch, changed, compared
    hint = "longer rows hold several documents; under 'reset' a batch has to have two rows"
    raise InputError("rows", expected="a batch of two documents or more", got="none", hint=hint)


def _measure(decoder: Any, batch: Batch, compared: np.ndarray, masked: bool) -> tuple[np.ndarray, list[np.ndarray]]:
    """The logits of all positions, and the gradient of the nats at the compared ones in each parameter."""
    leaves, treedef = jax.tree.flatten(decoder if is_pytree(decoder) else jax.tree_util.Partial(decoder))
    logits, gradient = _logits_and_gradient(
        leaves,
        treedef,
        jnp.asarray(batch.tokens),
        jnp.asarray(batch.targets),
        jnp.asarray(batch.segments) if masked else None,
        jnp.asarray(batch.positions),
        jnp.asarray(compared),
    )
    return np.asarray(logits), [np.asarray(leaf, np.float32) for leaf in gradient]


@jax.jit(static_argnames="treedef")
@contract
def _logits_and_gradient(
    leaves: Any,
    treedef: Any,
    tokens: Tokens,
    targets: Tokens,
    segments: Segments | None,
    positions: Positions,
    compared: Chosen,
) -> tuple[Logits, Any]:
    is_float = [jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in leaves]

    def loss(learned: list[jax.Array]) -> tuple[jax.Array, jax.Array]:
        rest = iter(learned)
        decoder = treedef.unflatten(
            [next(rest) if of_float else leaf for leaf, of_float in zip(leaves, is_float, strict=True)]
        )
        logits = decoder(tokens, segments, positions)
        return jnp.where(compared, token_nats(logits, targets), 0.0).sum(), logits

    learned = [leaf for leaf, of_float in zip(leaves, is_float, strict=True) if of_float]
    gradient, logits = jax.grad(loss, has_aux=True)(learned)
    return logits, gradient


def _farthest(before: np.ndarray, after: np.ndarray) -> float:
    return float(np.abs(before.astype(np.float64) - after).max(initial=0.0))
