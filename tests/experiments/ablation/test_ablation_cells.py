"""A cell's outcome against training and evaluating by hand, its digest, and its certificate."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_cells import CROSS, SEGMENTS, SETTINGS, material, tiny_cell

from experiments.ablation.rows import row_documents
from experiments.ablation.train import train_cell
from research.costs import causal_pairs, decoder_parameters, forward_flops
from research.evaluate import certificate, evaluate
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


@pytest.mark.slow
def test_the_first_context_is_scored_at_every_stop_and_the_others_from_the_middle_on():
    cell = tiny_cell(settings=replace(SETTINGS, evaluations=4))
    stops = {
        context: [score.step for score in train_cell(cell).scores if (score.text, score.context) == ("ko", context)]
        for context in cell.contexts
    }
    assert stops["own"] == list(cell.evaluations)
    assert stops["alone"] == [step for step in cell.evaluations if step >= cell.config.steps / 2] != stops["own"]


@given(text_bytes=st.integers(1, 100_000), evaluations=st.integers(1, 12))
def test_a_training_reads_what_it_is_asked_for_and_less_than_an_evaluation_interval_more(text_bytes, evaluations):
    cell = tiny_cell(settings=replace(SETTINGS, text_bytes=text_bytes, evaluations=evaluations))
    rows = Rows(cell.material.train, cell.material.tokenizer, cell.config.policy, 2, 24)
    wanted = text_bytes / (cell.material.train.counts.bytes / rows.rows_per_epoch * 2)
    stops, steps = cell.evaluations, cell.config.steps
    assert steps == evaluations or wanted <= steps < wanted + max(1, steps / evaluations)
    assert len(set(stops)) == evaluations
    assert stops[-1] == steps
    assert all(stop % cell.config.steps_per_dispatch == 0 for stop in stops)
    assert np.ptp(np.diff([0, *stops])) <= cell.config.steps_per_dispatch


@pytest.mark.slow
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


def test_the_trained_decoder_is_asked_whether_documents_know_of_each_other_by_the_certificate():
    cell = tiny_cell()
    crossing, apart = outcome().leakage["c"], outcome().leakage["s"]
    assert min(crossing["logits"], crossing["gradient"]) > 0
    assert (apart["logits"], apart["gradient"]) == (0.0, 0.0)
    decoder = fit(cell.config, cell.material.train, cell.material.tokenizer).decoder
    by_hand = certificate(decoder, Rows(cell.material.train, cell.material.tokenizer, CROSS, 4, 24))
    assert crossing == {"logits": by_hand.logits, "gradient": by_hand.gradient, "positions": by_hand.compared}


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
