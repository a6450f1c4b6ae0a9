"""Which tokens a position's logits depend on, by the gradient with respect to the rows of the embedding table; and
what training on some positions would do to every parameter.

The table is found by what it does: a matrix with a row for each id, whose gradient is zero in the rows of all ids that
are not read.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from contracts.laws.decoder_run import DecoderRun


def influence(run: DecoderRun, segments: np.ndarray | None = None) -> np.ndarray | None:
    """|d logits[position] / d embedding of token|, the largest entry, position x token; `None` without a table.

    A row of ids that differ is read. Of the logits the difference of two ids outside the row is taken: their own rows
    may be in the head as well, and in a difference a common normaliser cancels.
    """
    length, vocab_size = run.short, run.vocab_size
    tables = [index for index, array in enumerate(run.arrays) if array.ndim == 2 and array.shape[0] == vocab_size]
    if run.problem or not tables or vocab_size < length + 3:
        return None
    ids = np.arange(vocab_size - length, vocab_size, dtype=np.int32)
    documents = None if segments is None else jnp.asarray(segments)

    def margins(leaves: list[jax.Array]) -> jax.Array:
        arrays = list(run.arrays)
        for index, leaf in zip(tables, leaves, strict=True):
            arrays[index] = leaf
        logits = run.apply(arrays, jnp.asarray(ids[None]), documents)[0].astype(jnp.float32)
        return logits[:, 0] - logits[:, 1]

    @jax.jit
    def largest(leaves: list[jax.Array]) -> list[jax.Array]:
        _, pull = jax.vjp(margins, leaves)
        one_position = jnp.eye(length, dtype=jnp.float32)
        return jax.lax.map(lambda of: [jnp.abs(table).max(axis=1) for table in pull(of)[0]], one_position)

    by_id = [np.asarray(gradient, np.float32) for gradient in largest([run.arrays[index] for index in tables])]
    unread = np.arange(2, vocab_size - length)
    read = [gradient[:, ids] for gradient in by_id if not gradient[:, unread].any() and gradient[:, ids].any()]
    return np.max(read, axis=0) if read else None


ParameterGradient = Callable[[np.ndarray, np.ndarray | None, np.ndarray], list[np.ndarray]]


def parameter_gradient(run: DecoderRun) -> ParameterGradient:
    """(tokens, segments, chosen positions B x T) to the gradient of what the logits there sum to under fixed weights.

    It is that of every array of floating point numbers among the parameters.
    """
    floats = [index for index, array in enumerate(run.arrays) if jnp.issubdtype(array.dtype, jnp.floating)]

    def total(leaves: list[jax.Array], tokens: jax.Array, segments: jax.Array | None, chosen: jax.Array) -> jax.Array:
        arrays = list(run.arrays)
        for index, leaf in zip(floats, leaves, strict=True):
            arrays[index] = leaf
        logits = run.apply(arrays, tokens, segments).astype(jnp.float32)
        weights = jax.random.normal(jax.random.key(0), logits.shape)
        return jnp.where(chosen[:, :, None], logits * weights, 0.0).sum()

    gradient = jax.jit(jax.grad(total))

    def compute(tokens: np.ndarray, segments: np.ndarray | None, chosen: np.ndarray) -> list[np.ndarray]:
        documents = None if segments is None else jnp.asarray(segments)
        leaves = gradient([run.arrays[index] for index in floats], jnp.asarray(tokens), documents, jnp.asarray(chosen))
        return [np.asarray(leaf.astype(jnp.float32)) for leaf in leaves]

    return compute
