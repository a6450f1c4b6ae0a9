"""Each law of decoders finds the one fault that it is about, and none in a decoder that is right."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from contracts.errors import InputError
from contracts.laws import DecoderView, Effort, assert_laws, from_apply, verify
from contracts.laws.decoder import LAWS

pytestmark = pytest.mark.slow

QUICK = Effort(examples=15, seconds=60.0)
V, D, MOST = 29, 12, 32

Array = jax.Array
Params = dict[str, Array]


def params() -> Params:
    keys = jax.random.split(jax.random.key(0), 3)
    shapes = {"embed": (V, D), "places": (MOST, D), "head": (D, V)}
    return {name: jax.random.normal(key, shape) for key, (name, shape) in zip(keys, shapes.items(), strict=True)}


def states(params: Params, tokens: Array, segments: Array | None, peek: int = 0, isolate: bool = True) -> Array:
    """One layer of attention over the positions up to a position's own and `peek` further ones."""
    length = tokens.shape[1]
    x = params["embed"][tokens] + params["places"][None, :length]
    visible = jnp.tril(jnp.ones((length, length), bool), k=peek)[None]
    if segments is not None and isolate:
        visible &= segments[:, :, None] == segments[:, None, :]
    scores = jnp.where(visible, jnp.einsum("btd,bsd->bts", x, x), -jnp.inf)
    return x + jnp.einsum("bts,bsd->btd", jax.nn.softmax(scores), x)


def right(params: Params, tokens: Array, segments: Array | None = None) -> Array:
    return states(params, tokens, segments) @ params["head"]


def peeks(params: Params, tokens: Array, segments: Array | None = None) -> Array:
    return states(params, tokens, segments, peek=1) @ params["head"]


def mixes_documents(params: Params, tokens: Array, segments: Array | None = None) -> Array:
    return states(params, tokens, segments, isolate=False) @ params["head"]


def in_blocks_of_4(params: Params, tokens: Array) -> Array:
    logits = right(params, tokens)
    rows, length, _ = logits.shape
    return logits.reshape(rows, length // 4, 4, V).reshape(rows, length, V)


def without_the_last(params: Params, tokens: Array) -> Array:
    return right(params, tokens)[:, :-1]


def axes_swapped(params: Params, tokens: Array) -> Array:
    return right(params, tokens).swapaxes(0, 1)


def at_most_19(params: Params, tokens: Array) -> Array:
    return right(params, tokens)[:, :19]


def in_bfloat16(params: Params, tokens: Array) -> Array:
    return right(params, tokens).astype(jnp.bfloat16)


def infinite_for_28(params: Params, tokens: Array) -> Array:
    return right(params, tokens) + jnp.where(tokens == 28, jnp.inf, 0.0)[:, :, None]


def one_too_late(params: Params, tokens: Array) -> Array:
    return jnp.pad(right(params, tokens), [(0, 0), (1, 0), (0, 0)])[:, :-1]


def by_length(params: Params, tokens: Array) -> Array:
    return right(params, tokens) / tokens.shape[1]


def against_the_batch(params: Params, tokens: Array) -> Array:
    logits = right(params, tokens)
    return logits + logits.mean(axis=0, keepdims=True)


def slightly_against_the_batch(params: Params, tokens: Array) -> Array:
    logits = right(params, tokens)
    return logits + 1e-6 * logits.mean(axis=0, keepdims=True)


def learns_across_rows(params: Params, tokens: Array) -> Array:
    return _learning_from(params, tokens, None)


def learns_across_documents(params: Params, tokens: Array, segments: Array | None = None) -> Array:
    # without segments the whole row is one document, which may learn from all of itself
    return right(params, tokens) if segments is None else _learning_from(params, tokens, segments)


def _learning_from(params: Params, tokens: Array, segments: Array | None) -> Array:
    """Right logits, whose backward pass takes all tokens of the batch into account."""

    @jax.custom_vjp
    def project(x: Array, head: Array, everything: Array) -> Array:
        return x @ head

    def forward(x: Array, head: Array, everything: Array) -> tuple[Array, Any]:
        return x @ head, (x, head, everything)

    def backward(kept: Any, cotangent: Array) -> tuple[Array, Array, Array]:
        x, head, everything = kept
        by_head = jnp.einsum("btd,btv->dv", x, cotangent) * (1 + 1e-3 * everything)
        return cotangent @ head.T, by_head, jnp.zeros_like(everything)

    project.defvjp(forward, backward)
    return project(states(params, tokens, segments), params["head"], tokens.mean(dtype=jnp.float32))


def noisy() -> Callable[[Params, Array], Array]:
    noise = np.random.default_rng(0)
    return lambda params, tokens: right(params, tokens) + noise.normal()


ZEROS = "[0, 0, 0, 0, 0, 0, 0]"
FAULTS: dict[str, list[tuple[Callable[..., Any], str]]] = {
    "shape": [
        (in_blocks_of_4, "tokens int32[1, 1] raise TypeError"),
        (without_the_last, "tokens int32[1, 1] give float32[1, 0, 29], not [1, 1, V]"),
        (axes_swapped, "tokens int32[2, 7] give float32[7, 2, 29], not [2, 7, V]"),
        (lambda params, tokens: (right(params, tokens), 0.0), "tokens int32[1, 1] give a tuple: wrap it"),
    ],
    "symbolic-shape": [(at_most_19, "tokens int32[B, T] give [B, ")],
    "deterministic": [(noisy(), "two calls with [0, 5, 9, 14, 19, 23, 28] differ by up to ")],
    "float32-logits": [(in_bfloat16, "the logits are bfloat16")],
    "finite-logits": [(infinite_for_28, "[0, 0, 0, 0, 0, 0, 28] has logits[6, 0] = inf")],
    "own-token": [(one_too_late, f"position 0 of {ZEROS} has the same logits whatever its token is")],
    "causality": [(peeks, f"token 1 of {ZEROS} set to 1 moves the logits of position 0 by ")],
    "padding": [(by_length, f"{ZEROS} followed by [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] differs at position 0 by ")],
    "batch": [(against_the_batch, "row 0 of [")],
    "segment-isolation": [
        (
            mixes_documents,
            f"with the documents cut at 1, token 0 of {ZEROS} set to 1 moves the logits of position 1 by ",
        )
    ],
    "segment-gradient": [
        (
            learns_across_documents,
            f"with the documents cut at 1, token 0 of {ZEROS} set to 1 moves the gradient of the second by ",
        )
    ],
    "row-isolation": [
        (slightly_against_the_batch, f"beside {ZEROS}, token 0 of {ZEROS} set to 1 moves its logits by "),
        (learns_across_rows, f"beside {ZEROS}, token 0 of {ZEROS} set to 1 moves its gradient by "),
    ],
}


def cached(apply: Callable[..., Array], window: int = MOST) -> dict[str, Any]:
    """A cache that remembers `window` tokens and computes them all again."""

    def step(params: Params, tokens: Array, cache: tuple[np.ndarray, int]) -> tuple[Array, tuple[np.ndarray, int]]:
        row, seen = cache
        known = seen + tokens.shape[1]
        row = row.copy()
        row[:, seen:known] = tokens
        row[:, : max(known - window, 0)] = 1
        return apply(params, jnp.asarray(row))[:, seen:known], (row, known)

    return {"init_cache": lambda rows, positions: (np.zeros((rows, positions), np.int32), 0), "step": step}


def broken_by(decoder: Any) -> dict[str, str]:
    return {outcome.law: outcome.detail for outcome in verify(decoder, effort=QUICK).broken}


EVERY_FAULT = pytest.mark.parametrize(
    ("law", "decoder", "counterexample"), [(law, *fault) for law, faults in FAULTS.items() for fault in faults]
)


@EVERY_FAULT
def test_a_law_finds_its_fault_and_tells_the_smallest_counterexample(law, decoder, counterexample):
    (outcome,) = verify(from_apply(decoder, params(), max_length=MOST), only=(law,), effort=QUICK).outcomes
    assert outcome.verdict == "broken"
    assert outcome.detail.startswith(counterexample)


@EVERY_FAULT
def test_a_fault_breaks_no_other_law(law, decoder, counterexample):
    assert list(broken_by(from_apply(decoder, params(), max_length=MOST))) == [law]


def test_a_cache_that_forgets_breaks_its_law_alone():
    broken = broken_by(from_apply(right, params(), max_length=MOST, **cached(right, window=6)))
    assert list(broken) == ["cache"]
    assert broken["cache"].startswith(f"{ZEROS}, the first 1 at once, differs at position 6 by ")


def test_every_law_has_a_fault_here():
    assert {law.name for law in LAWS} == {*FAULTS, "cache"}


def test_a_decoder_that_is_right_keeps_every_law():
    report = verify(from_apply(right, params(), max_length=MOST, **cached(right)), effort=QUICK)
    assert [outcome.verdict for outcome in report.outcomes] == ["kept"] * len(LAWS), str(report)
    details = {outcome.law: outcome.detail for outcome in report.outcomes}
    assert all("the gradient" in details[law] for law in ("causality", "segment-isolation"))
    assert "without segments the same moves them by up to" in details["segment-isolation"]


def test_the_gradient_finds_a_leak_that_rounding_hides_from_the_logits():
    def whispers(params: Params, tokens: Array) -> Array:
        ahead = jnp.roll(params["embed"][tokens], -1, axis=1)
        return (states(params, tokens, None) + 1e-12 * ahead) @ params["head"]

    broken = broken_by(from_apply(whispers, params(), max_length=MOST))
    assert list(broken) == ["causality"]
    assert broken["causality"].startswith("the gradient of the logits of position 0 reaches token 1: ")


def test_tied_embeddings_and_log_probabilities_are_no_leak():
    def tied(params: Params, tokens: Array) -> Array:
        return jax.nn.log_softmax(states(params, tokens, None) @ params["embed"].T)

    assert_laws(from_apply(tied, params(), max_length=MOST), effort=QUICK)


def test_a_table_of_other_things_as_long_as_the_vocabulary_is_no_leak():
    def with_odd_tables(params: Params, tokens: Array) -> Array:
        x = states(params, tokens, None) + params["positions"][None, : tokens.shape[1]]
        return x @ params["wide"].T @ params["wide"] @ params["head"]

    square = {"positions": jnp.ones((V, D)), "wide": jax.random.normal(jax.random.key(1), (V, D))}
    assert_laws(from_apply(with_odd_tables, params() | square, max_length=V), effort=QUICK)


def test_a_layer_that_starts_at_zero_hides_no_leak():
    def peeks_through_zeros(params: Params, tokens: Array) -> Array:
        return right(params, tokens) + states(params, tokens, None, peek=1) @ params["out"]

    report = verify(
        from_apply(peeks_through_zeros, params() | {"out": jnp.zeros((D, V))}, max_length=MOST), effort=QUICK
    )
    assert [outcome.law for outcome in report.broken] == ["causality"]
    assert report.remark == "1 matrices of zeros were given noise, so that they hide nothing"


def test_a_decoder_in_which_no_position_sees_another_says_so():
    report = verify(from_apply(lambda tokens: jax.nn.one_hot(tokens, 5)), effort=QUICK)
    assert not report.broken
    details = {outcome.law: outcome.detail for outcome in report.outcomes}
    assert details["causality"] == "no position sees another one at all, 15 examples"
    assert details["segment-isolation"] == "it takes no segments: from_apply(..., segments=KEYWORD) if it does"


def test_what_can_not_be_traced_is_run_as_it_is():
    def in_numpy(tokens: Array) -> Array:
        one_hot = np.eye(5, dtype=np.float32)[np.asarray(tokens)]
        return jnp.asarray(np.cumsum(one_hot, axis=1))

    report = verify(from_apply(in_numpy), effort=QUICK)
    assert not report.broken
    assert "it can't be traced: TracerArrayConversionError" in str(report)


def test_half_precision_inside_is_given_the_tolerance_that_it_needs():
    half = partial(jax.tree.map, lambda array: array.astype(jnp.bfloat16))
    apply: Callable[..., Array] = lambda params, tokens: right(half(params), tokens).astype(jnp.float32)  # noqa: E731
    assert_laws(from_apply(apply, params(), max_length=MOST), effort=QUICK)


def test_only_one_of_init_cache_and_step_and_what_is_no_decoder_are_refused():
    with pytest.raises(InputError, match="init_cache and step, or neither"):
        from_apply(right, params(), step=lambda *_: None)
    with pytest.raises(InputError, match="a max_length of at least 2, got 1"):
        from_apply(right, params(), max_length=1)
    with pytest.raises(InputError, match="a function from tokens to logits"):
        verify(3)


def test_segments_are_found_under_both_of_their_names():
    def segment_ids_too(params: Params, tokens: Array, segment_ids: Array | None = None) -> Array:
        return right(params, tokens, segment_ids)

    assert from_apply(right, params()).segments == "segments"
    assert from_apply(segment_ids_too, params()).segments == "segment_ids"
    assert isinstance(from_apply(in_bfloat16, params()), DecoderView)
    assert from_apply(in_bfloat16, params()).segments == ""
