"""The engine: what it catches, what it lets pass, and what its one error says."""

import subprocess
import sys
import textwrap
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import Array, Float, Int32, PRNGKeyArray, PyTree

from contracts.core import conforms, contract, through
from contracts.dims import Dim
from contracts.errors import ContractError, ShapeError
from contracts.tokenizer import Tokenizer
from research.tokenizers import BPETokenizer, ByteTokenizer

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


def test_the_error_says_what_came_what_was_expected_and_where_the_size_came_from():
    with pytest.raises(ShapeError) as caught:
        Inner(Config())(hidden(2, 5, 7))
    lines = str(caught.value).splitlines()
    assert lines[:5] == [
        "Inner.__call__ broken by argument 'x'",
        "  got       float32[2,5,7]",
        '  expected  Hidden = Float["B T D"]',
        "  because   D is 6 (config.d_model), but axis 2 here is 7",
        "  dims      D=6 (config.d_model)",
    ]
    assert lines[5].startswith("  at        Inner  (test_core.py:")
    assert lines[6].startswith("  spec      test_core.py:")
    assert len(lines) == 7


def test_the_error_carries_its_parts_for_programs():
    with pytest.raises(ShapeError) as caught:
        Outer(Config(), cut=1)(hidden(2, 5, 6))
    error = caught.value
    assert (error.contract, error.argument, error.path) == ("Inner.__call__", "the return value", "Outer > .blocks[1]")
    assert error.dims == {"D": 6, "B": 2, "T": 5}


def test_the_same_error_comes_from_under_jit_with_no_exception_chain():
    with pytest.raises(ShapeError, match="T is 5") as caught:
        nnx.jit(lambda model, x: model(x))(Outer(Config(), cut=1), hidden(2, 5, 6))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_wrong_dtype_is_named():
    with pytest.raises(ShapeError, match="because   its dtype is int32, not Float"):
        Inner(Config())(jnp.zeros((2, 5, 6), jnp.int32))


def test_a_parameter_is_refused_with_the_remedy():
    with pytest.raises(ShapeError, match=r"it is a Param, not a Array: pass its array, param\[...\]"):
        Inner(Config())(nnx.Param(hidden(2, 5, 6)))


@given(length=st.integers(1, 12), bad=st.integers(0, 11), field=st.sampled_from(["keys", "values"]))
def test_every_leaf_of_a_list_of_tuples_is_checked(length, bad, field):
    @contract
    def total(caches: list[Cache]) -> None: ...

    caches = [Cache(np_row(2, 3), np_row(2, 3)) for _ in range(length)]
    total(caches)
    if bad < length and length > 1:
        caches[bad] = caches[bad]._replace(**{field: np_row(2, 4)})
        with pytest.raises(ShapeError, match="T is"):
            total(caches)


def np_row(*shape):
    return jnp.asarray(np.zeros(shape, np.float32))


def test_every_value_of_a_dict_is_checked_and_named():
    @contract
    def f(caches: dict[str, Row]) -> None: ...

    with pytest.raises(ShapeError, match=r"argument 'caches'\['late'\]") as caught:
        f({"early": np_row(2, 3), "late": np_row(2, 4)})
    assert "T is 3 (caches['early'] axis 1), but axis 1 here is 4" in str(caught.value)


def test_variadic_and_keyword_and_default_arguments_are_checked():
    @contract
    def f(*rows: Row, scale: Float[Array, ""] | None = None, **named: Row) -> None: ...

    f(np_row(2, 3), np_row(2, 3), other=np_row(2, 3))
    with pytest.raises(ShapeError, match=r"argument 'rows\[1\]'"):
        f(np_row(2, 3), np_row(2, 4))
    with pytest.raises(ShapeError, match=r"argument 'named\['other'\]'"):
        f(np_row(2, 3), other=np_row(2, 4))
    with pytest.raises(ShapeError, match="argument 'scale'"):
        f(scale=np_row(2, 3))


def test_an_optional_array_blames_the_array_and_not_the_union():
    @contract
    def f(x: Row, segments: Int32[Array, "B T"] | None) -> None: ...

    f(np_row(2, 3), None)
    with pytest.raises(ShapeError, match=r"T is 3 \(x axis 1\), but axis 1 here is 4"):
        f(np_row(2, 3), jnp.zeros((2, 4), jnp.int32))


def test_dims_come_from_any_argument_that_is_a_config():
    @contract
    def f(config: Config, x: Hidden) -> None: ...

    f(Config(d_model=3), hidden(1, 1, 3))
    with pytest.raises(ShapeError, match=r"D is 4 \(config.d_model\)"):
        f(Config(d_model=4), hidden(1, 1, 3))


def test_an_expression_is_checked_after_the_dims_that_it_names():
    @contract
    def f(pairs: Float[Array, "2*d"], x: Float[Array, "d"]) -> Float[Array, "d+1"]:
        return jnp.zeros(x.shape[0] + 1)

    f(np_row(6), np_row(3))
    with pytest.raises(ShapeError, match="argument 'pairs'"):
        f(np_row(5), np_row(3))


def test_annotations_given_as_text_are_checked_and_unknown_names_refused():
    @contract
    def f(x: "Row") -> "Row":
        return x

    @contract
    def g(x: "Nowhere"): ...

    with pytest.raises(ShapeError, match="it has 1 axis, not the 2"):
        f(np_row(2))
    with pytest.raises(ShapeError, match="name 'Nowhere' is not defined"):
        g(1)


def test_the_bad_leaf_of_a_tree_is_named_and_none_is_no_tree():
    @contract
    def f(tree: PyTree[Float[Array, "..."]]) -> None: ...

    f({"a": [np_row(2)]})
    with pytest.raises(ShapeError, match=r"argument 'tree'\['a'\]\[0\]"):
        f({"a": [jnp.zeros(2, int)]})
    with pytest.raises(ShapeError, match="a tree without leaves"):
        f(None)


@pytest.mark.parametrize("value", [np.zeros(3, np.float32), jax.ShapeDtypeStruct((3,), jnp.float32), None, 3.0, [1.0]])
def test_what_is_no_jax_array_is_refused(value):
    @contract
    def f(x: Float[Array, "a"]) -> None: ...

    with pytest.raises(ShapeError, match="it is a"):
        f(value)


def test_keys_old_and_new_and_parameters_are_accepted_where_asked_for():
    @contract
    def f(key: PRNGKeyArray, kernel: Float[nnx.Param, "a b"]) -> None: ...

    for key in (jax.random.key(0), jax.random.PRNGKey(0)):
        f(key, nnx.Param(np_row(2, 3)))
    with pytest.raises(ShapeError, match="argument 'kernel'"):
        f(key, nnx.Param(np_row(2)))


def test_pythons_own_error_comes_for_an_argument_that_does_not_exist():
    with pytest.raises(TypeError, match=r"__call__\(\) got an unexpected keyword argument 'y'"):
        Inner(Config())(x=hidden(1, 1, 6), y=1)


def test_a_protocol_that_python_can_not_check_is_left_to_the_type_checker():
    @contract
    def f(layer: Layer, x: Row) -> Row:
        return x

    f(object(), np_row(2, 3))
    with pytest.raises(ShapeError, match="argument 'x'"):
        f(object(), np_row(2))


def test_a_union_arm_may_be_missing_from_a_return():
    @contract
    def f(x: Row) -> tuple[Row, Row]:
        return x, x[:1]

    with pytest.raises(ShapeError, match=r"the return value\[1\]"):
        f(np_row(2, 3))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: jax.jit(lambda x: x), "below the transformation"),
        (lambda: staticmethod(lambda x: x), "put @contract below it"),
        (lambda: _generator, "generator"),
        (lambda: _coroutine, "async"),
        (lambda: _either, '"a" or "b": one array can be both'),
        (lambda: _formatted, "instead of an f-string"),
    ],
)
def test_what_can_not_be_checked_is_refused_at_decoration(make, reason):
    with pytest.raises(ShapeError, match=reason):
        contract(make())


def _generator(x: Row):
    yield x


def _either(x: Float[Array, "a"] | Float[Array, "b"]): ...


def _formatted(x: Float[Array, "{n}"], n: int): ...


async def _coroutine(x: Row) -> Row:
    return x


def test_transformations_see_no_difference():
    module = Outer(Config())
    graph, state = nnx.split(module)

    def loss(state, x):
        return nnx.merge(graph, state)(x).sum()

    x = hidden(4, 5, 6)
    jax.jit(jax.grad(loss, argnums=1))(state, x)
    jax.vmap(lambda row: module(row[None])[0])(x)
    jax.lax.scan(lambda carry, _: (module(carry), None), x, None, length=3)
    jax.checkpoint(module)(x)
    assert jax.eval_shape(module, jax.ShapeDtypeStruct((4, 5, 6), jnp.float32)).shape == (4, 5, 6)


class Stranger(nnx.Module):
    """Somebody's layer, with no annotation and no config."""

    def __call__(self, x):
        return jnp.concatenate([x, x], axis=-1)


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


def test_a_class_with_other_names_does_not_conform_and_both_lines_are_shown():
    class Wrong:
        def __call__(self, hidden: Hidden) -> Hidden: ...

    with pytest.raises(ShapeError) as caught:
        conforms(Wrong, Layer)
    assert "the parameters differ" in str(caught.value)
    assert "got       __call__(self, hidden:" in str(caught.value)
    assert "expected  __call__(self, x:" in str(caught.value)


def test_a_class_with_other_shapes_does_not_conform():
    class Wrong:
        def __call__(self, x: Row) -> Hidden: ...

    with pytest.raises(ShapeError, match=r"parameter 'x' is Float\[\"B T\"\], not Float\[\"B T D\"\]"):
        conforms(Wrong, Layer)


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


def test_a_class_without_the_method_does_not_conform():
    class Shape(Protocol):
        def shape(self) -> int: ...

    with pytest.raises(ContractError, match="lacks shape"):
        conforms(Stranger, Shape)


def run(code, **environment):
    program = textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", program], capture_output=True, text=True, env={**_clean(), **environment}
    )


def _clean():
    import os

    return {k: v for k, v in os.environ.items() if k not in ("CI", "CONTRACTS")} | {"PYTHONPATH": os.getcwd()}


def test_switched_off_the_function_is_the_one_that_was_written():
    code = """
        from contracts.core import contract
        def f(x): ...
        print(contract(f) is f)
    """
    assert run(code, CONTRACTS="off").stdout.strip() == "True"
    assert run(code).stdout.strip() == "False"


def test_switched_off_in_ci_warns():
    assert "ContractsOffWarning" in run("import contracts.core", CONTRACTS="off", CI="1").stderr
    assert "ContractsOffWarning" not in run("import contracts.core", CONTRACTS="off").stderr


def test_a_mistyped_switch_is_refused():
    result = run("import contracts.core", CONTRACTS="offf")
    assert "CONTRACTS: expected on or off, got 'offf'" in result.stderr


def test_the_engine_does_not_import_jax():
    assert run("import sys, contracts.core, contracts.tokenizer; print('jax' in sys.modules)").stdout.strip() == "False"


def test_the_lowered_program_is_the_same_on_and_off():
    code = """
        import hashlib, jax, jax.numpy as jnp
        from flax import nnx
        from contracts.decoder import DecoderConfig
        from research.model import Decoder
        config = DecoderConfig(vocab_size=17, d_model=6, n_layers=2, n_heads=2, n_kv_heads=1, head_dim=4, d_ff=10)
        graph, state = nnx.split(Decoder(config, rngs=nnx.Rngs(0)))
        step = jax.jit(jax.grad(lambda s, t: nnx.merge(graph, s)(t).sum()))
        text = step.lower(state, jnp.zeros((2, 5), jnp.int32)).as_text()
        print(hashlib.sha256(text.encode()).hexdigest())
    """
    on, off = run(code, CONTRACTS="on"), run(code, CONTRACTS="off")
    assert on.returncode == 0, on.stderr
    assert on.stdout == off.stdout
