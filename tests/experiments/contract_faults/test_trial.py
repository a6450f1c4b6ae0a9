"""What becomes of single faults under JAX alone, the stock tools and ours, and of what a person hands over."""

import ast
from collections.abc import Callable

import jax
import numpy as np
import pytest

from experiments.contract_faults.evaluate import differ, evaluate
from experiments.contract_faults.handmade import cases
from experiments.contract_faults.mutants import Mutant
from experiments.contract_faults.programs import ALL_SIZES, DISTINCT, EQUAL
from experiments.contract_faults.regimes import copies_by_regime, source_of
from experiments.contract_faults.survivors import broken_law
from experiments.contract_faults.trial import Bench, Verdict, case_verdict

MakeBench = Callable[[str], Bench]
ATTENTION, DECODER = "research.model.attention", "research.model.decoder"


def mutant(program: str, module: str, qualname: str, before: str, after: str) -> Mutant:
    """The function with `before` in its source replaced by `after`."""
    *owners, name = qualname.split(".")
    body = source_of(module)[1].body
    for owner in owners:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner)
    definition = next(node for node in body if isinstance(node, ast.FunctionDef) and node.name == name)
    source = ast.unparse(definition)
    assert source.count(before) == 1, f"{before} in {source}"
    (changed,) = ast.parse(source.replace(before, after)).body
    assert isinstance(changed, ast.FunctionDef)
    return Mutant(program, module, qualname, definition.lineno, 1, "", after, True, changed)


def verdicts(bench: Bench, planted: Mutant) -> tuple[Verdict, Verdict]:
    equal, distinct = (bench.verdict(planted, sizes) for sizes in ALL_SIZES)
    return equal, distinct


@pytest.mark.parametrize(
    "name", ["decoder", *(pytest.param(name, marks=pytest.mark.slow) for name in ("training step", "cache"))]
)
def test_the_numbers_are_those_of_jax(bench: MakeBench, name: str):
    program = bench(name).program
    baseline = bench(name).baselines["distinct"]
    jitted = jax.jit(lambda data: program.run(copies_by_regime()[0]["jax"], baseline.models["jax"], DISTINCT, data))
    expected = jax.tree.leaves(jitted(program.input(DISTINCT)))
    assert len(expected) == len(baseline.numbers)
    for one, other in zip(expected, baseline.numbers, strict=True):
        assert not differ(np.asarray(one), other)


def test_two_arrays_differ_by_more_than_rounding_or_not_at_all():
    x = np.float32([1.0, 2.0])
    assert not differ(x, x * np.float32(1 + 1e-6))
    assert differ(x, x * np.float32(1.01))
    assert differ(x, x.astype(np.float64))
    assert differ(x, np.float32([1.0, np.nan]))
    assert not differ(np.float32([np.nan]), np.float32([np.nan]))
    assert differ(np.int32([1]), np.int32([2]))


def test_numpy_agrees_with_jax_on_half_precision_products():
    x = jax.random.normal(jax.random.key(0), (5, 7)).astype(jax.numpy.bfloat16)
    program = jax.make_jaxpr(lambda x: x @ x.T)(x)
    (got,) = evaluate(program, x)
    assert not differ(np.asarray(x @ x.T), got, tolerance=1e-2)


@pytest.mark.needs_contracts
def test_two_swapped_axes_pass_jax_at_equal_sizes_and_are_refused_at_distinct_ones(bench: MakeBench):
    planted = mutant(
        "decoder",
        DECODER,
        "Decoder.hidden",
        "return self.norm(self._run_blocks(self.embed(tokens), positions, segments))",
        "return self.norm(self._run_blocks(self.embed(tokens), positions, segments)).swapaxes(0, 1)",
    )
    equal, distinct = verdicts(bench("decoder"), planted)
    assert (equal.effect, equal.stock, equal.ours) == ("wrong", "", "")
    assert (distinct.effect, distinct.ours) == ("wrong", "contract")
    assert bench("decoder").outcome(planted).ahead == "contract"


@pytest.mark.needs_contracts
def test_a_width_that_no_other_array_knows_is_refused_by_ours_alone(bench: MakeBench):
    planted = mutant(
        "decoder",
        DECODER,
        "Decoder.logits",
        "preferred_element_type=jnp.float32)",
        "preferred_element_type=jnp.float32)[..., :-1]",
    )
    for verdict in verdicts(bench("decoder"), planted):
        assert (verdict.effect, verdict.stock, verdict.ours) == ("wrong", "", "contract")


def test_a_mutant_that_changes_nothing_is_refused_by_nobody(bench: MakeBench):
    planted = mutant(
        "decoder",
        ATTENTION,
        "Attention.__call__",
        "mixed.reshape(*x.shape[:2], -1)",
        "mixed.reshape(x.shape[0], x.shape[1], -1)",
    )
    outcome = bench("decoder").outcome(planted)
    for verdict in (outcome.equal, outcome.distinct):
        assert verdict == Verdict("same", "", "", "")
    assert outcome.ahead == ""


@pytest.mark.needs_contracts
def test_what_changes_at_other_sizes_alone_is_no_false_alarm(bench: MakeBench):
    """A row of 8 is one block of 64 either way; a row of any length is not."""
    planted = mutant("decoder", ATTENTION, "causal_attention", "block < queries.shape[1]", "block <= queries.shape[1]")
    outcome = bench("decoder").outcome(planted)
    assert (outcome.equal.effect, outcome.distinct.effect, outcome.ahead) == ("same", "same", "contract")
    assert outcome.changes_for_any


def test_a_contract_that_refuses_what_changes_nothing_anywhere_would_be_a_false_alarm(
    bench: MakeBench, monkeypatch: pytest.MonkeyPatch
):
    planted = mutant(
        "decoder",
        ATTENTION,
        "Attention.__call__",
        "mixed.reshape(*x.shape[:2], -1)",
        "mixed.reshape(x.shape[0], x.shape[1], -1)",
    )
    monkeypatch.setattr(
        Bench,
        "_caught",
        lambda self, regime, mutant, sizes, data: (
            "contract" if data is not None and not isinstance(data, np.ndarray) else ""
        ),
    )
    assert not bench("decoder").outcome(planted).changes_for_any


@pytest.mark.needs_contracts
def test_another_dtype_between_functions_is_odd_even_where_no_number_changes(bench: MakeBench):
    planted = mutant(
        "decoder",
        ATTENTION,
        "Attention.heads",
        "rotate(keys, positions, theta)",
        "rotate(keys, positions.astype('float32'), theta)",
    )
    equal, _ = verdicts(bench("decoder"), planted)
    assert (equal.effect, equal.ours) == ("odd", "contract")


def test_a_layer_of_another_width_is_found_by_the_table_of_parameters(bench: MakeBench):
    planted = mutant(
        "decoder",
        "research.model.feed_forward",
        "SwiGLU.__init__",
        "self.up = linear(config, config.d_model, config.d_ff,",
        "self.up = linear(config, config.d_model, 1,",
    )
    equal, _ = verdicts(bench("decoder"), planted)
    assert (equal.effect, equal.ours, equal.with_boundary) == ("wrong", "", "boundary")


def test_the_future_is_seen_by_no_shape_but_by_the_law_of_causality(bench: MakeBench):
    planted = mutant("decoder", ATTENTION, "causal_attention", "is_causal=True", "is_causal=False")
    outcome = bench("decoder").outcome(planted)
    assert outcome.equal.is_silent
    assert outcome.distinct.is_silent
    assert not outcome.ahead
    assert broken_law(bench("decoder"), planted, EQUAL) == "causality"


@pytest.mark.slow
def test_a_cache_read_wrongly_breaks_the_law_of_the_cache(bench: MakeBench):
    module = "experiments.contract_faults.subjects.cached_decoding"
    planted = mutant("cache", module, "attend", "[None, :] <= start", "[None, :] < start")
    assert bench("cache").outcome(planted).equal.is_silent
    assert broken_law(bench("cache"), planted, EQUAL) == "cache"


@pytest.mark.slow
def test_a_right_decoder_and_a_right_cache_break_no_law(bench: MakeBench):
    for name, module, qualname, end in (
        ("decoder", ATTENTION, "causal_attention", "return jax.nn."),
        ("cache", "experiments.contract_faults.subjects.cached_decoding", "attend", "return jnp."),
    ):
        unchanged = mutant(name, module, qualname, end, end.replace("return", "return 1 *"))
        assert broken_law(bench(name), unchanged, EQUAL) == ""


@pytest.mark.slow
@pytest.mark.needs_contracts
@pytest.mark.parametrize(
    ("fault", "what", "expected"),
    [
        ("batch", "without segment ids", ("wrong", "", "contract", "contract")),
        ("batch", "tokens T x B", ("wrong", "", "", "")),
        ("ids out of range", "-1 as padding", ("wrong", "", "", "boundary")),
        ("ids out of range", "as float32", ("error", "contract", "contract", "contract")),
        ("ids of another tokenizer", "equal size", ("wrong", "", "", "boundary")),
        ("ids of another tokenizer", "256 as `bos`", ("wrong", "", "", "boundary")),
        ("cache", "one slot short", ("wrong", "", "contract", "contract")),
        ("cache", "all caches of 8", ("wrong", "", "", "")),
        ("checkpoint of another model", "wider feed-forward", ("wrong", "", "", "boundary")),
        ("checkpoint of another model", "8 heads of width 2", ("wrong", "", "", "")),
        ("bad leaf in a container", "named tuple: one slot", ("wrong", "", "contract", "contract")),
        ("bad leaf in a container", "dict: two axes", ("wrong", "", "contract", "contract")),
    ],
)
def test_what_is_handed_over_is_caught_by(again: Callable[[], None], fault: str, what: str, expected: tuple[str, ...]):
    again()
    chosen = next(found for found in cases() if found.fault == fault and what in found.what)
    assert case_verdict(chosen)[:4] == expected


def test_a_case_that_nothing_sees_says_why(again: Callable[[], None]):
    assert all(bool(found.unseen) == (found.what in _UNSEEN) for found in cases())


_UNSEEN = {
    "8 heads of width 2 where the config says 4 of width 4",
    "tokens T x B with B = T",
    "the whole batch T x B with B = T",
    "segments T x B with B = T",
    "all caches of 8 slots for a row of 9",
}
