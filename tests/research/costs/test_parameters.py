"""Parameters by formula, against naive sums, published models and the statement of the origin documents."""

import dataclasses
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.decoder import DecoderConfig
from contracts.errors import InputError
from research.costs import DecoderShape, boundary_parameters, decoder_parameters, token_parameters

configs = st.from_type(DecoderConfig)


def test_one_shared_boundary_costs_32_parameters_less_than_two_at_width_16() -> None:
    shared = token_parameters(257, d_model=16, tied=False)
    separate = token_parameters(258, d_model=16, tied=False)
    assert (shared, separate, separate - shared) == (8_224, 8_256, 32)


@pytest.mark.parametrize(("tied", "parameters"), [(True, 768), (False, 1_536)])
def test_one_more_special_id_at_the_width_of_gpt2_costs_768_tied_and_twice_that_untied(tied, parameters) -> None:
    assert boundary_parameters(1, d_model=768, tied=tied) == parameters


@given(configs, st.integers(0, 5))
def test_a_boundary_costs_what_its_ids_add_to_the_whole_decoder(config, n_protocol) -> None:
    larger = replace(config, vocab_size=config.vocab_size + n_protocol)
    added = decoder_parameters(larger).total - decoder_parameters(config).total
    assert added == boundary_parameters(n_protocol, config.d_model, config.tied)


@given(configs)
def test_the_total_is_the_sum_of_the_matrices_and_scales_written_out(config) -> None:
    queries, keys = config.n_heads * config.head_dim, config.n_kv_heads * config.head_dim
    width = config.d_model
    layer = [(width, queries), (width, keys), (width, keys), (queries, width), (width, 1), (width, 1)]
    layer += [(width, config.d_ff), (width, config.d_ff), (config.d_ff, width)]
    outer = [(config.vocab_size, width), (width, 1)] + ([] if config.tied else [(width, config.vocab_size)])
    assert decoder_parameters(config).total == sum(m * n for m, n in layer * config.n_layers + outer)


def test_groups_that_do_not_add_up_to_the_total_are_refused() -> None:
    parameters = decoder_parameters(DecoderConfig())
    with pytest.raises(AssertionError, match="do not add up"):
        dataclasses.replace(parameters, head=parameters.head + 1)


# Sizes as published in each model's configuration and weights; the architectures are this decoder's exactly.
@pytest.mark.parametrize(
    ("total", "config"),
    [
        pytest.param(
            6_738_415_616,
            DecoderConfig(
                vocab_size=32_000, d_model=4_096, n_layers=32, n_heads=32, n_kv_heads=32, head_dim=128, d_ff=11_008
            ),
            id="Llama 2 7B",
        ),
        pytest.param(
            8_030_261_248,
            DecoderConfig(
                vocab_size=128_256, d_model=4_096, n_layers=32, n_heads=32, n_kv_heads=8, head_dim=128, d_ff=14_336
            ),
            id="Llama 3 8B",
        ),
        pytest.param(
            1_100_048_384,
            DecoderConfig(
                vocab_size=32_000, d_model=2_048, n_layers=22, n_heads=32, n_kv_heads=4, head_dim=64, d_ff=5_632
            ),
            id="TinyLlama 1.1B",
        ),
        pytest.param(
            134_515_008,
            DecoderConfig(
                vocab_size=49_152,
                d_model=576,
                n_layers=30,
                n_heads=9,
                n_kv_heads=3,
                head_dim=64,
                d_ff=1_536,
                tied=True,
            ),
            id="SmolLM 135M",
        ),
    ],
)
def test_the_formula_gives_the_size_of_published_models(total, config) -> None:
    assert decoder_parameters(config).total == total


def test_a_negative_number_of_ids_is_refused() -> None:
    with pytest.raises(InputError, match="vocab_size: expected at least 0, got -1"):
        token_parameters(-1, 16, tied=False)


def test_a_decoder_config_is_a_shape() -> None:
    assert isinstance(DecoderConfig(), DecoderShape)


def test_the_formulas_import_without_jax() -> None:
    program = "import sys, research.costs; print('jax' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"
