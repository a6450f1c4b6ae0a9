"""The printed optima of Tao et al. 2024 (2407.13623), from their formula."""

import pytest

from contracts.errors import InputError
from research.costs.vocabulary_scaling import optimal_vocabulary, tokens_per_character, vocabulary_exponent

# non-vocabulary parameters, width, optimal vocabulary as printed by the derivative method
MODELS = [
    (33_000_000, 512, 10_322),
    (85_000_000, 768, 15_939),
    (151_000_000, 768, 24_593),
    (302_000_000, 1_024, 32_776),
    (631_000_000, 1_536, 40_941),
    (1_130_000_000, 2_048, 49_416),
    (2_870_000_000, 3_200, 65_928),
]


@pytest.mark.parametrize(("parameters", "width", "printed"), MODELS)
def test_the_optimal_vocabulary_is_the_printed_one(parameters, width, printed) -> None:
    assert int(optimal_vocabulary(parameters, width)) == printed


def test_vocabulary_parameters_grow_with_the_power_0_8354() -> None:
    vocabulary = [width * optimal_vocabulary(parameters, width) for parameters, width, _ in MODELS]
    assert round(vocabulary_exponent([parameters for parameters, _, _ in MODELS], vocabulary), 4) == 0.8354


def test_an_english_character_is_a_quarter_of_a_token_of_32_768() -> None:
    assert round(tokens_per_character(32_768), 4) == 0.2518


@pytest.mark.parametrize(("parameters", "width", "printed"), MODELS)
def test_no_vocabulary_costs_fewer_flops_than_the_optimal_one(parameters, width, printed) -> None:
    def flops_per_character(vocab: int) -> float:
        return 6 * (parameters + vocab * width) * tokens_per_character(vocab)

    assert min(range(1_000, 200_000, 500), key=flops_per_character) == pytest.approx(printed, abs=500)


def test_a_model_whose_optimum_is_beyond_the_fit_is_refused() -> None:
    with pytest.raises(InputError, match="between 1,000 and 200,000"):
        optimal_vocabulary(10**13, 4_096)
