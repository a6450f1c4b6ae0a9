"""`bytebound contracts verify`: what it takes for a target, what it prints, and how it ends."""

import json
import sys

import pytest
import tyro

from experiments.command import guarded
from experiments.contracts.verify import Verify

MODULE = """
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Config:
    vocab_size: int = 7
    reach: int = 0


def make_decoder(config: Config, scale: float = 1.0):
    table = jnp.asarray(np.random.default_rng(0).normal(size=(config.vocab_size, config.vocab_size)), jnp.float32)

    def decoder(tokens):
        return scale * (table[tokens] + config.reach * jnp.roll(table[tokens], -1, axis=1))

    return decoder


def logits(tokens):
    return make_decoder(Config())(tokens)


def make_with_seeds(rngs, key):
    assert rngs.params() is not None and key.shape == ()
    return logits


def fails():
    raise RuntimeError("no such weights")


class Bytes:
    vocab_size = 256

    def encode(self, text):
        return list(text.encode())

    def decode(self, ids):
        return bytes(ids).decode()


class Stripping(Bytes):
    def encode(self, text):
        return list(text.strip().encode())


ready = Bytes()
"""

FEW = ("--examples", "10", "--seconds", "3")


@pytest.fixture
def verify(tmp_path, monkeypatch, capsys):
    """`verify("verified:Bytes", ...)` in a folder that holds `verified.py`: exit code, output, errors."""
    (tmp_path / "verified.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delitem(sys.modules, "verified", raising=False)

    def run(*arguments):
        code = 0
        try:
            guarded(tyro.cli(Verify, args=[arguments[0], *FEW, *arguments[1:]]).run)
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        assert [path.name for path in tmp_path.iterdir() if path.suffix not in (".json", ".toml")] == ["verified.py"]
        return code, captured.out, captured.err

    return run


def test_a_class_an_object_and_a_tokenizers_name_are_taken(verify):
    for target in ("verified:Bytes", "verified:ready", "bytes"):
        code, output, _ = verify(target, "--skip", "takes-every-text", "round-trip")
        assert code == 0, output
        assert output.splitlines()[-1].startswith(f"{target}: ")


def test_a_broken_law_is_exit_code_1_with_the_law_and_the_counterexample(verify):
    code, output, _ = verify("verified:Stripping", "--only", "round-trip", "integer-ids")
    assert code == 1
    kept, broken, law, summary = output.splitlines()
    assert kept.split()[:2] == ["kept", "integer-ids"]
    assert broken == r"  broken          round-trip                          decode(encode('\t')) is ''"
    assert law.startswith("                  the law: Decoding the ids of a text gives the text: nothing is ")
    assert summary == "verified:Stripping: 1 broken, 1 kept"


def test_json_is_the_whole_report(verify):
    code, output, _ = verify("verified:Stripping", "--only", "round-trip", "--json")
    report = json.loads(output)
    assert code == 1
    assert report["subject"] == "verified:Stripping"
    assert [(o["law"], o["verdict"]) for o in report["outcomes"]] == [("round-trip", "broken")]


def test_settings_reach_a_factory_and_the_dataclass_that_it_takes(verify, tmp_path):
    causal = ("--only", "causality")
    assert verify("verified:make_decoder", *causal)[0] == 0
    code, output, _ = verify("verified:make_decoder", "--config", "reach=1", "vocab_size=5", "scale=2.5", *causal)
    assert code == 1
    assert "token 1 of [0, 0, 0, 0, 0, 0, 0] set to 1 moves the logits of position 0" in output
    (tmp_path / "leaky.json").write_text('{"reach": 1}')
    (tmp_path / "leaky.toml").write_text("reach = 1")
    assert verify("verified:make_decoder", "--config", "leaky.json", *causal)[0] == 1
    assert verify("verified:make_decoder", "--config", "leaky.toml", "reach=0", *causal)[0] == 0


def test_a_function_of_tokens_is_the_decoder_and_seeds_are_given_to_a_factory_that_asks(verify):
    assert verify("verified:logits", "--only", "causality")[0] == 0
    assert verify("verified:make_with_seeds", "--only", "shape")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nowhere:thing"], "target: expected a module that can be imported, got 'nowhere:thing'"),
        (["verified:nothing"], "target: expected verified to have nothing, got 'verified:nothing'"),
        (["verified:"], "target: expected verified to have a NAME"),
        (["verified"], "target: expected MODULE:NAME, or a tokenizer's name or file, got 'verified'"),
        (
            ["verified:fails"],
            "verified:fails: expected to be made with these settings, got RuntimeError: no such weights",
        ),
        (["verified:MODULE", "--only", "x"], "target: expected verified to have MODULE"),
        (["verified:ready", "--config", "a=1"], "--config: expected none, for an object that is made already, got a=1"),
        (["verified:ready", "--only", "trip"], "law: expected one of takes-every-text"),
        (["verified:make_decoder", "--config", "width=1"], "--config: expected settings that it takes (config, scale)"),
        (
            ["verified:make_decoder", "--config", "width"],
            "--config: expected NAME=VALUE or a JSON or TOML file, got width",
        ),
        (["sys:version"], "sys:version: expected a tokenizer with encode, decode and vocab_size, got no decode"),
        (["sys:maxsize"], "sys:maxsize: expected a function from tokens to logits"),
        (["verified:ready", "--examples", "0"], "effort: expected at least one example"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(verify, arguments, expected):
    code, output, errors = verify(*arguments)
    assert code == 2
    assert expected in errors
    assert len(errors.splitlines()) == 1
    assert output == ""
