"""The candidates are the decoders that they say they are, and the judgement is the rule's; no test is timed."""

import numpy as np
import pytest

from contracts.errors import InputError
from contracts.parameters import parameter_count
from experiments.speed.training import measure
from experiments.speed.training.candidates import make
from experiments.speed.training.findings import Measured, Timed
from experiments.speed.training.matmuls import products, useful_flops
from experiments.speed.training.ours import config
from experiments.speed.training.question import CANDIDATES, NANOGPT, OURS, PLAIN, Shape, TrainingSpeed, installed
from experiments.speed.training.workers import workers
from research.costs import forward_flops, full_pairs

TINY = Shape("tiny", d_model=12, n_layers=2, n_heads=3, length=8, batch_size=2, vocab_size=19, steps=2)


def measured(**seconds: list[float]) -> Measured:
    timed = {name: Timed(np.array(values), 1.0, 2, 1, 1, (2.0, 1.0)) for name, values in seconds.items()}
    return Measured(TINY, timed, matmul_rate=1e9, useful_flops=10**9)


@pytest.mark.slow
@pytest.mark.parametrize("name", CANDIDATES)
def test_every_candidate_begins_at_the_logarithm_of_the_vocabulary_and_learns(name: str):
    if name not in installed():
        pytest.skip("PyTorch is not installed (the extra `peers`)")
    train = make(name, TINY, seed=0)
    first = train(TINY.steps)
    assert abs(first - np.log(TINY.vocab_size)) < 0.25
    assert train(20 * TINY.steps) < first - 0.1


@pytest.mark.parametrize("shape", TrainingSpeed(sizes=("small", "medium")).shapes, ids=lambda shape: shape.name)
def test_the_decoders_hold_equally_many_parameters_up_to_a_per_cent(shape: Shape):
    gpt = 12 * shape.n_layers * shape.d_model**2 + (shape.vocab_size + shape.length) * shape.d_model
    assert parameter_count(config(shape).decoder) == pytest.approx(gpt, rel=0.05)
    layers = 12 * shape.n_layers * shape.d_model**2
    ours = 4 * shape.d_model**2 + 3 * shape.d_model * shape.d_ff
    assert shape.n_layers * ours == pytest.approx(layers, rel=0.01)


def test_the_products_of_a_step_are_the_formulas_flops_with_all_pairs():
    dense = forward_flops(config(TINY).decoder, TINY.length, full_pairs(TINY.length)).total
    assert sum(product.times * product.flops for product in products(TINY)) == 3 * TINY.batch_size * dense
    assert useful_flops(TINY) < 3 * TINY.batch_size * dense


@pytest.mark.parametrize(
    ("ours", "plain", "judgement"),
    [([1.0, 1.0], [1.4, 2.0], "met"), ([1.0, 1.0], [1.3, 1.39], "missed"), ([1.0, 1.0], [1.3, 1.5], "undecided")],
)
def test_an_aim_is_judged_by_the_whole_range_of_rounds(ours: list[float], plain: list[float], judgement: str):
    assert measured(**{OURS: ours, PLAIN: plain}).judgement(PLAIN) == judgement


def test_rounds_are_compared_with_themselves():
    one = measured(**{OURS: [1.0, 3.0], NANOGPT: [0.5, 1.5]})
    assert one.speedup(NANOGPT) == (0.5, 0.5, 0.5)
    assert one.tokens_per_second(OURS).low == TINY.tokens / 3


@pytest.mark.parametrize(
    "wrong", [{"sizes": ("huge",)}, {"sizes": ()}, {"vocab_sizes": (1,)}, {"rounds": 1}, {"batch_size": 0}]
)
def test_what_does_not_fit_is_refused_by_the_name_of_its_option(wrong: dict[str, object]):
    (option,) = wrong
    with pytest.raises(InputError, match="--" + option.replace("_", "-")):
        TrainingSpeed(**wrong)


@pytest.mark.slow
def test_a_run_ends_with_every_candidate_in_the_table(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(TrainingSpeed, "shapes", [TINY])
    finding = measure(TrainingSpeed(rounds=2))
    assert [row[1] for row in finding.tables[0].rows] == list(installed())
    assert all(row.value > 0 for row in finding.rows)


@pytest.mark.slow
def test_no_process_outlives_its_turn():
    with workers((OURS,), TINY, seed=0) as ready:
        worker, first = ready[0]
        assert first["first_seconds"] > 0
    with pytest.raises((InputError, ValueError, OSError)):
        worker.ask("steps 2")
