"""The judgement is the rule's, and every way trains the runs that it says; no test is timed."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contracts.decoder import DecoderConfig
from contracts.errors import InputError
from experiments.speed.seeds.findings import Findings, Measured, draw, rows, tables, verdict
from experiments.speed.seeds.measure import cut_short, job_seconds, stored_corpus
from experiments.speed.seeds.question import AFTER, BESIDE, TOGETHER, SeedsSpeed
from research.stream import open_corpus
from research.train import preset


@pytest.mark.parametrize(
    ("after", "beside", "judgement"),
    [
        ([2.0, 4.0], [1.0, 2.0], "gains"),
        ([2.0, 4.0], [2.0, 4.0], "does not gain"),
        ([2.0, 4.0], [1.0, 4.0], "undecided"),
    ],
)
def test_a_way_is_judged_by_the_whole_range_of_rounds(after, beside, judgement):
    one = Measured("seconds", 100, {AFTER: np.array(after), BESIDE: np.array(beside)})
    assert one.judgement(BESIDE) == judgement


@pytest.mark.parametrize("steps", [10, 55, 100])
def test_a_run_that_is_cut_short_has_one_checkpoint_at_its_end(steps):
    config = cut_short(preset("minutes", 257), steps)
    assert config.steps == steps
    assert config.checkpoint_interval >= steps


@pytest.mark.parametrize("wrong", [{"presets": ("weeks",)}, {"presets": ()}, {"seeds": 1}, {"steps": 9}, {"rounds": 1}])
def test_what_does_not_fit_is_refused_by_the_name_of_its_option(wrong):
    (option,) = wrong
    with pytest.raises(InputError, match=f"--{option}"):
        SeedsSpeed(**wrong)


def test_the_corpus_is_there_while_it_is_needed_and_holds_nothing_out():
    with stored_corpus() as folder:
        corpus = open_corpus(folder)
        assert len(corpus.train.tokens) > 10_000
        assert not len(corpus.validation.starts)
    assert not Path(folder).exists()


def test_every_way_is_in_table_rows_verdict_and_figure(tmp_path):
    seconds = {AFTER: np.array([2.0, 4.0]), BESIDE: np.array([1.0, 2.0]), TOGETHER: np.array([2.0, 3.0])}
    found = Findings([Measured("seconds", 100, seconds)], "cpu", seeds=4, steps=10)
    assert [row[1] for row in tables(found)[0].rows] == [AFTER, BESIDE, TOGETHER]
    assert [row.value for row in rows(found)] == [3.0, 1.5, 2.0, 2.5, pytest.approx(7 / 6)]
    assert "Side by side: 2.00 [2.00, 2.00] at seconds (gains)" in verdict(found)
    assert "(undecided)" in verdict(found)
    assert draw(tmp_path, found) == ["figure.png", "figure.svg"]


@pytest.mark.slow
@pytest.mark.parametrize("way", [AFTER, BESIDE, TOGETHER])
def test_a_job_trains_its_seeds_and_says_how_long_it_took(way):
    decoder = DecoderConfig(d_model=24, n_layers=1, n_heads=2, n_kv_heads=1, head_dim=8, d_ff=40, context_length=16)
    config = cut_short(replace(preset("seconds", 257), decoder=decoder, length=16), 10)
    with stored_corpus() as corpus:
        assert job_seconds(way, corpus, 2, json.dumps(config.to_json())) > 0
