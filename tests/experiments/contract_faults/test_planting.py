"""Faults: which rewrites there are, what is damaged on its way, and how a mutant takes the place of the original."""

import ast
import typing

import jax
import jax.numpy as jnp
import pytest
from jaxtyping import Array, Float, Int32

from experiments.contract_faults.damage import DAMAGES, OF_LEAVES, damaged, leaves
from experiments.contract_faults.mutants import Mutant, _told_apart, lines_run_by, mutants
from experiments.contract_faults.programs import PROGRAMS
from experiments.contract_faults.regimes import Copies, Regime, copies_by_regime, source_of
from experiments.contract_faults.rewrites import rewrites

ROTARY, ATTENTION = "research.model.rotary", "research.model.attention"


def rewritten(source: str) -> set[str]:
    """Every single rewrite of an expression or statement, as text."""
    return {ast.unparse(changed) for node in ast.walk(ast.parse(source)) for _, changed in rewrites(node)}


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("f(a, b)", {"f(b, a)", "f(a)"}),
        ("x.reshape(a, b, c)", {"x.reshape(b, a, c)", "x.reshape(a, c, b)"}),
        ("rows, length = x", {"(length, rows)"}),
        ("x.shape[1]", {"x.shape[0]", "x.shape[2]"}),
        ("x[:, None]", {"x[:]", "x[None, :]"}),
        ("x[..., :half]", {"x[..., :half + 1]", "x[..., :half - 1]"}),
        ("x[:, 1:]", {"x[:, 1 + 1:]", "x[:, 1 - 1:]"}),
        ("jnp.einsum('bt->tb', x)", {"'tb->tb'", "'bt->bt'"}),
        ("jnp.max(x, axis=-1, keepdims=True)", {"axis=0", "keepdims=False", "jnp.min(x, axis=-1, keepdims=True)"}),
        ("x.astype(jnp.float32)", {"x", "jnp.bfloat16", "jnp.int32"}),
        ("a <= b", {"a < b", "b <= a"}),
        ("self.config.n_heads", {"self.config.n_layers", "self.config.n_kv_heads"}),
        ("kernel.T", {"kernel"}),
        ("weight - gradient", {"weight + gradient"}),
        ("return (a, b)", {"return", "return b", "return a"}),
    ],
)
def test_an_expression_is_rewritten_into_what_could_stand_there_by_mistake(source: str, changed: set[str]):
    assert rewritten(source) >= changed


def test_a_leaf_deep_in_a_container_is_damaged_and_its_neighbours_are_not():
    class Layer(typing.NamedTuple):
        keys: jax.Array
        values: jax.Array

    layers = {"first": [Layer(jnp.zeros((2, 3)), jnp.ones((2, 3)))] * 2}
    after = damaged(layers, (0, -1, "values"), "axes 0 and 1 swapped")
    assert after["first"][1].values.shape == (3, 2)
    assert after["first"][1].keys.shape == after["first"][0].values.shape == (2, 3)
    assert layers["first"][1].values.shape == (2, 3)


def test_none_is_left_as_it_is():
    assert damaged(None, (), "an axis added in front") is None


def test_every_array_that_a_hint_names_is_found_of_a_list_the_first_and_the_last():
    class Layer(typing.NamedTuple):
        keys: Float[Array, "B S"]

    hint = tuple[Float[Array, "B"], list[Layer], Int32[Array, "B T"] | None]
    found = {leaf.spelled(): leaf for leaf in leaves(hint)}
    assert set(found) == {"[0]", "[1][0].keys", "[1][-1].keys", "[2]"}
    assert {damage.what for damage in found["[1][-1].keys"].damages(of_argument=False)} <= set(OF_LEAVES)


def test_integers_and_vectors_are_spared_what_cannot_be_done_to_them():
    (leaf,) = leaves(Int32[Array, "B"])
    whats = {damage.what for damage in leaf.damages(of_argument=False)}
    assert "as float32" in whats
    assert not whats & {"as bfloat16", "axes 0 and 1 swapped"}


def test_every_damage_changes_an_array_that_it_fits():
    x = jnp.arange(2 * 8 * 4 * 3.0).reshape(2, 8, 4, 3)
    for damage in DAMAGES.values():
        before = x.astype(jnp.int32) if damage.kinds == "i" else x
        after = damage.change(before)
        same = after is not None and after.shape == before.shape and after.dtype == before.dtype
        assert not same or not jnp.array_equal(after, before) or "blocks" in damage.what


def definition_of(module: str, name: str) -> ast.FunctionDef:
    """A top-level function of a module, parsed."""
    (found,) = (n for n in source_of(module)[1].body if isinstance(n, ast.FunctionDef) and n.name == name)
    return found


def test_a_planted_function_is_the_one_that_importers_call_until_it_is_taken_out_again():
    copies = copies_by_regime()[0]["jax"]
    original = copies[ROTARY].rotate
    assert copies[ATTENTION].rotate is original
    with copies.planted(ROTARY, "rotate", definition_of(ROTARY, "rotate")):
        assert copies[ROTARY].rotate is copies[ATTENTION].rotate is not original
    assert copies[ROTARY].rotate is copies[ATTENTION].rotate is original


def test_the_project_itself_is_never_touched():
    import research.model.rotary as ours

    before = ours.rotate
    with copies_by_regime()[0]["ours"].planted(ROTARY, "rotate", definition_of(ROTARY, "rotate")):
        assert ours.rotate is before


@pytest.mark.needs_contracts
def test_the_regimes_differ_in_nothing_but_the_checker():
    plain = Copies(Regime("off"))[ROTARY].rotate
    copies = copies_by_regime()[0]
    assert not hasattr(plain, "__wrapped__")
    assert hasattr(copies["ours"][ROTARY].rotate, "__contract__")
    assert hasattr(copies["stock"][ROTARY].rotate, "__wrapped__")
    assert not hasattr(copies["stock"][ROTARY].rotate, "__contract__")


def test_stock_decorates_every_function_as_its_import_hook_does():
    layers = copies_by_regime()[0]["stock"]["research.model.layers"]
    with pytest.raises(TypeError, match="d_in"):
        layers.linear(None, "wide", 3, rngs=None)


def rotary_mutants(ran: frozenset[int]) -> list[Mutant]:
    return mutants("decoder", (ROTARY,), {source_of(ROTARY)[0]: ran})


def test_faults_are_planted_on_lines_that_run_each_once():
    all_lines = frozenset(range(1, 100))
    found = rotary_mutants(all_lines)
    assert len({(mutant.qualname, ast.dump(mutant.definition)) for mutant in found if mutant.definition}) == len(found)
    assert len(found) > 30
    original = ast.dump(definition_of(ROTARY, "rotate"))
    assert all(mutant.definition and ast.dump(mutant.definition) != original for mutant in found)
    assert not rotary_mutants(frozenset())


@pytest.mark.slow
def test_no_two_faults_of_a_program_have_the_same_name():
    for program in PROGRAMS:
        ran = {source_of(module)[0]: frozenset(range(1, 1000)) for module in program.modules}
        names = [mutant.name for mutant in mutants(program.name, program.modules, ran)]
        assert len(set(names)) == len(names) > 100


def test_two_calls_on_one_line_are_told_apart_by_column():
    found = [m for m in rotary_mutants(frozenset(range(1, 100))) if m.what == "jnp.float32 -> jnp.int32"]
    assert len({mutant.line for mutant in found}) < len({mutant.place for mutant in found})


def test_changes_that_read_alike_are_numbered():
    (first, *_) = rotary_mutants(frozenset(range(1, 100)))
    told = [mutant.what for mutant in _told_apart([first, first, first])]
    assert told == [first.what, f"{first.what} (2)", f"{first.what} (3)"]


def test_a_function_without_arrays_is_known():
    without = Mutant("decoder", "research.model.layers", "residual_stddev", 1, 1, "", "", True, None)
    assert without.crosses_no_array
    assert not without._replace(module=ROTARY, qualname="rotate").crosses_no_array


def test_what_only_a_checker_calls_is_no_place_for_a_fault():
    module = "research.model.decoder"
    found = mutants("decoder", (module,), {source_of(module)[0]: frozenset(range(1, 200))})
    assert not [mutant.what for mutant in found if "conforms(" in mutant.what]


def test_a_line_that_ran_is_known_by_its_number():
    copies = copies_by_regime()[0]["jax"]
    file = source_of(ROTARY)[0]
    ran = lines_run_by(lambda: copies[ROTARY].rotate(jnp.zeros((1, 2, 1, 4)), jnp.zeros((1, 2), jnp.int32), 10.0))
    lines = source_of(ROTARY)[1].body[-1]
    assert lines.end_lineno in ran[file]
    assert lines.lineno not in ran[file]
