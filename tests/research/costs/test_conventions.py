"""Every published convention against its publication, on GPT-2 124M and on Chinchilla's and PaLM's own models."""

import pytest

from research.costs import CONVENTIONS, GPT2_124M, ModelShape, model_flops_utilization
from research.costs.conventions import chinchilla_parameters, chinchilla_table_a4, six_n_plus_attention
from research.costs.gpt2 import gpt2_biases, gpt2_flops, gpt2_parameters

MEGAFLOPS_PER_TOKEN = {
    "kaplan": 509.61,
    "kaplan_with_context": 566.23,
    "lingua": 575.67,
    "torchtitan_untied": 622.97,
    "chinchilla_table_a4": 624.18,
    "cookbook_without_checkpointing": 700.05,
    "kaplan_table_1": 797.82,
    "maxtext_causal": 797.82,
    "exact_causal": 797.87,
    "nanogpt": 854.44,
    "nanochat": 854.44,
    "palm": 854.55,
    "levanter": 855.77,
    "torchtitan_tied": 859.27,
    "cookbook": 907.67,
    "chinchilla_appendix_f": 1_087.35,
}


def test_gpt2_parameters_are_the_published_ones() -> None:
    parameters = gpt2_parameters(GPT2_124M)
    assert parameters.total == 124_337_664
    assert parameters.total + gpt2_biases(GPT2_124M) == 124_439_808
    assert parameters.token_embedding == 38_597_376
    assert round(100 * parameters.token_embedding / parameters.total, 2) == 31.04
    assert parameters.position_embedding == 786_432
    assert (parameters.block, parameters.blocks, parameters.final_norm) == (7_079_424, 84_953_088, 768)


def test_gpt2_forward_flops_are_the_published_ones() -> None:
    flops = gpt2_flops(GPT2_124M)
    assert (flops.qkv, flops.scores, flops.weighted_sum) == (3_623_878_656, 1_610_612_736, 1_610_612_736)
    assert (flops.attention, flops.mlp, flops.block) == (8_053_063_680, 9_663_676_416, 17_716_740_096)
    assert flops.logits == 79_047_426_048
    assert round(100 * flops.logits / flops.forward, 1) == 27.1
    assert (flops.forward, flops.training) == (291_648_307_200, 874_944_921_600)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_convention_gives_its_published_value_on_gpt2(name) -> None:
    assert round(CONVENTIONS[name](GPT2_124M) / 1e6, 2) == MEGAFLOPS_PER_TOKEN[name]


def test_every_published_value_has_its_convention() -> None:
    assert set(MEGAFLOPS_PER_TOKEN) == set(CONVENTIONS)


def test_the_conventions_differ_by_a_factor_of_2_1_on_one_model() -> None:
    values = [convention(GPT2_124M) for convention in CONVENTIONS.values()]
    assert round(max(values) / min(values), 1) == 2.1


def test_palm_and_every_matmul_agree_to_one_in_ten_thousand_on_gpt2() -> None:
    """nanoGPT prints 875,062,886,400 for a sequence, and a ratio of 1.0001."""
    palm, exact = CONVENTIONS["palm"](GPT2_124M), CONVENTIONS["nanogpt"](GPT2_124M)
    assert palm * GPT2_124M.context_length == 875_062_886_400
    assert round(palm / exact, 4) == 1.0001


@pytest.mark.parametrize(
    ("n_layers", "d_model", "d_ff", "n_heads", "head_dim", "ratio"),
    [
        (10, 640, 2_560, 10, 64, 1.03),
        (20, 1_024, 4_096, 16, 64, 1.10),
        (24, 1_280, 5_120, 10, 128, 1.08),
        (26, 1_792, 7_168, 14, 128, 1.04),
        (28, 2_048, 8_192, 16, 128, 1.03),
        (40, 3_584, 14_336, 28, 128, 0.99),
    ],
)
def test_chinchilla_table_a4_comes_out_row_by_row(n_layers, d_model, d_ff, n_heads, head_dim, ratio) -> None:
    shape = ModelShape(n_layers, d_model, n_heads, head_dim, d_ff, vocab_size=32_000, context_length=2_048)
    assert round(chinchilla_table_a4(shape) / (6 * chinchilla_parameters(shape)), 2) == ratio


def test_the_printed_formula_of_chinchilla_does_not_give_its_printed_table() -> None:
    smallest = ModelShape(10, 640, 10, 64, 2_560, vocab_size=32_000, context_length=2_048)
    literal = CONVENTIONS["chinchilla_appendix_f"](smallest) / (6 * chinchilla_parameters(smallest))
    assert round(literal, 2) == 1.58


def test_palm_540b_reached_46_2_percent_of_its_hardware_and_45_7_without_attention() -> None:
    """238.3 thousand tokens a second on 6,144 TPU v4 of 275 TFLOP/s (2204.02311, section 4.1 and appendix B)."""
    parameters, peak = 540_350_000_000, 6_144 * 275e12
    shape = ModelShape(118, 18_432, 48, 256, 4 * 18_432, vocab_size=256_000, context_length=2_048)
    with_attention = model_flops_utilization(238.3e3, six_n_plus_attention(parameters, shape), peak)
    without = model_flops_utilization(238.3e3, 6 * parameters, peak)
    assert (round(100 * with_attention, 1), round(100 * without, 1)) == (46.2, 45.7)
