"""Comparisons at equal bytes, FLOPs and parameters on curves that are known in closed form."""

import dataclasses
import json
import math
import subprocess
import sys
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import experiments.ablation.run
import experiments.bits_per_byte.compare
from contracts.errors import InputError
from experiments.ablation.outcome import Outcome, Score
from experiments.bits_per_byte import BitsPerByte, for_study, measure, plan
from experiments.bits_per_byte.arms import BASE, BYTES, EQUAL_BYTES, EQUAL_TOKENS, WIDE, prepare
from experiments.bits_per_byte.compare import ALL, Results, baselines, out_of_reach, planned_spans
from experiments.bits_per_byte.figure import _round_numbers
from experiments.bits_per_byte.tables import tables
from experiments.recording import plain
from research.costs import decoder_parameters

QUICK = partial(BitsPerByte, vocab_sizes=(300, 400), seeds=3, d_model=8, head_dim=4, n_layers=1, context_bytes=64)


@cache
def prepared():
    return prepare(QUICK())


def curve_of(cell, text_bytes, seed):
    """Bits a byte that are a line in the logarithm of bytes and of parameters, a little lower for larger seeds."""
    return 6 - 0.3 * math.log(text_bytes) - 0.5 * math.log(cell.parameters) - 0.001 * seed


def outcomes_of(cells, overshoot=0, steps=(1, 2, 4, 8)):
    """Scores after those thousands of bytes; every further cell reads `overshoot` bytes more in all."""
    found = []
    for number, cell in enumerate(cells):
        scores = []
        for step in steps:
            text_bytes, seed = 1000 * step + overshoot * number * (step == steps[-1]), cell.config.seed
            for text in cell.material.held_out:
                for context in (EQUAL_BYTES, EQUAL_TOKENS) if 2 * step >= steps[-1] else (EQUAL_BYTES,):
                    nats = (8 + curve_of(cell, text_bytes, seed)) * math.log(2) * 1000
                    shape = {"position_nats": (), "position_tokens": (), "bytes": 1000}
                    spent = {"step": step, "text_bytes": text_bytes, "flops": step * cell.step_flops}
                    scores.append(
                        Score(context=context, text=text, nats_text=(nats,), nats_protocol=(0.0,), **spent, **shape)
                    )
        found.append(Outcome((1.0,), (1,), cell.step_flops, cell.parameters, tuple(scores), {}, 0.0))
    return found


def results_of(outcomes):
    by_arm = {arm: tuple(outcomes[i * 3 :][:3]) for i, arm in enumerate(prepared().ablation.arms)}
    return Results(prepared(), by_arm, baselines(prepared()))


@cache
def results():
    return results_of(outcomes_of(prepared().cells))


def compared(held, arm="bpe-400", text=ALL):
    return next(one for one in results().comparisons if (one.held, one.arm, one.text) == (held, arm, text))


def cell_of(name, width=BASE):
    return prepared().by_arm[name, "shared", width][0]


def test_bpe_of_all_sizes_is_cut_from_one_training_of_the_training_text():
    merges = [prepared().tokenizers[name].merges.tolist() for name in ("bpe-300", "bpe-400")]
    assert merges[0] == merges[1][:44]
    assert list(prepared().tokenizers) == [BYTES, "bpe-300", "bpe-400"]


def test_rows_of_all_tokenizers_hold_equally_many_bytes_in_the_mean():
    for name in prepared().tokenizers:
        cell = cell_of(name)
        per_token = cell.material.train.counts.bytes / len(cell.material.train.tokens)
        assert cell.config.length * per_token == pytest.approx(64, rel=0.03)
        assert cell.contexts[EQUAL_BYTES].length == cell.config.length
        assert cell.contexts[EQUAL_TOKENS].length == cell_of("bpe-400").config.length


def test_all_but_the_wide_decoder_differ_by_embedding_and_head_alone():
    inner = {arm: decoder_parameters(cells[0].config.decoder).attention for arm, cells in prepared().by_arm.items()}
    assert len({size for arm, size in inner.items() if arm[2] == BASE}) == 1
    narrow, bpe, wide = (cell.parameters for cell in (cell_of(BYTES), cell_of("bpe-400"), cell_of(BYTES, WIDE)))
    assert narrow < bpe <= wide


def test_held_out_documents_are_not_trained_on_and_say_the_same_in_both_languages():
    texts = prepared().texts
    held_out = {document for documents in texts.held_out.values() for document in documents}
    assert not held_out & set(texts.mixed)
    assert len(texts.held_out["en"]) == len(texts.held_out["ko"])
    assert len(texts.mixed) == sum(map(len, texts.train.values()))


@pytest.mark.slow
def test_at_equal_bytes_both_are_read_at_the_same_bytes():
    one = compared("text bytes")
    expected = curve_of(cell_of("bpe-400"), 8000, 0) - curve_of(cell_of(BYTES), 8000, 0)
    assert one.at == 8000
    assert one.difference.value == pytest.approx(expected)
    assert one.difference.spread == pytest.approx(0, abs=1e-12)
    assert one.verdict.word == "better"


@pytest.mark.slow
@pytest.mark.parametrize("context", [EQUAL_BYTES, EQUAL_TOKENS])
def test_every_arm_is_read_at_the_bytes_that_all_have_read_however_far_it_went(context):
    """The curves are lines in the logarithm of bytes, so that reading them elsewhere would be seen."""
    found = results_of(outcomes_of(prepared().cells, overshoot=100))
    assert found.text_bytes == 8000
    for arm in found.outcomes:
        expected = [8 + curve_of(cell, 8000, cell.config.seed) for cell in prepared().by_arm[arm]]
        assert found.values(arm, ALL, context) == pytest.approx(expected)
    assert {one.at for one in found.comparisons if one.held == "text bytes"} == {8000}
    for one in found.comparisons:
        if one.held == "text bytes" and one.factor == "tokenizer":
            means = [np.mean(found.values((name, "shared", BASE), one.text)) for name in (one.arm, one.against)]
            assert one.difference.value == pytest.approx(means[0] - means[1])


def cheaper(outcomes, times):
    """The same outcomes, the tokens of which cost so many times less where they are not bytes."""
    return [
        outcome
        if cell.name.startswith(BYTES)
        else dataclasses.replace(
            outcome, scores=tuple(dataclasses.replace(one, flops=one.flops // times) for one in outcome.scores)
        )
        for cell, outcome in zip(prepared().cells, outcomes, strict=True)
    ]


@pytest.mark.slow
def test_where_equal_flops_lie_outside_of_the_curves_the_row_says_so_and_the_run_is_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(
        experiments.ablation.run, "run_cells", lambda cells, folder, processes=0: cheaper(outcomes_of(cells), 100)
    )
    found = measure(QUICK())
    rows = [row for row in found.tables[1].rows if row[1] == "training FLOPs"]
    assert [row[0] for row in rows] == ["bpe-300", "bpe-400"]
    assert all(row[-1].startswith("not comparable: all of bpe-") for row in rows)
    assert "Against bytes at equal training FLOPs: bpe-300 not comparable: all of bpe-300 takes" in found.verdict
    assert {row.factors["arm"] for row in found.rows if row.quantity == "not_comparable"} == {"bpe-300", "bpe-400"}
    assert {name for draw in found.draw for name in draw(tmp_path)} == {"figure.png", "figure.svg"}


@pytest.mark.parametrize(
    ("spans", "outside"),
    [
        ({BYTES: (10, 80), "bpe-300": (1, 10)}, []),
        ({BYTES: (10, 80), "bpe-300": (1, 9), "bpe-400": (2, 40)}, ["bpe-300"]),
        ({BYTES: (1, 8), "bpe-300": (9, 72)}, ["bpe-300"]),
    ],
)
def test_arms_are_out_of_reach_if_one_ends_before_the_other_is_scored(spans, outside):
    found = out_of_reach(spans)
    assert [one.arm for one in found] == outside
    assert all(one.against == BYTES for one in found)


def test_the_plan_warns_of_what_equal_flops_will_not_tell(monkeypatch, tmp_path):
    spans = {BYTES: (10e9, 80e9), "bpe-512": (1e9, 9e9)}
    monkeypatch.setattr(experiments.bits_per_byte.compare, "planned_spans", lambda prepared: spans)
    lines = plan(dataclasses.replace(for_study((), ()), cache=str(tmp_path)))
    reason = "all of bpe-512 takes 9 GFLOPs, and bytes is scored from 10 GFLOPs on"
    assert f"bpe-512 at equal training FLOPs will be not comparable: {reason}" in lines


def test_what_the_plan_foresees_is_what_the_trainings_spend():
    spans = planned_spans(prepared())
    for name, (first, last) in spans.items():
        cell = cell_of(name)
        assert (first, last) == (cell.evaluations[0] * cell.step_flops, cell.config.steps * cell.step_flops)


def test_at_equal_flops_the_dearer_one_is_read_earlier_on_its_curve():
    one, ours, theirs = compared("training FLOPs"), cell_of("bpe-400"), cell_of(BYTES)
    assert one.at == 8 * min(ours.step_flops, theirs.step_flops)
    expected = [curve_of(cell, 1000 * one.at / cell.step_flops, 0) for cell in (ours, theirs)]
    assert one.difference.value == pytest.approx(expected[0] - expected[1])


def test_at_equal_parameters_decoders_of_one_law_are_equal():
    one = compared("parameters")
    assert one.at == cell_of("bpe-400").parameters
    assert one.difference.value == pytest.approx(0, abs=1e-9)
    assert one.verdict.word == "equivalent"


def test_every_tokenizer_is_compared_once_in_each_way_on_each_text():
    found = [(one.factor, one.held, one.arm, one.text) for one in results().comparisons]
    assert len(found) == len(set(found)) == (2 * 3 + 3) * 3


@pytest.mark.slow
def test_the_finding_is_tabled_and_drawn_and_names_what_it_beats(monkeypatch, tmp_path):
    monkeypatch.setattr(experiments.ablation.run, "run_cells", lambda cells, folder, processes=0: outcomes_of(cells))
    found = measure(QUICK())
    assert "Against bytes at equal parameters: bpe-300 equivalent (within 0.02)" in found.verdict
    assert "below no baseline" in found.verdict
    assert all(table.rows for table in found.tables)
    assert {name for draw in found.draw for name in draw(tmp_path)} == {"figure.png", "figure.svg"}
    keys = [(row.quantity, json.dumps(row.factors, sort_keys=True)) for row in found.rows]
    assert len(keys) == len(set(keys))
    assert {corpus.name for corpus in found.corpora} == {"en", "ko"}


def test_unique_bytes_and_epochs_are_those_of_the_training_text():
    table = next(one for one in tables(results()) if one.title == "What was trained")
    unique = sum(len(document.encode()) for document in prepared().texts.mixed)
    for row in (dict(zip(table.columns, each, strict=True)) for each in table.rows):
        assert row["unique"] == f"{unique:,}"
        assert row["epochs"] == f"{8000 / unique:.1f}"
    assert "One learning rate, 0.003, serves all decoders" in table.note


def test_the_windows_of_each_text_are_told_for_equal_bytes_hold_over_the_mixed_text_alone():
    table = next(one for one in tables(results()) if one.title.startswith("What the window does"))
    row = dict(zip(table.columns, table.rows[-1], strict=True))
    cell = cell_of("bpe-400")
    for text, documents in prepared().texts.held_out.items():
        tokens = sum(1 + len(cell.material.tokenizer.encode(document)) for document in documents)
        size = sum(len(document.encode()) for document in documents)
        assert row[f"equal bytes, on {text}"] == f"{cell.config.length * size / tokens:.0f} B"


@given(st.floats(1, 1e15), st.floats(1.05, 1e4))
def test_a_logarithmic_axis_has_several_numbers_however_short_it_is(low, ratio):
    ticks = _round_numbers(low, low * ratio)
    assert all(low <= tick <= low * ratio for tick in ticks)
    assert (3 if ratio > 1.35 else 2) <= len(ticks) <= 6


def test_the_text_of_a_person_is_taken_file_by_file(tmp_path):
    for name in ("eng", "kor", "fra"):
        lines = [f"{name} line {number} of {number * 7} words" for number in range(80)]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines))
    found = prepare(QUICK(corpus=(str(tmp_path),), train_bytes=3000))
    assert set(found.texts.names) == {"eng", "kor", "fra"}
    sizes = [sum(len(line.encode()) for line in lines) for lines in found.texts.train.values()]
    assert all(1000 <= size < 1040 for size in sizes)


def test_too_few_documents_are_refused_by_the_name_of_their_text(tmp_path):
    (tmp_path / "short.txt").write_text("\n".join(f"line {number}" for number in range(20)))
    with pytest.raises(InputError, match=r"at least 4 documents or lines of each kind, got 18 to train on and 2 held"):
        prepare(QUICK(corpus=(str(tmp_path / "short.txt"),)))


def test_a_vocabulary_that_the_text_does_not_fill_is_measured_at_the_size_it_has(tmp_path):
    (tmp_path / "one.txt").write_text("\n".join(["ab ab cd"] * 2 + [f"{number} x" for number in range(60)]))
    found = prepare(QUICK(corpus=(str(tmp_path),), vocab_sizes=(300, 5000)))
    assert len(found.tokenizers) in (2, 3)
    assert all(int(name[4:]) == found.tokenizers[name].text_vocab_size for name in found.tokenizers if name != BYTES)


@pytest.mark.parametrize(
    "arguments",
    [
        {"vocab_sizes": ()},
        {"vocab_sizes": (256,)},
        {"vocab_sizes": (512, 512)},
        {"seeds": 1},
        {"text_bytes": 10},
        {"d_model": 33},
        {"peak_learning_rate": 0.0},
    ],
)
def test_bad_arguments_are_refused_by_name(arguments):
    (name,) = arguments
    with pytest.raises(InputError, match="--" + name.replace("_", "-")):
        BitsPerByte(**arguments)


def test_the_plan_tells_arms_trainings_and_what_the_seeds_can_see(tmp_path):
    lines = plan(dataclasses.replace(for_study((), ()), cache=str(tmp_path)))
    assert lines[0].startswith("5 arms under 3 seeds: bytes, shared, base; ")
    assert lines[1].startswith("15 trainings, 0 of them done; ")
    assert "3 seeds show differences from 0.098 bits a byte on (80 % power); the margin is 0.02" in lines[-1]
    assert lines[-1].endswith("to be found equivalent within it takes 26 seeds")
    assert list(tmp_path.iterdir()) == []


def test_the_manifest_keeps_neither_the_cache_nor_the_processes():
    assert not {"cache", "processes"} & set(plain(QUICK()))


def test_importing_the_experiment_loads_neither_jax_nor_matplotlib():
    code = "import sys, experiments.bits_per_byte; print(*{'jax', 'matplotlib'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@pytest.mark.slow
def test_a_small_run_in_processes_comes_out_the_same_in_this_one(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    from experiments.ablation.run import run_cells

    small = QUICK(vocab_sizes=(300,), seeds=2, text_bytes=2000, held_out_bytes=6000)
    cells = prepare(small).cells[:4]
    apart = run_cells(cells, tmp_path / "apart", processes=2)
    with ThreadPoolExecutor(1) as executor:
        here = run_cells(cells[:1], tmp_path / "here", executor)
    assert np.allclose(here[0].loss, apart[0].loss, rtol=1e-5)
    assert here[0].text_bytes == apart[0].text_bytes
    assert apart[0].loss != apart[1].loss
