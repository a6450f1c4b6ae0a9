"""Every kind of broken contract with the whole of what it says; a change of wording has to be made here too."""

import re
import traceback
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from jaxtyping import Array, Float, Int32, PyTree
from modules_under_contract import Cache, Config, Inner, Outer, Row, hidden, np_row

from contracts import core
from contracts.core import contract
from contracts.errors import ShapeError

pytestmark = pytest.mark.needs_contracts

Ids = Int32[Array, "B T"]


@contract
def mask(x: Row, ids: Ids | None = None, *, scale: float = 1.0) -> Row:
    return x


@contract
def store(caches: list[Cache], named: dict[str, Row] | None = None) -> None: ...


@contract
def split(x: Row) -> tuple[Row, Row]:
    return x, x[:, 1:]


@contract
def glue(pair: Float[Array, "2*n"], x: Float[Array, "n"]) -> None: ...


@contract
def update(tree: PyTree[Float[Array, "..."]]) -> None: ...


GOLDEN: dict[str, tuple[Callable[[], object], str]] = {
    "a size that a config binds": (
        lambda: Inner(Config())(hidden(2, 5, 7)),
        """\
        Inner.__call__ broken by argument 'x'
          got       float32[2,5,7]
          expected  Hidden = Float["B T D"]
          because   D is 6 (config.d_model), but axis 2 here is 7
          dims      D=6 (config.d_model)
          at        Inner  (modules_under_contract.py:N)
          spec      modules_under_contract.py:N""",
    ),
    "a result, deep in a model": (
        lambda: Outer(Config(), cut=1)(hidden(2, 5, 6)),
        """\
        Inner.__call__ broken by the return value
          got       float32[2,4,6]
          expected  Hidden = Float["B T D"]
          because   T is 5 (x axis 1), but axis 1 here is 4
          dims      D=6 (config.d_model)  B=2 (x axis 0)  T=5 (x axis 1)
          at        Outer > .blocks[1]  (modules_under_contract.py:N)
          spec      modules_under_contract.py:N""",
    ),
    "a size that another argument bound": (
        lambda: mask(np_row(2, 3), jnp.zeros((2, 4), jnp.int32)),
        """\
        mask broken by argument 'ids'
          got       int32[2,4]
          expected  Ids = Int32["B T"]
          because   T is 3 (x axis 1), but axis 1 here is 4
          dims      B=2 (x axis 0)  T=3 (x axis 1)
          at        test_golden_messages.py:N
          spec      test_golden_messages.py:N""",
    ),
    "another dtype": (
        lambda: mask(jnp.zeros((2, 3), jnp.int32)),
        """\
        mask broken by argument 'x'
          got       int32[2,3]
          expected  Row = Float["B T"]
          because   its dtype is int32, not Float
          dims      none bound yet
          at        test_golden_messages.py:N
          spec      modules_under_contract.py:N""",
    ),
    "another rank": (
        lambda: mask(np_row(2)),
        """\
        mask broken by argument 'x'
          got       float32[2]
          expected  Row = Float["B T"]
          because   it has 1 axis, not the 2 that the contract names
          dims      none bound yet
          at        test_golden_messages.py:N
          spec      modules_under_contract.py:N""",
    ),
    "a NumPy array": (
        lambda: mask(np.zeros((2, 3), np.float32)),
        """\
        mask broken by argument 'x'
          got       float32[2,3]
          expected  Row = Float["B T"]
          because   it is a NumPy array, not an Array: pass it through jnp.asarray
          dims      none bound yet
          at        test_golden_messages.py:N
          spec      modules_under_contract.py:N""",
    ),
    "a parameter": (
        lambda: mask(nnx.Param(np_row(2, 3))),
        """\
        mask broken by argument 'x'
          got       float32[2,3]
          expected  Row = Float["B T"]
          because   it is a Param, not an Array: pass its array, param[...]
          dims      none bound yet
          at        test_golden_messages.py:N
          spec      modules_under_contract.py:N""",
    ),
    "no array at all": (
        lambda: mask(np_row(2, 3), scale="large"),  # type: ignore[arg-type]
        """\
        mask broken by argument 'scale'
          got       str 'large'
          expected  float
          because   it is a str
          dims      B=2 (x axis 0)  T=3 (x axis 1)
          at        test_golden_messages.py:N""",
    ),
    "a leaf late in a list": (
        lambda: store([Cache(np_row(2, 3), np_row(2, 3))] * 11 + [Cache(np_row(2, 3), np_row(2, 4))]),
        """\
        store broken by argument 'caches'[11].values
          got       float32[2,4]
          expected  Row = Float["B T"]
          because   T is 3 (caches[0].keys axis 1), but axis 1 here is 4
          dims      B=2 (caches[0].keys axis 0)  T=3 (caches[0].keys axis 1)
          at        test_golden_messages.py:N
          spec      modules_under_contract.py:N""",
    ),
    "a value of a dict": (
        lambda: store([], {"early": np_row(2, 3), "late": np_row(2, 4)}),
        """\
        store broken by argument 'named'['late']
          got       float32[2,4]
          expected  Row = Float["B T"]
          because   T is 3 (named['early'] axis 1), but axis 1 here is 4
          dims      B=2 (named['early'] axis 0)  T=3 (named['early'] axis 1)
          at        test_golden_messages.py:N
          spec      modules_under_contract.py:N""",
    ),
    "an item of a result": (
        lambda: split(np_row(2, 3)),
        """\
        split broken by the return value[1]
          got       float32[2,2]
          expected  Row = Float["B T"]
          because   T is 3 (x axis 1), but axis 1 here is 2
          dims      B=2 (x axis 0)  T=3 (x axis 1)
          at        test_golden_messages.py:N
          spec      modules_under_contract.py:N""",
    ),
    "an expression": (
        lambda: glue(np_row(7), np_row(3)),
        """\
        glue broken by argument 'pair'
          got       float32[7]
          expected  Float["2*n"]
          because   the dimension size 7 does not equal the existing value of 2*n=6
          dims      n=3 (x axis 0)
          at        test_golden_messages.py:N""",
    ),
    "a leaf of a tree": (
        lambda: update({"a": [jnp.zeros(2, int)]}),
        """\
        update broken by argument 'tree'['a'][0]
          got       int32[2]
          expected  Float["..."]
          because   its dtype is int32, not Float
          dims      none bound yet
          at        test_golden_messages.py:N""",
    ),
}


def golden(name: str) -> str:
    return re.sub(r"^ {8}", "", GOLDEN[name][1], flags=re.MULTILINE)


@pytest.mark.parametrize("name", GOLDEN)
def test_a_broken_contract_says(name: str):
    with pytest.raises(ShapeError) as caught:
        GOLDEN[name][0]()
    assert re.sub(r"(\.py):\d+", r"\1:N", str(caught.value)) == golden(name)
    assert len(golden(name).splitlines()) <= 7


def test_under_jit_all_that_is_ours_is_at_most_twelve_lines():
    """The error, and the engine's frames among those that JAX leaves in a traceback."""
    with pytest.raises(ShapeError) as caught:
        jax.jit(lambda x: Outer(Config(), cut=1)(x))(hidden(2, 5, 6))
    engine = Path(core.__file__).parent
    frames = [frame for frame in traceback.extract_tb(caught.tb) if Path(frame.filename).parent == engine]
    lines = "".join([*traceback.format_list(frames), str(caught.value)]).splitlines()
    assert len(lines) <= 12, lines
