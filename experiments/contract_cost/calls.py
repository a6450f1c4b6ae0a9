"""An eager call and a decoration, for the forms of signature that a decoder is made of."""

import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from unittest import mock

import jax
import jax.numpy as jnp
from beartype import beartype
from jaxtyping import Array, Float, jaxtyped

from contracts import core
from contracts.decoder import DecoderConfig, Hidden, Positions, Segments
from experiments.contract_cost.clock import Samples, interleaved

CONFIG = DecoderConfig(vocab_size=257, d_model=32, n_layers=1, n_heads=4, n_kv_heads=4, head_dim=8, d_ff=64)
_ROWS, _LENGTH, _SLOTS, _LAYERS = 2, 16, 16, 12


class LayerCache(NamedTuple):
    """One layer's keys and values."""

    keys: Float[Array, "B S G K"]
    values: Float[Array, "B S G K"]


class Layer:
    """Something whose dims are those of a config."""

    config = CONFIG


def two_arrays(x: Hidden, y: Hidden) -> Hidden:
    """Nothing but a signature."""
    return x


def method(self: Any, x: Hidden, positions: Positions, segments: Segments | None) -> Hidden:
    """The signature of a mixer."""
    return x


def many_caches(caches: list[LayerCache]) -> list[LayerCache]:
    """Twelve layers' caches in and out: 24 arrays each way, of which the stock tools look at none."""
    return caches


class Form(NamedTuple):
    """A function and what it is called with."""

    name: str
    function: Any
    arguments: tuple[Any, ...]


def forms() -> list[Form]:
    """The forms of call that are compared."""
    x = jnp.zeros((_ROWS, _LENGTH, CONFIG.d_model), jnp.float32)
    ids = jnp.zeros((_ROWS, _LENGTH), jnp.int32)
    slots = jnp.zeros((_ROWS, _SLOTS, CONFIG.n_kv_heads, CONFIG.head_dim), jnp.float32)
    jax.block_until_ready((x, ids, slots))
    return [
        Form("two arrays", two_arrays, (x, x)),
        Form("a mixer's method", method, (Layer(), x, ids, ids)),
        Form("12 layers' caches", many_caches, ([LayerCache(slots, slots) for _ in range(_LAYERS)],)),
    ]


def off(function: Any) -> Any:
    """`contract` under CONTRACTS=off."""
    with mock.patch.object(core, "ENABLED", False):
        return core.contract(function)


#: `none` and `off` are the same function: their ratio is the noise of the clock.
CHECKERS: Mapping[str, Callable[[Any], Any]] = {
    "none": lambda function: function,
    "off": off,
    "stock": jaxtyped(typechecker=beartype),
    "ours": core.contract,
}


def eager_calls(form: Form, repeats: int, seed: int) -> Samples:
    """Seconds of a call under each checker."""

    def call(checked: Callable[..., Any]) -> Callable[[], Any]:
        return lambda: checked(*form.arguments)

    checked = {name: call(decorate(form.function)) for name, decorate in CHECKERS.items()}
    return interleaved(f"calls, {form.name}", checked, repeats, seed)


def decorations(form: Form, repeats: int, seed: int) -> Samples:
    """Seconds to decorate a function, and to decorate it and call it once, when whatever was put off is done."""

    def decorated(decorate: Callable[[Any], Any]) -> Callable[[], Any]:
        return lambda: decorate(_fresh(form.function))

    def called(decorate: Callable[[Any], Any]) -> Callable[[], Any]:
        return lambda: decorate(_fresh(form.function))(*form.arguments)

    chosen = {name: CHECKERS[name] for name in ("off", "stock", "ours")}
    calls = {name: decorated(decorate) for name, decorate in chosen.items()}
    calls |= {f"{name}, first call": called(decorate) for name, decorate in chosen.items()}
    return interleaved(f"decorations, {form.name}", calls, repeats, seed)


def _fresh(function: Any) -> Any:
    """A function that no checker has seen."""
    copied = types.FunctionType(function.__code__, function.__globals__, function.__name__)
    copied.__annotations__ = dict(function.__annotations__)
    copied.__qualname__ = function.__qualname__
    copied.__module__ = function.__module__
    return copied
