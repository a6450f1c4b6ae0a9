"""Two modules, a protocol and a few arrays: what the tests of the engine put under contract."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Protocol

import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import Array, Float

from contracts.core import contract
from contracts.dims import Dim

D = Dim("D", "model width")
Hidden = Float[Array, "B T D"]
Row = Float[Array, "B T"]


@dataclass(frozen=True)
class Config:
    d_model: Annotated[int, D] = 6


class Cache(NamedTuple):
    keys: Row
    values: Row


class Inner(nnx.Module):
    def __init__(self, config, cut=0):
        self.config, self.cut = config, cut

    @contract
    def __call__(self, x: Hidden) -> Hidden:
        return x[:, self.cut :]


class Outer(nnx.Module):
    def __init__(self, config, cut=0):
        self.config = config
        self.blocks = nnx.List([Inner(config), Inner(config, cut)])

    @contract
    def __call__(self, x: Hidden) -> Hidden:
        for block in self.blocks:
            x = block(x)
        return x


class Layer(Protocol):
    config: Config

    def __call__(self, x: Hidden) -> Hidden: ...


def hidden(*shape):
    return jnp.zeros(shape)


def np_row(*shape):
    return jnp.asarray(np.zeros(shape, np.float32))
