"""Pairs against a mask written out, the formula against simulated cuts, verdicts on outcomes that are known."""

import dataclasses
import json
import subprocess
import sys
from functools import cache, partial

import numpy as np
import pytest

import experiments.ablation.run
from contracts.errors import InputError
from experiments.ablation.outcome import Outcome, Score
from experiments.document_isolation import DocumentIsolation, for_study, measure, plan
from experiments.document_isolation.arms import (
    ALONE,
    CONTINUED,
    CROSS,
    ONLY_POSITIONS,
    OWN,
    RESET,
    SEGMENTS,
    prepare,
)
from experiments.document_isolation.compare import ALL, Results
from experiments.document_isolation.pairs import count_pairs, uniform_cuts
from experiments.recording import plain
from research.costs import kept_pair_fraction

QUICK = partial(DocumentIsolation, vocab_size=300, length=256, seeds=3, d_model=8, head_dim=4, n_layers=1)


@cache
def prepared():
    return prepare(QUICK())


def outcomes_of(cells, worths, leaks=True, further=0, tokens=30):
    """Outcomes whose bits a byte are what `worths(arm, seed)` says, and whose policies leak as they should.

    Every further cell reads `further` bytes more, by which its decoder becomes better.
    """
    found = []
    for number, cell in enumerate(cells):
        arm = cell.name.rsplit(", seed", 1)[0]
        worth = worths(arm, cell.config.seed)
        read = {step: 1000 * step + further * number * (step == 2) for step in (1, 2)}
        bits = {step: worth - bool(further) * np.log(read[step] / 2000) for step in (1, 2)}
        scores = [
            Score(
                step=step,
                text_bytes=read[step],
                flops=step,
                context=context,
                text=text,
                nats_text=(bits[step] * np.log(2) * 100,),
                nats_protocol=(0.0,),
                bytes=100,
                position_nats=(tokens * bits[step],) * cell.positions,
                position_tokens=(tokens,) * cell.positions,
            )
            for text in cell.material.held_out
            for context in (ALONE, OWN)
            for step in (1, 2)
        ]
        trace = {policy: float(leaks and "cross" in policy) for policy in cell.leakage}
        leakage = {policy: {"logits": value, "gradient": value, "positions": 9.0} for policy, value in trace.items()}
        found.append(Outcome((1.0,), (1000, 2000), 1, cell.parameters, tuple(scores), leakage, 0.0))
    return found


def measured(monkeypatch, worths, **changes):
    def run_cells(cells, folder, processes=0):
        return outcomes_of(cells, worths, **changes)

    monkeypatch.setattr(experiments.ablation.run, "run_cells", run_cells)
    return measure(QUICK())


def known_worths(arm, seed):
    return {CROSS: 3.0, SEGMENTS: 2.5, CONTINUED: 3.0, RESET: 3.1}[arm] + (
        0.001 * seed if arm != RESET else 0.3 * (seed == 1)
    )


def naive_pairs(batch, length):
    """Pairs within documents of one batch, from the mask written out."""
    causal = np.tril(np.ones((length, length), bool))
    same = batch.segments[:, :, None] == batch.segments[:, None, :]
    real = batch.segments >= 0
    return int((causal & same & real[:, :, None] & real[:, None, :]).sum())


@pytest.mark.parametrize("arm", [SEGMENTS, RESET])
def test_pairs_within_documents_are_those_of_the_mask_written_out(arm):
    rows = prepared().rows(arm)
    expected = sum(naive_pairs(rows.in_order(step), rows.length) for step in range(rows.batches_in_order))
    assert count_pairs(rows).useful == expected


def test_all_packed_arms_have_the_same_rows_and_reset_the_same_documents():
    pairs = {arm: count_pairs(prepared().rows(arm)) for arm in (CROSS, SEGMENTS, CONTINUED, RESET)}
    for arm in (SEGMENTS, CONTINUED):
        assert (pairs[arm].documents == pairs[CROSS].documents).all()
        assert pairs[arm].useful == pairs[CROSS].useful
    assert pairs[RESET].useful == pairs[CROSS].useful
    assert pairs[RESET].filled.sum() == pairs[CROSS].filled.sum()
    assert pairs[RESET].mean_documents == 1
    assert pairs[CROSS].mean_documents == pytest.approx(prepared().documents_per_row)


@pytest.mark.parametrize(("documents", "published"), [(2, 0.665), (4, 0.403), (8, 0.222), (16, 0.118)])
def test_rows_cut_anywhere_keep_the_share_that_the_formula_and_the_published_simulation_say(documents, published):
    length, draw = 1024, np.random.default_rng(documents)
    shares = []
    for _ in range(2000):
        cuts = np.sort(draw.choice(np.arange(1, length), documents - 1, replace=False))
        shares.append(kept_pair_fraction(np.diff([0, *cuts, length]).tolist(), length))
    assert np.mean(shares) == pytest.approx(uniform_cuts(documents), rel=0.02)
    assert uniform_cuts(documents) == pytest.approx(published, abs=0.004)


def test_no_row_keeps_less_than_documents_of_equal_length_would():
    counted = count_pairs(prepared().rows(CROSS)).per_document_count
    assert all(share >= 1 / k for k, (_, share) in counted.items())


def test_the_arms_differ_in_what_they_are_about_and_reset_in_its_rows():
    cells = {arm: cells[0].config for arm, cells in prepared().by_arm.items()}
    packed = [dataclasses.asdict(cells[arm]) | {"policy": None} for arm in (CROSS, SEGMENTS, CONTINUED)]
    assert packed[0] == packed[1] == packed[2]
    assert cells[CROSS].policy.needs_mask is False
    assert cells[SEGMENTS].policy.needs_mask is cells[CONTINUED].policy.needs_mask is True
    assert (cells[SEGMENTS].policy.positions, cells[CONTINUED].policy.positions) == ("restart", "continue")
    longest = max(len(prepared().material.tokenizer.encode(text)) for text in prepared().texts.mixed)
    assert longest + 1 <= cells[RESET].length < cells[CROSS].length
    documents = cells[CROSS].batch_size * prepared().documents_per_row
    assert cells[RESET].batch_size == round(documents)


def test_verdicts_are_those_of_the_known_differences(monkeypatch):
    found = measured(monkeypatch, known_worths)
    judged = {
        row.factors["isolation"]: row
        for row in found.rows
        if row.quantity == "bpb_difference" and (row.factors["text"], row.factors["context"]) == (ALL, ALONE)
    }
    assert judged[SEGMENTS].value == pytest.approx(-0.5)
    assert judged[SEGMENTS].factors["verdict"] == "better"
    assert judged[CONTINUED].factors["verdict"].startswith("equivalent")
    assert judged[RESET].factors["verdict"].startswith("inconclusive: needs about ")
    assert all(str(row.factors["verdict"]) in found.verdict for row in judged.values())
    assert f"Not apart: {CROSS}" in found.verdict
    assert ONLY_POSITIONS in found.verdict


def test_every_arm_is_read_at_the_bytes_that_all_have_read_however_far_it_went():
    """The curves are lines in the logarithm of bytes, so that reading them elsewhere would be seen."""
    outcomes = outcomes_of(prepared().cells, known_worths, further=50)
    by_arm = {arm: tuple(outcomes[i * 3 :][:3]) for i, arm in enumerate(prepared().by_arm)}
    found = Results(prepared(), by_arm, {}, None)
    assert found.text_bytes == 2000
    for arm in by_arm:
        expected = [known_worths(arm, seed) for seed in range(3)]
        for context in (ALONE, OWN):
            assert found.values(arm, ALL, context) == pytest.approx(expected)
            assert found.at_position(arm, 4, context) == pytest.approx(expected)


def test_a_policy_that_should_isolate_and_leaks_ends_the_run(monkeypatch):
    with pytest.raises(AssertionError, match="leakage under cross"):
        measured(monkeypatch, known_worths, leaks=False)


@pytest.mark.slow
def test_everything_is_tabled_and_drawn_and_a_row_is_known_by_its_factors(monkeypatch, tmp_path):
    found = measured(monkeypatch, known_worths)
    assert all(table.rows for table in found.tables)
    assert {name for draw in found.draw for name in draw(tmp_path)} == {"figure.png", "figure.svg"}
    keys = [(row.quantity, row.witness, json.dumps(row.factors, sort_keys=True)) for row in found.rows]
    assert len(keys) == len(set(keys))


@pytest.mark.slow
def test_positions_that_few_held_out_tokens_stand_at_are_not_stated_and_the_run_is_kept(monkeypatch, tmp_path):
    """Two texts: 24 tokens of each at every position are 48 together."""
    few, enough = (measured(monkeypatch, known_worths, tokens=tokens) for tokens in (24, 25))
    title = "Nats of a token by its position behind the boundary"
    assert [title in [table.title for table in found.tables] for found in (few, enough)] == [False, True]
    assert "nothing is said of their first tokens" in " ".join(few.highlights)
    assert "nats_at_position" not in {row.quantity for row in few.rows}
    assert {name for draw in few.draw for name in draw(tmp_path)} == {"figure.png", "figure.svg"}


def test_unique_bytes_and_epochs_are_those_of_the_training_text(monkeypatch):
    table = next(one for one in measured(monkeypatch, known_worths).tables if one.title == "What was trained")
    unique = sum(len(document.encode()) for document in prepared().texts.mixed)
    for row in (dict(zip(table.columns, each, strict=True)) for each in table.rows):
        assert (row["unique"], row["epochs"]) == (f"{unique:,}", f"{2000 / unique:.1f}")
    assert "One learning rate, 0.003, serves all arms" in table.note


def test_rows_that_hold_hardly_two_documents_are_refused():
    with pytest.raises(InputError, match="at least 2 documents a row"):
        prepare(QUICK(length=165))
    with pytest.raises(InputError, match="--length: expected rows of at least"):
        prepare(QUICK(length=16))


@pytest.mark.parametrize(
    "arguments", [{"seeds": 1}, {"longest": 1}, {"d_model": 30}, {"assumed_spread": 0.0}, {"processes": -1}]
)
def test_bad_arguments_are_refused_by_name(arguments):
    (name,) = arguments
    with pytest.raises(InputError, match="--" + name.replace("_", "-")):
        DocumentIsolation(**arguments)


def test_the_plan_says_what_the_seeds_can_see_before_the_run(tmp_path):
    lines = plan(dataclasses.replace(for_study((), ()), cache=str(tmp_path)))
    assert lines[0] == f"4 arms under 3 seeds: {CROSS}; {SEGMENTS}; {CONTINUED}; {RESET}"
    assert "12 trainings, 0 of them done" in lines[2]
    assert "3 seeds show differences from 0.098 bits a byte on" in lines[-1]
    assert list(tmp_path.iterdir()) == []


def test_the_manifest_keeps_neither_the_cache_nor_the_processes():
    assert not {"cache", "processes"} & set(plain(QUICK()))


def test_importing_the_experiment_loads_neither_jax_nor_matplotlib():
    code = "import sys, experiments.document_isolation; print(*{'jax', 'matplotlib'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@pytest.mark.slow
def test_a_small_run_in_processes_isolates_and_comes_out_the_same_from_its_cache(tmp_path):
    arguments = DocumentIsolation(
        vocab_size=300,
        length=256,
        batch_size=2,
        seeds=2,
        text_bytes=3000,
        held_out_bytes=1500,
        d_model=8,
        head_dim=4,
        n_layers=1,
        cache=str(tmp_path / "cells"),
    )
    first = measure(arguments)
    stored = {path: path.stat().st_mtime_ns for path in (tmp_path / "cells").glob("*.json")}
    assert len(stored) == 8
    assert measure(arguments).rows == first.rows
    assert {path: path.stat().st_mtime_ns for path in stored} == stored
    assert f"{SEGMENTS}; {CONTINUED}; {RESET}. Not apart: {CROSS}" in first.verdict
