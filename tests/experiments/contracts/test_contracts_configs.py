"""A config from the command line is read with every complaint at once; what conflicts in it likewise."""

import json

import pytest

from contracts.decoder import DecoderConfig
from contracts.errors import InputError
from experiments.contracts.configs import PRESETS, config_values
from experiments.contracts.conflicts import conflicts, remarks
from research.costs import decoder_parameters
from research.tokenizers import ByteTokenizer


@pytest.mark.parametrize(
    ("preset", "parameters"),
    [
        ("smollm2-135m", 134_515_008),
        ("tinyllama-1.1b", 1_100_048_384),
        ("llama-2-7b", 6_738_415_616),
        ("mistral-7b", 7_241_732_096),
        ("llama-3-8b", 8_030_261_248),
        ("llama-3-70b", 70_553_706_496),
        ("llama-3-405b", 405_853_388_800),
    ],
)
def test_a_preset_has_the_parameters_of_the_published_checkpoint(preset, parameters):
    assert decoder_parameters(DecoderConfig(**config_values([preset]))).total == parameters


def test_tiny_is_the_default_config():
    assert DecoderConfig(**config_values(["tiny"])) == DecoderConfig() == DecoderConfig(**config_values([]))
    assert "tiny" in PRESETS


def test_later_terms_win_and_text_becomes_the_type_of_its_field():
    values = config_values(["llama-2-7b", "d_model=512,tied=true", "rope_theta=5e5", "d_model=1_024"])
    assert (values["d_model"], values["tied"], values["rope_theta"]) == (1024, True, 500_000.0)
    assert values["n_layers"] == 32


@pytest.mark.parametrize("name", ["a.json", "a,b.toml"])
def test_a_file_gives_fields_and_may_hold_more_than_a_config(tmp_path, name):
    path = tmp_path / name
    fields = {"d_model": 64, "tied": True, "rope_theta": 500}
    toml = '[config]\nd_model = 64\ntied = true\nrope_theta = 500\n[other]\nx = "y"\n'
    path.write_text(json.dumps({"config": fields, "step": 3}) if name.endswith("json") else toml)
    values = config_values([str(path), "d_ff=7"])
    assert (values["d_model"], values["tied"], values["rope_theta"], values["d_ff"]) == (64, True, 500.0, 7)


def test_every_term_that_is_wrong_is_named_at_once():
    with pytest.raises(InputError) as error:
        config_values(["d_modell=512", "n_layers=many", "tied=maybe", "d_ff=1.5"])
    for complaint in ("did you mean d_model?", "n_layers = 'many', which is no int", "tied = 'maybe'", "d_ff = '1.5'"):
        assert complaint in str(error.value)


@pytest.mark.parametrize(
    ("content", "complaint"), [("[1]", "expected an object"), ("{", "a.json"), ('{"config": 3}', "got int")]
)
def test_a_file_without_fields_is_refused(tmp_path, content, complaint):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(InputError, match=complaint):
        config_values([str(tmp_path / "a.json")])


@pytest.mark.parametrize("value", [True, "x", None, 1.5])
def test_a_file_is_held_to_the_types_of_the_fields(tmp_path, value):
    (tmp_path / "a.json").write_text(json.dumps({"d_model": value}))
    with pytest.raises(InputError, match="d_model"):
        config_values([str(tmp_path / "a.json")])


def test_a_term_that_is_nothing_is_refused_with_the_presets():
    with pytest.raises(InputError, match=r"got gpt5; presets: tiny, .*llama-3-405b"):
        config_values(["gpt5"])


def test_conflicts_inside_and_with_the_outside_are_reported_together():
    values = config_values(["head_dim=7,n_heads=4,n_kv_heads=3,context_length=64"])
    assert conflicts(values, ByteTokenizer("separate"), positions=65) == [
        "head_dim = 7 is odd, but rotary embedding turns pairs",
        "n_heads = 4 is not a multiple of n_kv_heads = 3",
        "vocab_size = 257, but the tokenizer has 258 ids (256 text tokens and 2 protocol tokens)",
        "the id 257 of eos is not below vocab_size = 257",
        "rows of 65 positions are longer than context_length = 64",
    ]


def test_what_fits_conflicts_in_nothing():
    values = config_values(["context_length=64"])
    assert conflicts(values, ByteTokenizer("shared"), "shared", positions=64) == []
    assert conflicts(values, boundary="shared") == []


@pytest.mark.parametrize(("boundary", "least"), [("shared", 257), ("separate", 258), ("bos", 257), ("none", 256)])
def test_a_vocabulary_needs_room_for_the_bytes_and_the_boundary_policy(boundary, least):
    assert conflicts(config_values([f"vocab_size={least}"]), boundary=boundary) == []
    (conflict,) = conflicts(config_values([f"vocab_size={least - 1}"]), boundary=boundary)
    assert conflict.endswith(f"at least {least}")


def test_an_unknown_boundary_policy_is_bad_input():
    with pytest.raises(InputError, match="--boundary"):
        conflicts(config_values([]), boundary="both")


@pytest.mark.parametrize(("head_dim", "said"), [(64, "is d_model"), (32, "is not d_model = 256: allowed")])
def test_the_width_of_all_heads_is_compared_with_the_width_of_the_model(head_dim, said):
    (remark,) = remarks(DecoderConfig(head_dim=head_dim))
    assert said in remark
