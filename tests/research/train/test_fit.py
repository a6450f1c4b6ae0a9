"""Training in memory: the same from the same seed, learning, and refusing what doesn't belong together."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from tiny_run import CONFIG, DECODER, STREAM, TOKENIZER, tiny

from contracts.errors import InputError
from research.tokenizers import ByteTokenizer
from research.train import StepFailed, fit


def test_equal_arguments_give_an_equal_decoder_bit_for_bit(fitted):
    again = fit(CONFIG, STREAM, TOKENIZER)
    for one, other in zip(jax.tree.leaves(fitted[1:]), jax.tree.leaves(again[1:]), strict=True):
        np.testing.assert_array_equal(one, other)


def test_another_seed_gives_other_first_parameters_and_other_rows(fitted):
    other = fit(tiny(seed=1), STREAM, TOKENIZER)
    assert not np.array_equal(fitted.metrics.loss, other.metrics.loss)


@pytest.mark.slow
def test_steps_one_by_one_are_the_steps_of_a_dispatch_but_for_rounding(fitted):
    single = fit(tiny(steps_per_dispatch=1), STREAM, TOKENIZER)
    np.testing.assert_allclose(single.metrics.loss, fitted.metrics.loss, rtol=1e-5)


def test_the_loss_starts_at_that_of_a_uniform_guess_and_falls(fitted):
    assert fitted.metrics.loss.shape == (12,)
    assert abs(fitted.metrics.loss[0] - np.log(257)) < 0.1
    assert fitted.metrics.loss[-1] < fitted.metrics.loss[0] - 1


@pytest.mark.slow
def test_a_number_of_steps_that_dispatches_do_not_divide_is_trained_to_the_end():
    found = fit(tiny(steps=5), STREAM, TOKENIZER)
    assert found.metrics.loss.shape == (5,)
    assert int(found.state.step) == 5


def test_a_tokenizer_of_another_vocabulary_or_boundary_is_refused():
    with pytest.raises(InputError, match=r"tokenizer: expected 258 ids \(decoder.vocab_size\), got 257 ids"):
        fit(tiny(decoder=replace(DECODER, vocab_size=258)), STREAM, TOKENIZER)
    with pytest.raises(InputError, match="another boundary policy"):
        fit(CONFIG, STREAM, ByteTokenizer("bos"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_loss_that_is_not_finite_stops_the_training_at_its_step():
    wild = replace(CONFIG.optimizer, peak_learning_rate=1e30, warmup_steps=0)
    with pytest.raises(StepFailed, match="expected a finite loss and finite gradients, got loss") as caught:
        fit(tiny(optimizer=wild), STREAM, TOKENIZER)
    assert 1 < caught.value.step < 5
