"""Errors are one line for a person; the specification is data whose digest follows meaning and nothing else."""

import pickle

import pytest

from contracts.decoder import DecoderConfig
from contracts.errors import ContractError, InputError, ShapeError
from contracts.specification import canonical_json, digest, specification


def test_bad_input_is_one_line_whatever_came():
    error = InputError("file", expected="UTF-8", got="a\nb", where="line 1", hint="convert it")
    assert str(error) == "file: expected UTF-8, got a b at line 1; convert it"


def test_bad_input_survives_a_process_boundary():
    error = pickle.loads(pickle.dumps(InputError("file", expected="UTF-8", got="latin-1")))
    assert isinstance(error, InputError)
    assert str(error) == "file: expected UTF-8, got latin-1"


def test_bugs_and_bad_input_are_different_kinds():
    assert issubclass(ShapeError, (ContractError, TypeError))
    assert issubclass(InputError, (ContractError, ValueError))
    assert not issubclass(InputError, ShapeError)


def test_every_conflict_of_a_config_is_reported_at_once():
    with pytest.raises(InputError) as caught:
        DecoderConfig(head_dim=7, n_heads=4, n_kv_heads=3, rope_theta=-1.0)
    assert "head_dim = 7 is odd" in str(caught.value)
    assert "n_heads = 4 is not a multiple of n_kv_heads = 3" in str(caught.value)
    assert "rope_theta = -1.0" in str(caught.value)


def test_the_specification_holds_the_decoders_words():
    decoder = specification()["contracts.decoder"]
    assert decoder["aliases"]["Hidden"] == 'Float["B T D"]'
    assert decoder["dataclasses"]["DecoderConfig"]["d_model"].startswith("int as D")
    assert decoder["protocols"]["Mixer"]["__call__"].endswith('-> Float["B T D"]')


def test_the_digest_changes_with_an_alias_and_not_with_the_order_of_keys():
    spec = specification()
    assert digest(spec) == digest(dict(reversed(list(spec.items()))))
    changed = {**spec, "contracts.decoder": {**spec["contracts.decoder"], "aliases": {}}}
    assert digest(changed) != digest(spec)
    assert "\n" not in canonical_json(spec)
