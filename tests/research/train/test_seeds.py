"""Seeds in one program are the seeds alone but for rounding, each in a run folder of its own."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from jax import tree
from run_folders import assert_equal_runs, untimed_log
from tiny_run import CONFIG, DOCUMENTS, TOKENIZER, tiny

from contracts.errors import InputError
from research.stream import build_corpus
from research.train import StepFailed, fit, open_run, resume
from research.train.group import begin_group, group_folders, is_group
from research.train.keep import Keeper
from research.train.seeds import common_step, train_seeds

PEAK = 1e9
RUN = tiny(seed=5, log_interval=1)
COUNT = 2


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    text = tmp_path_factory.mktemp("seeds") / "text.txt"
    text.write_text("\n".join(DOCUMENTS), encoding="utf-8")
    return build_corpus([text], TOKENIZER, text.parent / "corpus", separator="\n", validation=0.3)


@pytest.fixture(scope="module")
def trained(corpus):
    """The folders of two seeds that were trained in one program. Tests leave them as they are."""
    folders = begin_group(corpus.folder.parent / "runs", RUN, COUNT, corpus)
    train_seeds(RUN, corpus, folders, peak_flops=PEAK)
    return folders


def parameters(decoder):
    return [np.asarray(each) for each in tree.leaves(decoder)]


@pytest.mark.slow
def test_each_seed_is_the_seed_alone_but_for_rounding(trained, corpus):
    for index, folder in enumerate(trained):
        alone = fit(replace(RUN, seed=5 + index), corpus.train, TOKENIZER)
        found = [line["loss"] for line in untimed_log(folder)]
        np.testing.assert_allclose(found, alone.metrics.loss, rtol=1e-5)
        for one, other in zip(*map(parameters, (open_run(folder).decoder, alone.decoder)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


@pytest.mark.slow
def test_a_seed_of_a_group_is_a_run_that_goes_on_alone(trained, corpus, tmp_path):
    run = shutil.copytree(trained[1], tmp_path / "run")
    shutil.rmtree(run / "checkpoints" / "12")
    assert resume(run, corpus.folder, peak_flops=PEAK).config.seed == 6
    np.testing.assert_allclose(
        [line["loss"] for line in untimed_log(run)], [line["loss"] for line in untimed_log(trained[1])], rtol=1e-5
    )


@pytest.mark.slow
@pytest.mark.parametrize("keep", [1, 2])
def test_a_group_killed_while_it_saves_goes_on_from_a_step_that_all_have(keep, trained, corpus, tmp_path, monkeypatch):
    save = Keeper.save

    class Killed(Exception):
        pass

    def killed_at_the_second(self, step, state, kept=None):
        if step == 8 and self.folder.name == "seed-6":
            raise Killed
        save(self, step, state, kept)

    monkeypatch.setattr(Keeper, "save", killed_at_the_second)
    config = replace(RUN, keep_checkpoints=keep)
    folders = begin_group(tmp_path / "runs", config, COUNT, corpus)
    with pytest.raises(Killed):
        train_seeds(config, corpus, folders, peak_flops=PEAK)
    monkeypatch.undo()
    assert common_step(folders) == 4
    train_seeds(config, corpus, folders, peak_flops=PEAK)
    for folder, expected in zip(folders, trained, strict=True):
        assert_equal_runs(folder, expected)
        assert len(list((folder / "checkpoints").iterdir())) == keep


def test_a_seed_that_fails_is_named_with_its_folder(corpus, tmp_path, monkeypatch):
    from research.train import seeds

    require = seeds.require_finite

    def second_fails(first, metrics, index=0):
        require(first, metrics._replace(loss_finite=metrics.loss_finite & (index != 1)), index)

    monkeypatch.setattr(seeds, "require_finite", second_fails)
    folders = begin_group(tmp_path / "runs", RUN, COUNT, corpus)
    with pytest.raises(StepFailed, match=r"train --resume .*seed-6 --debug-step 1"):
        train_seeds(RUN, corpus, folders, peak_flops=PEAK)


def test_a_group_is_found_again_and_not_mixed_with_another(corpus, tmp_path):
    folders = begin_group(tmp_path / "runs", RUN, 2, corpus)
    assert is_group(tmp_path / "runs")
    assert group_folders(tmp_path / "runs") == folders == [tmp_path / "runs" / f"seed-{seed}" for seed in (5, 6)]
    assert begin_group(tmp_path / "runs", RUN, 2, corpus) == folders
    with pytest.raises(InputError, match="expected the seeds 5 to 7, got 5 to 6"):
        begin_group(tmp_path / "runs", RUN, 3, corpus)
    with pytest.raises(InputError, match="config batch_size 6, not 8"):
        begin_group(tmp_path / "runs", replace(RUN, batch_size=8), 2, corpus)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").touch()
    with pytest.raises(InputError, match=r"expected a new or empty folder, or the same seeds, got notes.txt in it"):
        begin_group(tmp_path / "other", CONFIG, 2, corpus)
