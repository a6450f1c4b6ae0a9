"""The forward pass against a second implementation in float64, and what the logits are made of."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from contracts.core import conforms
from contracts.decoder import FeedForward, LanguageModel
from research.model import Decoder
from research.model.feed_forward import SwiGLU


def naive_logits(decoder, tokens):
    """A Llama forward pass over one document, in NumPy, one query at a time."""
    config, width = decoder.config, decoder.config.head_dim
    flat = nnx.to_flat_state(nnx.state(decoder))
    at = {tuple(map(str, path)): np.asarray(value[...], np.float64) for path, value in flat}

    def norm(x, *path):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * at[(*path, "scale")]

    def turn(x):
        pairs = x[..., : width // 2] + 1j * x[..., width // 2 :]
        frequency = config.rope_theta ** (-2 * np.arange(width // 2) / width)
        turned = pairs * np.exp(1j * np.arange(len(x))[:, None, None] * frequency)
        return np.concatenate([turned.real, turned.imag], axis=-1)

    x = at[("embed", "embedding")][np.asarray(tokens)]
    for layer in map(str, range(config.n_layers)):
        y = norm(x, "blocks", layer, "mixer_norm")
        query, key, value = (
            (y @ at[("blocks", layer, "mixer", name, "kernel")]).reshape(len(y), -1, width)
            for name in ("query", "key", "value")
        )
        query, key = turn(query), turn(key)
        mixed = np.zeros_like(query)
        for t, head in np.ndindex(*query.shape[:2]):
            group = head // (config.n_heads // config.n_kv_heads)
            weights = np.exp(key[: t + 1, group] @ query[t, head] / np.sqrt(width))
            mixed[t, head] = weights @ value[: t + 1, group] / weights.sum()
        x = x + mixed.reshape(len(x), -1) @ at[("blocks", layer, "mixer", "out", "kernel")]
        y = norm(x, "blocks", layer, "feed_forward_norm")
        gate, up, down = (at[("blocks", layer, "feed_forward", name, "kernel")] for name in ("gate", "up", "down"))
        x = x + (y @ gate / (1 + np.exp(-y @ gate)) * (y @ up)) @ down
    return norm(x, "norm") @ (at[("embed", "embedding")].T if config.tied else at[("head", "kernel")])


@pytest.mark.parametrize("tied", [False, True], ids=["untied", "tied"])
def test_logits_are_those_of_a_naive_llama(make, forward, tokens, tied):
    decoder = make(tied=tied)
    expected = np.stack([naive_logits(decoder, row) for row in tokens])
    assert expected.std() > 0.1
    np.testing.assert_allclose(forward(decoder, tokens), expected, atol=1e-5)


def test_a_tied_head_has_no_parameters_and_an_untied_one_has_its_own(make):
    assert "head" not in nnx.state(make(tied=True))
    assert nnx.state(make(tied=False))["head"]["kernel"].shape == (42, 53)


def test_logits_of_chunks_of_hidden_states_are_the_logits(make, forward, tokens):
    decoder = make()

    @jax.jit
    def in_chunks(tokens):
        hidden = decoder.hidden(tokens)
        return jnp.concatenate([decoder.logits(hidden[:, :3]), decoder.logits(hidden[:, 3:])], axis=1)

    np.testing.assert_allclose(in_chunks(tokens), forward(decoder, tokens), atol=1e-6)


def test_equal_seeds_make_equal_decoders_and_others_do_not(make, toy):
    again = Decoder(toy, rngs=nnx.Rngs(0))
    assert jax.tree.all(jax.tree.map(np.array_equal, nnx.state(make()), nnx.state(again)))
    assert not np.array_equal(make(seed=1).embed.embedding[...], again.embed.embedding[...])


def test_the_first_loss_is_close_to_that_of_a_uniform_guess(make, forward, tokens):
    log_probabilities = jax.nn.log_softmax(forward(make(), tokens))
    assert abs(-log_probabilities.mean() - np.log(53)) < 0.02


@pytest.mark.parametrize(
    ("part", "name", "stddev"),
    [
        ("mixer", "query", 42**-0.5),
        ("mixer", "key", 42**-0.5),
        ("mixer", "value", 42**-0.5),
        ("mixer", "out", (2 * 2 * 60) ** -0.5),
        ("feed_forward", "gate", 42**-0.5),
        ("feed_forward", "up", 42**-0.5),
        ("feed_forward", "down", (2 * 2 * 110) ** -0.5),
    ],
)
def test_a_matrix_starts_at_its_fan_in_and_smaller_where_it_writes_to_the_residual_stream(make, part, name, stddev):
    kernel = np.asarray(nnx.state(make(scan_layers=True))["blocks"][part][name]["kernel"][...])
    assert abs(kernel.std() / stddev - 1) < 5 / np.sqrt(2 * kernel.size)
    assert abs(kernel.mean()) < 5 * stddev / np.sqrt(kernel.size)


def test_decoder_and_swiglu_conform_to_their_protocols():
    assert conforms(Decoder, LanguageModel) is Decoder
    assert conforms(SwiGLU, FeedForward) is SwiGLU
