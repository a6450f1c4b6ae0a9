"""Prints what each of all devices holds of the state, and what it is sent, as one copy of it and as two: JSON.

A program of its own, for the number of devices is decided before JAX is imported.
"""

import json
import re
from dataclasses import replace

import jax
from tiny_run import DECODER, STREAM, TOKENIZER, tiny

from research.train.loop import Training
from research.train.mesh import data_mesh

CONFIG = tiny(batch_size=8, decoder=replace(DECODER, d_model=64, d_ff=48))


def bytes_by_device(tree):
    held = dict.fromkeys((device.id for device in jax.devices()), 0)
    for array in jax.tree.leaves(tree):
        for shard in array.addressable_shards:
            held[shard.device.id] += shard.data.nbytes
    return list(held.values())


def told(state):
    return {"params": bytes_by_device(state.params), "optimizer": bytes_by_device(state.opt_state)}


def gathered(training):
    """The shapes of the numbers that the compiled step gathers from other devices, each ascending."""
    program = training.program.dispatch.lower(training.program.placed_state, training.batches(0, 2)).compile()
    shapes = re.findall(r"= f32\[([\d,]*)\]\S* all-gather", program.as_text())
    return [sorted(map(int, shape.split(","))) for shape in shapes]


def placed(replicas):
    training = Training(CONFIG, STREAM, TOKENIZER, mesh=data_mesh(replicas=replicas))
    found = {"first": told(training.state)}
    embedding = training.state.params["embed"]["embedding"][...]
    found["embedding"] = [list(embedding.shape), list(embedding.addressable_shards[0].data.shape)]
    found["shapes"] = [sorted(array.shape) for array in jax.tree.leaves(training.state.params)]
    found["gathered"] = gathered(training)
    next(training.dispatches())
    return {**found, "trained": told(training.state)}


if __name__ == "__main__":
    print(json.dumps({replicas: placed(replicas) for replicas in (1, 2)}))
