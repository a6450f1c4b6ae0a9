"""A checkpoint is read only if it is whole and of what is asked for; what differs is told at once, and first."""

import json
import os
import shutil
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_run import CONFIG, DECODER, TOKENIZER, tiny

from contracts.errors import InputError
from contracts.specification import digest
from research.model import Decoder
from research.train import checkpoint
from research.train.checkpoint import (
    finished_steps,
    load_state,
    manifest_of,
    read_checkpoint_manifest,
    require_expected,
    require_whole,
    save_checkpoint,
)
from research.train.step import first_state


def state_of(config):
    return jax.jit(lambda: first_state(config, Decoder))()


@pytest.fixture(scope="session")
def state():
    return state_of(CONFIG)


@pytest.fixture(scope="session")
def expected(state):
    return manifest_of(CONFIG, TOKENIZER.identity, state, 3)


@pytest.fixture(scope="session")
def saved(state, expected, tmp_path_factory):
    """A checkpoint after step 3. Tests leave it as it is."""
    folder = tmp_path_factory.mktemp("checkpoints")
    save_checkpoint(folder, expected, state, keep=1)
    return folder / "3"


@pytest.fixture
def copied(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "3")


def edit(path, change):
    """Change the manifest as a person with an editor would."""
    data = json.loads((path / "manifest.json").read_text())
    change(data)
    (path / "manifest.json").write_text(json.dumps(data))


def refusal(path, expected):
    with pytest.raises(InputError) as caught:
        require_expected(path, read_checkpoint_manifest(path), expected)
    return str(caught.value)


def test_a_state_comes_back_bit_for_bit(saved, state, expected):
    require_expected(saved, read_checkpoint_manifest(saved), expected)
    require_whole(saved)
    found = load_state(saved, jax.eval_shape(lambda: state))
    assert jax.tree.structure(found) == jax.tree.structure(state)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(state), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("version", "byte-bpe-v1", "tokenizer version 'byte-bpe-v1', not 'utf8-byte-v1'"),
        ("vocab_size", 258, "tokenizer vocab_size 258, not 257"),
        ("protocol", {"doc": 255}, "tokenizer protocol {'doc': 255}, not {'doc': 256}"),
        ("vocab_sha256", "0" * 64, f"tokenizer vocab_sha256 '{'0' * 64}', not 'dc69561d"),
    ],
)
def test_each_part_of_the_tokenizers_identity_alone_is_refused(field, value, told, copied, expected):
    edit(copied, lambda data: data["tokenizer"].update({field: value}))
    message = refusal(copied, expected)
    assert told in message
    assert message.count(", not ") == 1


def test_a_config_that_differs_is_refused_by_field(copied, expected):
    edit(copied, lambda data: data["config"]["optimizer"].update(beta2=0.99))
    assert "config optimizer.beta2 0.99, not 0.95" in refusal(copied, expected)


def test_contracts_that_changed_are_refused_only_if_weights_or_tokens_break(copied, expected):
    def set_specification(change):
        def both(data):
            change(data["specification"])
            data["contracts_sha256"] = digest(data["specification"])

        return both

    edit(copied, set_specification(lambda spec: spec["contracts.results"]["dataclasses"].pop("Row")))
    require_expected(copied, read_checkpoint_manifest(copied), expected)
    axes = {"embed.embedding": "D V"}
    edit(copied, set_specification(lambda spec: spec["contracts.parameters"]["tables"]["PARAMETERS"].update(axes)))
    assert "contracts contracts.parameters" in refusal(copied, expected)


def test_contracts_whose_digest_is_of_others_are_refused(copied, expected):
    edit(copied, lambda data: data.update(contracts_sha256="0" * 64))
    assert "contracts: their digest is not that of the specification beside it" in refusal(copied, expected)


def test_parameters_are_compared_in_both_directions(copied, expected):
    def change(data):
        params = data["params"]
        params["blocks.7.extra"] = {"shape": [2], "dtype": "float32"}
        del params["norm.scale"]
        params["embed.embedding"]["shape"] = [24, 257]
        params["head.kernel"]["dtype"] = "bfloat16"

    edit(copied, change)
    message = refusal(copied, expected)
    for told in (
        "blocks.*.extra: unexpected float32[2], in layer 7",
        "norm.scale: missing float32[24] = D",
        "embed.embedding: [24,257], not [257,24] = V D",
        "head.kernel: bfloat16, not float32 (config.param_dtype)",
        "stored params norm.scale: float32[24], not nothing",
    ):
        assert told in message


def test_one_layer_into_three_is_told_before_a_weight_is_read(saved, monkeypatch):
    deep = tiny(decoder=replace(DECODER, n_layers=3))
    state = jax.eval_shape(lambda: state_of(deep))
    monkeypatch.setattr(checkpoint, "_load", lambda *arguments: pytest.fail("a weight was read"))
    message = refusal(saved, manifest_of(deep, TOKENIZER.identity, state, 3))
    assert "config decoder.n_layers 1, not 3" in message
    assert "blocks.*.mixer.query.kernel: missing float32[24,16] = D H*K, in layers 1-2" in message


def test_an_optimizer_of_another_form_is_refused(copied, expected):
    edit(copied, lambda data: data["optimizer"].pop("step"))
    assert "optimizer step: nothing, not int32[]" in refusal(copied, expected)


def test_every_difference_is_told_at_once(copied, expected):
    def change(data):
        data["tokenizer"]["vocab_size"] = 258
        data["config"]["seed"] = 9
        data["contracts_sha256"] = "0"
        data["params"].pop("norm.scale")

    edit(copied, change)
    message = refusal(copied, expected)
    assert all(told in message for told in ("vocab_size 258", "config seed 9", "contracts:", "norm.scale: missing"))
    assert "\n" not in message


def test_a_checkpoint_with_any_file_cut_changed_or_gone_is_refused(saved, tmp_path):
    names = [path.relative_to(saved) for path in saved.rglob("*") if path.is_file() and path.name != "files.json"]
    assert len(names) > 10

    def cut(file):
        file.write_bytes(file.read_bytes()[:-1])

    def flip(file):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(bytes(data))

    for index, name in enumerate(names):
        for damage in (cut, flip, os.unlink):
            path = shutil.copytree(saved, tmp_path / f"{index}-{damage.__name__}")
            damage(path / name)
            with pytest.raises(InputError, match="expected the files as they were written"):
                require_whole(path)
    (tmp_path / "0-cut" / "files.json").unlink()
    with pytest.raises(InputError, match="expected a readable file"):
        require_whole(tmp_path / "0-cut")


class Power(Exception):
    """It went."""


@pytest.mark.parametrize("moment", ["mkdir", "_orbax", "_digests", "replace"])
def test_a_save_that_breaks_off_leaves_the_checkpoint_before_it(moment, state, expected, tmp_path, monkeypatch):
    save_checkpoint(tmp_path, expected, state, keep=1)

    def fail(*arguments, **options):
        raise Power

    place = {"mkdir": checkpoint.Path, "replace": checkpoint.os}.get(moment, checkpoint)
    monkeypatch.setattr(place, moment, fail)
    with pytest.raises(Power):
        save_checkpoint(tmp_path, replace(expected, step=7), state, keep=1)
    monkeypatch.undo()
    assert finished_steps(tmp_path) == [3]
    require_whole(tmp_path / "3")
    save_checkpoint(tmp_path, replace(expected, step=7), state, keep=1)
    assert os.listdir(tmp_path) == ["7"]


def test_the_newest_are_kept(state, expected, tmp_path):
    for step in (4, 20, 100):
        save_checkpoint(tmp_path, replace(expected, step=step), state, keep=2)
    assert finished_steps(tmp_path) == [20, 100]


def test_bfloat16_parameters_come_back_bit_for_bit(tmp_path):
    config = tiny(decoder=replace(DECODER, param_dtype="bfloat16"))
    state = state_of(config)
    save_checkpoint(tmp_path, manifest_of(config, TOKENIZER.identity, state, 1), state, keep=1)
    found = load_state(tmp_path / "1", jax.eval_shape(lambda: state))
    for one, other in zip(jax.tree.leaves(found.params), jax.tree.leaves(state.params), strict=True):
        assert one.dtype == jnp.bfloat16
        np.testing.assert_array_equal(one, other)


def test_a_file_that_is_no_manifest_is_refused(tmp_path):
    with pytest.raises(InputError, match="expected a readable file"):
        read_checkpoint_manifest(tmp_path)
    for text in ("{", '{"format": "bytebound checkpoint 1"}', '{"format": "other"}', "[]"):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(InputError):
            read_checkpoint_manifest(tmp_path)
