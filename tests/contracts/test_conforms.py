"""Implementations and protocols: who may stand in for whom, and strangers checked through the protocol."""

from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from modules_under_contract import Config, Hidden, Inner, Layer, Row, hidden

from contracts.core import conforms, contract, through
from contracts.errors import ContractError, ShapeError
from contracts.tokenizer import Tokenizer
from research.tokenizers import BPETokenizer, ByteTokenizer


class Stranger(nnx.Module):
    """Somebody's layer, with no annotation and no config."""

    def __call__(self, x):
        return jnp.concatenate([x, x], axis=-1)


@pytest.mark.needs_contracts
def test_a_strangers_module_is_checked_through_the_protocol():
    class Host(nnx.Module):
        def __init__(self):
            self.config = Config()
            self.layer = conforms(Stranger, Layer)()

        @contract
        def __call__(self, x: Hidden) -> Hidden:
            return through(Layer, self.layer)(x)

    with pytest.raises(ShapeError) as caught:
        Host()(hidden(2, 5, 6))
    assert str(caught.value).startswith("Layer broken by the return value")
    assert "D is 6" in str(caught.value)
    assert caught.value.path == "Host > .layer"


@pytest.mark.needs_contracts
def test_a_class_with_other_names_does_not_conform_and_both_lines_are_shown():
    class Wrong:
        def __call__(self, hidden: Hidden) -> Hidden: ...

    with pytest.raises(ShapeError) as caught:
        conforms(Wrong, Layer)
    assert "the parameters differ" in str(caught.value)
    assert "got       __call__(self, hidden:" in str(caught.value)
    assert "expected  __call__(self, x:" in str(caught.value)


@pytest.mark.needs_contracts
def test_a_class_with_other_shapes_does_not_conform():
    class Wrong:
        def __call__(self, x: Row) -> Hidden: ...

    with pytest.raises(ShapeError, match=r"parameter 'x' is Float\[\"B T\"\], not Float\[\"B T D\"\]"):
        conforms(Wrong, Layer)


@pytest.mark.needs_contracts
def test_a_class_that_takes_more_and_returns_less_conforms():
    class Wide(Protocol):
        def __call__(self, x: Hidden) -> Hidden | None: ...

    class Able:
        def __call__(self, x: Hidden | Row, scale: float = 1.0) -> Hidden: ...

    conforms(Able, Wide)

    class Demanding:
        def __call__(self, x: Hidden, scale: float) -> Hidden: ...

    with pytest.raises(ShapeError, match="parameter 'scale' has no default"):
        conforms(Demanding, Wide)


def test_our_tokenizers_conform_to_the_protocol():
    conforms(ByteTokenizer, Tokenizer)
    conforms(BPETokenizer, Tokenizer)


@pytest.mark.needs_contracts
def test_a_class_without_the_method_does_not_conform():
    class Shape(Protocol):
        def shape(self) -> int: ...

    with pytest.raises(ContractError, match="lacks shape"):
        conforms(Stranger, Shape)


def test_self_may_have_any_name():
    class Named:
        def __call__(this, x: Hidden) -> Hidden: ...

    conforms(Named, Layer)


@pytest.mark.needs_contracts
def test_a_module_that_a_scan_rebuilt_is_still_found_in_its_host():
    class Scanned(nnx.Module):
        def __init__(self):
            self.config = Config()
            self.layer = Inner(Config(), cut=1)

        @contract
        def __call__(self, x: Hidden) -> Hidden:
            def step(x, _):
                return nnx.merge(*nnx.split(self.layer))(x), None

            return jax.lax.scan(step, x, None, length=2)[0]

    with pytest.raises(ShapeError) as caught:
        Scanned()(hidden(2, 5, 6))
    assert caught.value.path == "Scanned > .layer"


@pytest.mark.needs_contracts
def test_a_plain_array_annotation_is_left_to_the_check_at_the_call():
    class Plain:
        def __call__(self, x: jax.Array) -> jax.Array:
            return x[:, 1:]

    class Numbers:
        def __call__(self, x: np.ndarray) -> np.ndarray: ...

    with pytest.raises(ShapeError, match="T is 5"):
        through(Layer, conforms(Plain, Layer)())(hidden(2, 5, 6))
    with pytest.raises(ShapeError, match="does not conform"):
        conforms(Numbers, Layer)
