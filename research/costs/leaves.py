"""The second witness of a parameter count: the leaves of a traced model, read from their shapes without allocating."""

import math

import jax
from jaxtyping import PyTree


def leaf_sizes(tree: PyTree) -> dict[str, int]:
    """Elements of every leaf of a pytree, by its path such as `blocks/0/mixer/query/kernel/value`.

    The tree is abstract or real: `jax.eval_shape(init, key)`, or the state of `flax.nnx.eval_shape(make_model)`
    filtered to `nnx.Param`. Only `shape` is read. A leaf reached by two paths counts twice: split a module with
    shared weights first, as `nnx.state` does.
    """
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {jax.tree_util.keystr(path, simple=True, separator="/"): math.prod(leaf.shape) for path, leaf in leaves}
