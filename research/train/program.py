"""What is compiled for a run: once for all runs that the program can't tell apart, so that many seeds share it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.sharding import Mesh

from contracts.tokenizer import Tokenizer
from research.train.config import TrainConfig
from research.train.mesh import everywhere, gathering, shardings
from research.train.step import MakeDecoder, Step, TrainState, first_state, make_dispatch, make_train_step

_KEPT = 8


@dataclass(frozen=True, eq=False)
class Program:
    """The functions of a run, and what they work on."""

    graph: nnx.GraphDef
    """what of the decoder is not an array"""
    abstract_state: TrainState
    """shapes and dtypes of the state of one seed"""
    placed_state: TrainState
    """the same with the places on the devices: what a checkpoint is loaded into"""
    first_state: Callable[[int], TrainState]
    """from a seed"""
    train_step: Step
    """of one seed, not compiled"""
    dispatch: Step
    """as many steps as the batch has; the state given to it is used up"""
    dispatch_seeds: Step
    """the same for the stacked states of several seeds, whose batches are stacked behind the axis of steps"""
    stack: Callable[..., TrainState]
    """of the states of several seeds, one; an axis in front"""


def program(config: TrainConfig, tokenizer: Tokenizer, make: MakeDecoder, mesh: Mesh) -> Program:
    """The program of a run on these devices; compiled when it is first called."""
    seen = replace(config, seed=0, log_interval=1, evaluation_interval=0, checkpoint_interval=config.steps_per_dispatch)
    return _program(seen, make, mesh, tokenizer.token_byte_lengths.tobytes())


@lru_cache(maxsize=_KEPT)
def _program(config: TrainConfig, make: MakeDecoder, mesh: Mesh, token_bytes: bytes) -> Program:
    def begin(seed: jax.Array) -> TrainState:
        return first_state(config, make, seed)

    graph = nnx.split(nnx.eval_shape(lambda: make(config.decoder, rngs=nnx.Rngs(0))))[0]
    abstract = jax.eval_shape(begin, jax.ShapeDtypeStruct((), np.uint32))
    places = shardings(abstract, mesh)
    begin_there = jax.jit(begin, out_shardings=places)
    gather = gathering(places.params, mesh)
    train_step = make_train_step(config, graph, np.frombuffer(token_bytes, np.int32), gather)
    one = jax.tree.map(lambda array: jax.ShapeDtypeStruct((1, *array.shape), array.dtype), abstract)
    stacked_places = shardings(one, mesh, stacked=1)
    return Program(
        graph=graph,
        abstract_state=abstract,
        placed_state=jax.tree.map(
            lambda array, place: jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=place), abstract, places
        ),
        first_state=lambda seed: begin_there(np.uint32(seed)),
        train_step=train_step,
        dispatch=make_dispatch(train_step, out_shardings=(places, everywhere(mesh))),
        dispatch_seeds=make_dispatch(jax.vmap(train_step), out_shardings=(stacked_places, everywhere(mesh))),
        stack=jax.jit(
            lambda *states: jax.tree.map(lambda *each: jnp.stack(each), *states), out_shardings=stacked_places
        ),
    )
