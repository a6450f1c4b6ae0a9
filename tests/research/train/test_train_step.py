"""One step, against the same step spelled out: a mean of nats, its gradient, clipping, AdamW."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from tiny_run import CONFIG, DECODER, SEGMENTS, STREAM, TOKENIZER, tiny

from contracts.batch import Batch
from contracts.errors import ShapeError
from research.model import Decoder
from research.stream import Rows
from research.train.loop import StepFailed, Training, require_finite
from research.train.optimizer import matrices
from research.train.step import batch_nats, in_range, trained_bytes


def prepared(config):
    """The training of this config, of which equal ones compile once."""
    return Training(config, STREAM, TOKENIZER)


def one_step(config, batch=None):
    """Parameters before and after the first step, and its metrics, all as NumPy."""
    training = prepared(config)
    batches = training.batches(0, 1) if batch is None else batch
    first = jax.tree.map(jnp.copy, training.state)
    before = jax.tree.map(np.asarray, first.params)
    after, metrics = training.program.dispatch(first, batches)
    return before, after, jax.tree.map(lambda field: field[0], metrics)


def plain_loss(params, batch, graph):
    """Mean nats of the targets of weight 1, by the definition of cross-entropy."""
    logits = nnx.merge(graph, params)(batch.tokens, None, batch.positions)
    log_p = jax.nn.log_softmax(logits, axis=-1)
    chosen = -jnp.sum(log_p * jax.nn.one_hot(batch.targets, logits.shape[-1]), axis=-1)
    return jnp.sum(chosen * batch.weights) / jnp.sum(batch.weights)


def adamw_by_hand(parameter, gradient, config, decays):
    """The first update of AdamW, algorithm 2 of arXiv 1711.05101, in float64."""
    optimizer = config.optimizer
    m, v = (1 - optimizer.beta1) * gradient, (1 - optimizer.beta2) * gradient**2
    direction = (m / (1 - optimizer.beta1)) / (np.sqrt(v / (1 - optimizer.beta2)) + optimizer.eps)
    rate = optimizer.peak_learning_rate / (optimizer.warmup_steps + 1)
    return parameter - rate * (direction + optimizer.weight_decay * parameter * decays)


@pytest.mark.slow
@pytest.mark.parametrize("clip_norm", [1e-3, 1e3])
def test_a_step_is_the_gradient_of_the_mean_clipped_and_put_through_adamw(clip_norm):
    config = tiny(optimizer=replace(CONFIG.optimizer, clip_norm=clip_norm, eps=1e-3))
    before, after, metrics = one_step(config)
    rows = Rows(STREAM, TOKENIZER, config.policy, config.batch_size, config.length)
    batch = jax.tree.map(jnp.asarray, rows(config.seed, 0))
    graph = nnx.split(Decoder(DECODER, rngs=nnx.Rngs(0)))[0]
    loss, gradients = jax.jit(jax.value_and_grad(plain_loss), static_argnums=2)(before, batch, graph)
    gradients = jax.tree.map(lambda g: np.asarray(g, np.float64), gradients)
    norm = np.sqrt(sum(float((g**2).sum()) for g in jax.tree.leaves(gradients)))
    np.testing.assert_allclose(metrics.loss, loss, rtol=1e-5)
    np.testing.assert_allclose(metrics.gradient_norm, norm, rtol=1e-4)
    scale = min(1.0, clip_norm / norm)
    for path, parameter in jax.tree_util.tree_leaves_with_path(before):
        found, gradient = (dict(jax.tree_util.tree_leaves_with_path(t))[path] for t in (after.params, gradients))
        expected = adamw_by_hand(parameter.astype(np.float64), scale * gradient, config, parameter.ndim > 1)
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-6, err_msg=jax.tree_util.keystr(path))


@pytest.mark.slow
def test_a_step_in_parts_is_the_step_of_the_whole_though_parts_have_unequal_weights():
    def weighted(parts):
        weights = np.ones((1, 6, 12), np.float32)
        weights[0, 0] = 0
        weights[0, 3, 5:] = 0
        batch = prepared(tiny(accumulate=parts)).batches(0, 1)
        return one_step(tiny(accumulate=parts), batch._replace(weights=weights.reshape(batch.weights.shape)))

    (_, whole, whole_metrics), (_, parts, parts_metrics) = weighted(1), weighted(3)
    np.testing.assert_allclose(whole_metrics.loss, parts_metrics.loss, rtol=1e-6)
    for one, other in zip(jax.tree.leaves(whole.opt_state), jax.tree.leaves(parts.opt_state), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-7)


def test_a_target_of_weight_zero_changes_nothing():
    batch = jax.tree.map(np.asarray, prepared(CONFIG).batches(0, 1))
    weights = np.array(batch.weights)
    weights[..., -1] = 0
    targets = np.array(batch.targets)
    targets[..., -1] = 7
    one = one_step(CONFIG, batch._replace(weights=weights))
    other = one_step(CONFIG, batch._replace(weights=weights, targets=targets))
    for a, b in zip(jax.tree.leaves(one[1:]), jax.tree.leaves(other[1:]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_segments_reach_the_decoder_only_where_the_policy_needs_a_mask():
    decoder = Decoder(DECODER, rngs=nnx.Rngs(3))
    batches = (Rows(STREAM, TOKENIZER, SEGMENTS, 1, 12)(0, step) for step in range(100))
    batch = next(batch for batch in batches if batch.segments[0, 6] > 0)
    cut = int(np.argmax(batch.segments[0] > 0))
    last = np.zeros_like(batch.weights)
    last[0, cut:] = 1
    other = np.array(batch.tokens)
    other[0, 0] = (other[0, 0] + 1) % 256

    nats = jax.jit(batch_nats, static_argnums=2)

    def difference(needs_mask):
        found = [
            nats(decoder, jax.tree.map(jnp.asarray, batch._replace(tokens=tokens, weights=last)), needs_mask)
            for tokens in (batch.tokens, other)
        ]
        return abs(float(found[0] - found[1]))

    assert difference(True) == 0
    assert difference(False) > 1e-4


def test_scales_do_not_decay_though_scanned_layers_give_them_an_axis():
    for scan in (False, True):
        config = replace(DECODER, scan_layers=scan)
        params = nnx.split(Decoder(config, rngs=nnx.Rngs(0)))[1]
        for path, decays in jax.tree_util.tree_leaves_with_path(matrices(params, config)):
            name = jax.tree_util.keystr(path)
            assert decays == ("scale" not in name), name


def test_bytes_of_a_step_are_those_of_targets_that_are_trained_on():
    batch = Rows(STREAM, TOKENIZER, CONFIG.policy, 6, 12)(0, 0)
    weights = np.array(batch.weights)
    weights[0] = 0
    expected = sum(int(target) != 256 for target in batch.targets[1:].reshape(-1))
    lengths = TOKENIZER.token_byte_lengths
    assert float(trained_bytes(batch._replace(weights=weights), lengths)) == expected
    assert float(trained_bytes(batch._replace(weights=0 * weights), lengths)) == 1


@pytest.mark.parametrize("token", [-1, 257])
def test_an_id_out_of_range_is_flagged_in_the_program_and_named_by_the_loop(token):
    batch = prepared(CONFIG).batches(0, 1)
    tokens = np.array(batch.tokens)
    assert in_range(batch, 257)
    tokens[0, 0, 2, 3] = token
    assert not in_range(batch._replace(tokens=jnp.asarray(tokens)), 257)
    assert not in_range(batch._replace(targets=jnp.asarray(tokens)), 257)
    _, _, metrics = one_step(CONFIG, batch._replace(tokens=tokens))
    with pytest.raises(StepFailed, match="token ids out of range"):
        require_finite(7, jax.tree.map(lambda field: np.asarray(field)[None], metrics))


def test_the_first_step_that_is_not_finite_is_named(fitted):
    loss_finite = np.ones(12, bool)
    loss_finite[[5, 8]] = False
    with pytest.raises(StepFailed, match="step 106: expected a finite loss") as caught:
        require_finite(100, fitted.metrics._replace(loss_finite=loss_finite))
    assert caught.value.step == 106  # counted from 1: 100 were made, and five of these are good
    require_finite(100, fitted.metrics)


@pytest.mark.needs_contracts
def test_a_batch_is_a_contract_at_the_step():
    decoder = Decoder(DECODER, rngs=nnx.Rngs(3))
    batch = jax.tree.map(jnp.asarray, Rows(STREAM, TOKENIZER, CONFIG.policy, 6, 12)(0, 0))
    with pytest.raises(ShapeError):
        batch_nats(decoder, batch._replace(weights=batch.weights[:, :-1]), False)
    with pytest.raises(ShapeError):
        batch_nats(decoder, Batch(*batch[:4], batch.weights.astype(jnp.int32)), False)
