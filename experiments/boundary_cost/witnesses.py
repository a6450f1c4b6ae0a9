"""The second witness of every formula on a model: the real `Decoder`, traced without allocating a weight."""

from dataclasses import asdict, fields
from functools import cache

import jax
import jax.numpy as jnp
from flax import nnx

from contracts.decoder import DecoderConfig
from experiments.boundary_cost.shapes import Shape
from research.costs.jaxpr import count_flops
from research.costs.leaves import leaf_sizes
from research.model import Decoder


def parameter_leaves(shape: Shape) -> dict[str, int]:
    """Elements of every parameter of the decoder, by path. Layers are stacked: one is traced, all are counted."""
    return leaf_sizes(nnx.state(_abstract(shape), nnx.Param))


def model_parameters(shape: Shape) -> int:
    """All parameters of the real decoder."""
    return sum(parameter_leaves(shape).values())


def token_parameters(shape: Shape) -> int:
    """The parameters of the real decoder's embedding and head."""
    return sum(size for path, size in parameter_leaves(shape).items() if path.split("/")[0] in ("embed", "head"))


def logits_flops_of_an_id(shape: Shape) -> int:
    """Matmul FLOPs that one more id adds to the traced forward pass over a single token."""
    larger = shape.with_vocabulary(shape.vocab_size + 1, shape.tied)
    return _forward_flops_of_a_token(larger) - _forward_flops_of_a_token(shape)


def _forward_flops_of_a_token(shape: Shape) -> int:
    graph, state = nnx.split(_abstract(shape))
    tokens = jax.ShapeDtypeStruct((1, 1), jnp.int32)
    return count_flops(lambda state, tokens: nnx.merge(graph, state)(tokens), state, tokens).matmul


@cache
def _abstract(shape: Shape) -> Decoder:
    known = {field.name for field in fields(DecoderConfig)}
    values = {name: value for name, value in asdict(shape).items() if name in known}
    config = DecoderConfig(**values, scan_layers=True)
    return nnx.eval_shape(lambda: Decoder(config, rngs=nnx.Rngs(0)))
