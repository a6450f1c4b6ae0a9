"""Errors are one line for a person; the specification is data whose digest follows meaning and nothing else."""

import importlib
import pickle
from pathlib import Path

import pytest

import contracts
from contracts.decoder import DecoderConfig
from contracts.dims import Dim
from contracts.errors import ContractError, InputError, ShapeError
from contracts.specification import SPEC_MODULES, canonical_json, digest, protocols_of, specification


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
    assert decoder["dataclasses"]["DecoderConfig"]["d_model"] == {"type": "int", "dim": "D", "default": "256"}
    assert decoder["protocols"]["Mixer"]["config"] == {"type": "DecoderConfig"}
    call = decoder["protocols"]["LanguageModel"]["__call__"]
    assert call["takes"][:2] == [["tokens", 'Int32["B T"]'], ["segments", 'Int32["B T"] | None', "None"]]
    assert call["returns"] == 'Float32["B T V"]'


def test_the_specification_holds_what_ids_and_weights_depend_on():
    spec = specification()
    assert spec["contracts.tokenizer"]["tables"]["PROTOCOL_NAMES"]["separate"] == ["bos", "eos"]
    assert spec["contracts.tokenizer"]["choices"]["TieBreak"] == ["'smallest-ids'", "'largest-bytes'"]
    assert spec["contracts.parameters"]["tables"]["PARAMETERS"]["blocks.*.mixer.query.kernel"] == "D H*K"
    assert spec["contracts.parameters"]["dataclasses"]["Parameter"]["shape"] == {"type": "tuple[int, ...]"}


def test_what_a_module_imports_is_not_its_own():
    spec = specification()
    assert "V" in spec["contracts.tokenizer"]["dims"]
    for name, module in spec.items():
        assert (name == "contracts.tokenizer") == ("Boundary" in module["choices"])


def test_every_module_of_contracts_that_declares_something_is_a_spec():
    for path in sorted(Path(contracts.__file__).parent.glob("*.py")):
        name = f"contracts.{path.stem}"
        module = importlib.import_module(name)
        declares = [value for value in vars(module).values() if isinstance(value, Dim)] + list(protocols_of(module))
        if path.stem != "__init__" and declares:
            assert name in SPEC_MODULES, f"{name} declares {declares}"


def test_the_digest_changes_with_an_alias_and_not_with_the_order_of_keys():
    spec = specification()
    assert digest(spec) == digest(dict(reversed(list(spec.items()))))
    changed = {**spec, "contracts.decoder": {**spec["contracts.decoder"], "aliases": {}}}
    assert digest(changed) != digest(spec)
    assert "\n" not in canonical_json(spec)
