"""A cell's outcome against training and evaluating by hand, its digest, and whether documents see each other."""

from dataclasses import replace
from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from tiny_cells import CROSS, SEGMENTS, SETTINGS, material, tiny_cell

from contracts.batch import RowPolicy
from contracts.decoder import DecoderConfig
from experiments.ablation.leakage import leakage
from experiments.ablation.rows import row_documents
from experiments.ablation.train import train_cell
from research.costs import causal_pairs, decoder_parameters, forward_flops
from research.evaluate import evaluate
from research.model import Decoder
from research.stream import Rows
from research.train import fit


@cache
def outcome():
    return train_cell(tiny_cell())


@pytest.mark.slow
def test_an_outcome_is_what_fitting_and_evaluating_by_hand_come_to():
    cell = tiny_cell()
    fitted = fit(cell.config, cell.material.train, cell.material.tokenizer)
    assert outcome().loss == tuple(fitted.metrics.loss.tolist())
    for context, policy in cell.contexts.items():
        for text, stream in cell.material.held_out.items():
            by_hand = evaluate(fitted.decoder, stream, cell.material.tokenizer, policy)
            score = outcome().last(context, text)
            assert score.bpb_total == pytest.approx(by_hand.ledger.bpb_total, rel=1e-12)
            assert score.bpb_text == pytest.approx(by_hand.ledger.bpb_text, rel=1e-12)
            assert score.nats_text == tuple(by_hand.ledger.nats_text.tolist())


def test_the_first_context_is_scored_at_every_stop_and_the_others_at_the_end():
    cell = tiny_cell()
    stops = [(score.context, score.step) for score in outcome().scores if score.text == "ko"]
    assert stops == [("own", cell.config.steps // 2), ("own", cell.config.steps), ("alone", cell.config.steps)]


def test_bytes_read_are_those_of_the_trained_targets():
    cell = tiny_cell()
    rows = Rows(cell.material.train, cell.material.tokenizer, cell.config.policy, 2, 24)
    read = 0
    for step in range(cell.config.steps):
        batch = rows(0, step)
        read += sum(
            1 for target, weight in zip(batch.targets.flat, batch.weights.flat, strict=True) if weight and target < 256
        )
        assert outcome().text_bytes[step] == read
    assert read >= 0.9 * SETTINGS.text_bytes


def test_flops_and_parameters_are_those_of_the_formulas():
    cell = tiny_cell()
    flops = 2 * 3 * forward_flops(cell.config.decoder, 24, causal_pairs(24)).total
    assert outcome().scores[-1].flops == cell.config.steps * flops
    assert outcome().parameters == decoder_parameters(cell.config.decoder).total


def test_tokens_by_position_are_counted_from_the_first_text_token():
    score = outcome().last("alone", "en")
    documents = [b"a fox", b"two"]
    text = [sum(len(document) > place for document in documents) for place in range(6)]
    ends = [sum(len(document) == place for document in documents) for place in range(6)]
    assert score.position_tokens[:6] == tuple(a + b for a, b in zip(text, ends, strict=True))
    total = sum(score.nats_text) + sum(score.nats_protocol)
    assert sum(score.position_nats) == pytest.approx(total)


def test_the_digest_is_of_all_that_decides_the_outcome_and_of_nothing_else():
    cell = tiny_cell()
    assert tiny_cell(name="otherwise").digest == cell.digest
    others = [
        tiny_cell(seed=1),
        tiny_cell(settings=replace(SETTINGS, isolation="segments")),
        tiny_cell(settings=replace(SETTINGS, peak_learning_rate=1e-3)),
        replace(cell, evaluations=(cell.config.steps,)),
        replace(cell, contexts={"own": cell.contexts["own"]}),
        replace(cell, material=replace(cell.material, held_out={"en": cell.material.held_out["en"]})),
        replace(cell, leakage={}),
    ]
    assert len({cell.digest, *(other.digest for other in others)}) == 1 + len(others)


def probed(policy, decoder=None):
    config = DecoderConfig(
        vocab_size=257, d_model=8, n_layers=2, n_heads=2, n_kv_heads=2, head_dim=4, d_ff=16, context_length=24
    )
    decoder = decoder or Decoder(config, rngs=nnx.Rngs(0))
    rows = Rows(material().train, material().tokenizer, policy, 3, 24)
    batch = rows.in_order(0)
    return leakage(decoder, batch, row_documents(rows, batch), policy)


@pytest.mark.parametrize(
    "policy", [SEGMENTS, replace(SEGMENTS, positions="continue"), RowPolicy("fit", "reset", "restart", "all")]
)
def test_segments_and_rows_of_their_own_let_nothing_through_to_the_last_bit(policy):
    found = probed(policy)
    assert found.none
    assert (found.logits, found.gradient) == (0.0, 0.0)
    assert found.positions > 10


@pytest.mark.parametrize("policy", [CROSS, replace(CROSS, positions="restart")])
def test_without_a_mask_documents_see_each_other_whatever_their_positions(policy):
    found = probed(policy)
    assert not found.none
    assert found.logits > 1e-3
    assert found.gradient > 1e-6


class Forgetful(nnx.Module):
    """A decoder that takes segments and does not use them."""

    def __init__(self, decoder):
        self.decoder, self.config = decoder, decoder.config

    @property
    def embed(self):
        return self.decoder.embed

    def __call__(self, tokens, segments=None, positions=None):
        return self.decoder(tokens, jnp.zeros_like(segments), positions)


def test_a_mask_that_is_forgotten_is_found():
    config = DecoderConfig(
        vocab_size=257, d_model=8, n_layers=1, n_heads=2, n_kv_heads=2, head_dim=4, d_ff=16, context_length=24
    )
    found = probed(SEGMENTS, Forgetful(Decoder(config, rngs=nnx.Rngs(0))))
    assert found.logits > 1e-3
    assert found.gradient > 1e-6


def test_a_rows_documents_are_numbered_by_the_boundaries_that_open_them():
    rows = Rows(material().train, material().tokenizer, CROSS, 4, 24)
    batch = rows.in_order(0)
    for tokens, weights, found in zip(batch.tokens, batch.weights, row_documents(rows, batch), strict=True):
        number, expected = -1, []
        for token, weight in zip(tokens.tolist(), weights.tolist(), strict=True):
            number += token == 256 and weight > 0
            expected.append(number if weight else -1)
        assert found.tolist() == expected


def test_segments_are_the_documents_of_a_row():
    rows = Rows(material().train, material().tokenizer, SEGMENTS, 4, 24)
    batch = rows.in_order(0)
    assert np.array_equal(row_documents(rows, batch), batch.segments)
