"""`contracts check`: a decoder that is what the specs say is kept, and each planted fault is broken where it shows."""

import dataclasses
import json
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest
from flax import nnx

from contracts.decoder import DecoderConfig
from contracts.errors import InputError
from experiments.contracts.check import CheckConfig
from experiments.contracts.configs import PRESETS
from experiments.contracts.examine import DISTINCT, DISTINCT_BATCH, LOOP_LAYERS, examine, stand_ins
from research.model import Attention, Decoder

SMALL = DecoderConfig(n_layers=1, d_model=64, n_heads=4, n_kv_heads=4, head_dim=16, d_ff=128)


def broken(checks):
    """What was found broken, and the problems."""
    return {check.what: "\n".join(check.problems) for check in checks if check.problems}


def with_mixer(mixer):
    return lambda config, rngs: Decoder(config, rngs=rngs, mixer=mixer)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"tied": True, "remat": True},
        {"scan_layers": True, "remat": True},
        {"param_dtype": "bfloat16", "compute_dtype": "bfloat16"},
        {"n_kv_heads": 1, "head_dim": 6},
        {"n_layers": LOOP_LAYERS + 1, "n_kv_heads": 2},
        {"context_length": 1},
    ],
)
def test_the_decoder_keeps_the_contract_in_every_structure(change):
    assert broken(examine(dataclasses.replace(SMALL, **change))) == {}


def test_the_distinct_sizes_are_distinct():
    sizes = [*DISTINCT.values(), *DISTINCT_BATCH, 64]
    sizes += [DISTINCT["n_heads"] * DISTINCT["head_dim"], DISTINCT["n_kv_heads"] * DISTINCT["head_dim"]]
    assert len(set(sizes)) == len(sizes)
    length = DISTINCT_BATCH[1]
    assert all(length % divisor for divisor in range(2, length))


def test_a_deep_decoder_is_traced_whole_as_a_scan_and_short_as_a_loop():
    deep = dataclasses.replace(SMALL, n_layers=126)
    whole, loop, distinct = (config for _, config in stand_ins(deep, every_layer=False))
    assert (whole.n_layers, whole.scan_layers, loop.n_layers, loop.scan_layers) == (126, True, 2, False)
    assert not distinct.scan_layers
    assert next(config for _, config in stand_ins(deep, every_layer=True)) == deep


class DropsAPosition(Attention):
    def __call__(self, x, positions, segments):
        return Attention.__call__(self, x, positions, segments)[:, :-1]


class NeedsMultiplesOfFour(Attention):
    def __call__(self, x, positions, segments):
        rows, length, width = x.shape
        mixed = Attention.__call__(self, x, positions, segments)
        return mixed.reshape(rows, length // 4, 4, width).reshape(rows, length, width)


class SwapsBatchAndLength(Attention):
    def __call__(self, x, positions, segments):
        return jnp.swapaxes(Attention.__call__(self, x, positions, segments), 0, 1)


@pytest.mark.needs_contracts
@pytest.mark.parametrize("mixer", [DropsAPosition, SwapsBatchAndLength])
def test_a_mixer_of_the_wrong_shape_is_broken_for_every_batch(mixer):
    found = broken(examine(SMALL, with_mixer(mixer)))
    assert "because" in found["shapes, any B and T, every layer"]
    assert "because" in found["shapes, any B and T, distinct sizes"]


def test_a_length_that_must_be_a_multiple_of_four_shows_at_distinct_sizes():
    found = broken(examine(SMALL, with_mixer(NeedsMultiplesOfFour)))
    assert "shapes, B = 5, T = 7, distinct sizes" in found


def planted(change):
    """A decoder that is changed after it was made."""

    def make(config, rngs):
        model = Decoder(config, rngs=rngs)
        change(model, config)
        return model

    return make


def transpose_query(model, config):
    for block in model.blocks:
        block.mixer.query.kernel = nnx.Param(block.mixer.query.kernel[...].T)


def off_by_one(model, config):
    model.norm.scale = nnx.Param(jnp.ones(config.d_model + 1))


def another_parameter(model, config):
    model.bias = nnx.Param(jnp.zeros(config.vocab_size))


def random_state(model, config):
    model.dropout = nnx.Dropout(0.1, rngs=nnx.Rngs(0))


def half_precision(model, config):
    model.embed.embedding = nnx.Param(model.embed.embedding[...].astype(jnp.float16))


def test_a_transposed_kernel_that_is_square_shows_at_distinct_sizes():
    found = broken(examine(SMALL, planted(transpose_query)))
    assert "parameters, every layer" not in found
    assert (
        found["parameters, distinct sizes"]
        == "blocks.*.mixer.query.kernel: [60,44], not [44,60] = D H*K, in layers 0-1"
    )


def test_parameters_are_held_to_the_table_both_ways_and_all_at_once():
    def change(model, config):
        for fault in (another_parameter, half_precision, random_state, off_by_one):
            fault(model, config)
        model.head = nnx.Sequential()

    problems = broken(examine(SMALL, planted(change)))["parameters, every layer"].splitlines()
    assert set(problems) >= {
        "bias: unexpected float32[257]",
        "embed.embedding: float16, not float32 (config.param_dtype)",
        "norm.scale: [65], not [64] = D",
        "head.kernel: missing float32[64,257] = D V",
    }
    assert any(problem.startswith("dropout.rngs") for problem in problems)


def test_the_count_is_held_to_formula_and_table():
    found = broken(examine(SMALL, planted(another_parameter)))
    count = (4 * 64 * 64 + 3 * 64 * 128 + 2 * 64) + 64 + 2 * 257 * 64
    assert found["count"] == f"{count:,} by formula, {count:,} by table, {count + 257:,} by tracing"


def test_a_weight_that_is_allocated_is_noticed():
    kept = []

    def allocate(model, config):
        with jax.ensure_compile_time_eval():
            kept.append(jnp.ones(1000))

    assert "bytes allocated" in broken(examine(SMALL, planted(allocate)))["memory"]


def test_logits_of_another_dtype_are_broken_even_where_no_contract_is():
    class HalfLogits(Decoder):
        def __call__(self, tokens):
            return Decoder.__call__(self, tokens).astype(jnp.bfloat16)

    found = broken(examine(SMALL, HalfLogits))
    assert found["shapes, any B and T, distinct sizes"] == "int32[b, t] -> bfloat16[b, t, 257], not float32[b, t, 257]"


def test_a_decoder_that_cant_be_built_is_broken_and_not_a_crash():
    def make(config, rngs):
        raise ValueError("no\nway")

    assert broken(examine(SMALL, make))["build, distinct sizes"] == "ValueError: no"


@pytest.mark.needs_contracts
def test_the_command_says_kept_with_the_count(capsys):
    CheckConfig(config=("n_layers=1",), devices=8).run()
    output = capsys.readouterr().out
    assert f"{257 * 256 * 2 + 4 * 256 * 256 + 3 * 256 * 1024 + 3 * 256:,} parameters by formula" in output
    assert "mesh    embed.embedding [257, 256]: D = 256 over 8; V = 257 does not divide" in output
    assert "BROKEN" not in output


@pytest.mark.needs_contracts
def test_the_command_reports_all_conflicts_traces_nothing_and_ends_with_1(capsys):
    with pytest.raises(SystemExit) as stop:
        CheckConfig(config=("head_dim=7", "n_kv_heads=3"), tokenizer="bytes", boundary="separate", json=True).run()
    report = json.loads(capsys.readouterr().out)
    assert stop.value.code == 1
    assert [len(check["problems"]) for check in report["checks"]] == [4]


@pytest.mark.needs_contracts
@pytest.mark.parametrize(
    ("arguments", "subject"),
    [
        ({"preset": "gpt5"}, "--preset"),
        ({"devices": 0}, "--devices"),
        ({"positions": -1}, "--positions"),
        ({"tokenizer": "nowhere.json"}, "tokenizer"),
        ({"boundary": "both"}, "--boundary"),
    ],
)
def test_bad_arguments_are_bad_input(arguments, subject):
    with pytest.raises(InputError, match=f"^{subject}"):
        CheckConfig(**arguments).run()


def test_help_needs_no_jax():
    program = (
        "import sys, tyro\n"
        "from experiments.contracts.check import CheckConfig\n"
        "from experiments.contracts.diff import DiffContracts\n"
        "from experiments.contracts.listing import ListContracts\n"
        "try: tyro.cli(CheckConfig | DiffContracts | ListContracts, args=['check-config', '--help'])\n"
        "except SystemExit: pass\nassert not {'jax', 'numpy'} & set(sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert all(name in run.stdout for name in PRESETS)


@pytest.mark.needs_contracts
@pytest.mark.slow
@pytest.mark.parametrize("preset", ["llama-2-7b", "llama-3-405b"])
def test_a_large_model_is_checked_in_seconds_without_its_memory(preset):
    program = f"from experiments.contracts.check import CheckConfig\nCheckConfig(preset={preset!r}, json=True).run()"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    report = json.loads(run.stdout)
    assert report["peak_megabytes"] is None or report["peak_megabytes"] < 300
    assert report["seconds"] < 30
    assert not any(check["problems"] for check in report["checks"])
