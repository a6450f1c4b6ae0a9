"""What is written: against a loop that runs the whole row for each token, and what starts, bounds and ends a text."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from contracts.errors import InputError
from contracts.generation import Sampling
from research.generate import NoCacheWarning, generate, stream
from research.generate.decoding import _prefill, decode
from research.generate.sampling import sample
from research.tokenizers import BPETokenizer, ByteTokenizer

SHARED = ByteTokenizer()
PROMPTS = ["the", "", "안녕하세요, the longest of them", "a"]
LIMIT = 40
forward = jax.jit(lambda decoder, tokens: decoder(tokens))
one_draw = jax.jit(sample, static_argnames="sampling")
SAMPLING = Sampling(0.9)


@jax.jit
def one_key(seed, row, position):
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), row), position)[None]


def naive(decoder, tokenizer, prompts, length, sampling, seed=0, overflow="error"):
    """(tokens, stop) of each prompt: no cache, no batch, no padding but behind what is read."""
    ids = np.arange(tokenizer.vocab_size)
    allowed = (ids < tokenizer.text_vocab_size) | (ids == tokenizer.stop_id)
    limit, found = decoder.config.context_length, []
    for number, prompt in enumerate(prompts):
        context = [*([] if tokenizer.start_id is None else [tokenizer.start_id]), *tokenizer.encode(prompt).tolist()]
        tokens, stop = [], None
        if len(context) > limit:
            context = context[-(limit // 2 if overflow == "slide" else 1) :]
        while stop is None:
            row = np.zeros((1, limit), np.int32)
            row[0, : len(context)] = context
            logits = np.asarray(forward(decoder, row))[:, len(context) - 1]
            token = int(one_draw(logits, one_key(seed, number, len(tokens)), allowed, sampling)[0])
            if token == tokenizer.stop_id:
                stop = "stop id"
                break
            tokens.append(token)
            context.append(token)
            if len(tokens) == length:
                stop = "length"
            elif len(context) > limit:
                if overflow == "error":
                    stop = "context"
                else:
                    context = context[-(limit // 2 if overflow == "slide" else 1) :]
        found.append((tuple(tokens), stop))
    return found


def outcomes(texts):
    return [(text.tokens, text.stop) for text in texts]


@pytest.mark.parametrize(
    ("sampling", "scan_layers"),
    [
        (Sampling(0.8, top_k=20), False),
        *(
            pytest.param(sampling, scan_layers, marks=pytest.mark.slow)
            for sampling in (Sampling(0.0), Sampling(1.0, top_p=0.9))
            for scan_layers in (False, True)
        ),
    ],
    ids=str,
)
def test_cached_batched_text_is_the_text_of_whole_passes_row_by_row(make, sampling, scan_layers):
    decoder = make(scan_layers=scan_layers)
    texts = generate(decoder, SHARED, PROMPTS, length=20, sampling=sampling, seed=7, overflow="slide")
    assert outcomes(texts) == naive(make(), SHARED, PROMPTS, 20, sampling, 7, "slide")
    assert [text.prompt.decode() for text in texts] == PROMPTS


@pytest.mark.parametrize("overflow", ["slide", "reset"])
def test_a_full_context_slides_or_is_reset_as_asked_in_each_row_on_its_own(make, overflow):
    prompts = ["x" * 50, "the", "a prompt of some length, not more", ""]
    texts = generate(make(), SHARED, prompts, length=90, sampling=SAMPLING, overflow=overflow)
    assert outcomes(texts) == naive(make(), SHARED, prompts, 90, SAMPLING, overflow=overflow)


def test_without_a_length_a_text_ends_at_the_stop_id_or_at_the_end_of_the_context(make):
    found = [text for seed in range(3) for text in generate(make(), SHARED, PROMPTS, sampling=SAMPLING, seed=seed)]
    assert outcomes(found[:4]) == naive(make(), SHARED, PROMPTS, None, SAMPLING, 0)
    opened = [len(SHARED.encode(text.prompt.decode())) + 1 for text in found]
    for text, size in zip(found, opened, strict=True):
        assert text.stop == ("context" if size + len(text.tokens) == LIMIT + 1 else "stop id")


def always(decoder, token):
    """The decoder, whose logits are highest at `token` whatever it has read."""

    def apply(tokens, segments=None, positions=None):
        return jnp.zeros((*tokens.shape, decoder.config.vocab_size), jnp.float32).at[:, :, token].set(9.0)

    apply.config = decoder.config
    return apply


@pytest.mark.filterwarnings("ignore::research.generate.NoCacheWarning")
def test_only_a_newly_sampled_stop_id_stops_and_no_other_protocol_id_is_sampled(make):
    greedy = Sampling(0.0)
    (stopped,) = generate(always(make(), 256), SHARED, [""], length=5, sampling=greedy)
    assert (stopped.tokens, stopped.stop, stopped.data) == ((), "stop id", b"")
    (text,) = generate(always(make(), 65), SHARED, [""], length=5, sampling=greedy)
    assert (text.data, text.stop) == (b"AAAAA", "length")  # the seed is the stop id too, and stops nothing
    separate = ByteTokenizer("separate")
    (no_bos,) = generate(always(make(258), separate.start_id), separate, ["x"], length=3, sampling=greedy)
    assert (no_bos.tokens, no_bos.stop) == ((0, 0, 0), "length")


def test_a_prompt_that_spells_a_protocol_token_is_text(make):
    prompt = "<|doc|>"
    (spelled,) = generate(make(), SHARED, [prompt], length=8, sampling=Sampling(0.0))
    (as_bytes,) = generate(make(), SHARED, [prompt.encode()], length=8, sampling=Sampling(0.0))
    row = np.zeros((1, LIMIT), np.int32)
    row[0, :8] = [256, 60, 124, 100, 111, 99, 124, 62]
    first = int(np.asarray(forward(make(), row))[0, 7, :257].argmax())
    assert spelled.tokens[:1] == as_bytes.tokens[:1] == ((first,) if first != 256 else ())


def test_a_mixer_without_a_cache_falls_back_to_whole_passes_and_says_so(make, own_mixer):
    decoder = make(mixer=own_mixer)
    with pytest.warns(NoCacheWarning, match="no key-value cache"):
        texts = generate(decoder, SHARED, PROMPTS, length=30, sampling=SAMPLING, overflow="slide")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert outcomes(texts) == outcomes(
            generate(make(), SHARED, PROMPTS, length=30, sampling=SAMPLING, overflow="slide")
        )


def test_what_is_streamed_is_what_is_generated_and_each_row_says_once_why_it_ended(make):
    arguments = {"length": 70, "sampling": SAMPLING, "overflow": "slide"}
    tokens, stops = [[] for _ in PROMPTS], [[] for _ in PROMPTS]
    pieces = list(stream(make(), SHARED, PROMPTS, **arguments))
    for piece in pieces:
        assert not stops[piece.row]
        tokens[piece.row].extend(piece.tokens)
        stops[piece.row].extend([piece.stop] if piece.stop else [])
    texts = generate(make(), SHARED, PROMPTS, **arguments)
    assert list(map(tuple, tokens)) == [text.tokens for text in texts]
    assert stops == [[text.stop] for text in texts]
    assert max(len(piece.tokens) for piece in pieces) <= 16


def test_rows_and_seeds_decide_and_what_else_is_in_the_batch_does_not(make):
    few = generate(make(), SHARED, ["the"] * 2, length=25, sampling=SAMPLING)
    many = generate(make(), SHARED, ["the"] * 4, length=25, sampling=SAMPLING)
    assert outcomes(many)[:2] == outcomes(few)
    assert len({text.data for text in many}) == 4
    assert outcomes(generate(make(), SHARED, ["the"] * 2, length=25, sampling=SAMPLING, seed=1)) != outcomes(few)


def test_all_lengths_of_a_batch_size_share_one_compiled_program(make):
    decoder = make(n_layers=1, context_length=120)
    decode.clear_cache()
    _prefill.clear_cache()
    for prompts, length in ((["a", "b"], 5), (["a" * 80, ""], 30), (["ab", "a" * 100], 20)):
        generate(decoder, SHARED, prompts, length=length)
    generate(decoder, SHARED, ["", "x"])
    assert (decode._cache_size(), _prefill._cache_size()) == (1, 1)


@pytest.mark.filterwarnings("ignore::research.generate.NoCacheWarning")
def test_a_trained_vocabulary_writes_whole_tokens_of_text(make):
    tokenizer = BPETokenizer.train(["the cat and the dog"] * 5, 262)
    longest = int(tokenizer.token_byte_lengths.argmax())
    (text,) = generate(always(make(263), longest), tokenizer, ["the"], length=3, sampling=Sampling(0.0))
    assert text.data == tokenizer.token_bytes(longest) * 3


def test_bytes_that_are_no_text_are_kept_and_shown(make):
    texts = generate(make(), SHARED, PROMPTS, sampling=SAMPLING)
    assert any(byte > 127 for text in texts for byte in text.data)
    for text in texts:
        assert text.data == bytes(text.tokens)
        assert text.shown == text.data.decode(errors="backslashreplace")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"prompts": ["x" * 40]}, "41 of prompt"),
        ({"prompts": ["x" * 20], "length": 21}, "ask for at most 20, or choose"),
        ({"prompts": "text"}, r"pass \[prompt\]"),
        ({"prompts": []}, "got none"),
        ({"prompts": ["a"], "length": 0}, "at least 1 token"),
        ({"prompts": ["a"], "overflow": "slide"}, "might never end"),
        ({"prompts": ["a"], "overflow": "wrap"}, "one of error, slide, reset"),
        ({"prompts": [b"\xff"]}, "valid UTF-8"),
        ({"prompts": ["\ud800"]}, "lone surrogates"),
    ],
)
def test_what_can_not_be_generated_is_refused_in_one_line(make, arguments, complaint):
    with pytest.raises(InputError, match=complaint) as refusal:
        generate(make(), SHARED, **arguments)
    assert "\n" not in str(refusal.value)


@pytest.mark.filterwarnings("ignore::research.generate.NoCacheWarning")
def test_a_length_that_just_fits_is_taken(make):
    (text,) = generate(always(make(), 65), SHARED, ["x" * 20], length=20, sampling=Sampling(0.0))
    assert (text.stop, text.data) == ("length", b"A" * 20)


def test_without_a_start_id_a_prompt_is_needed_and_without_a_stop_id_the_context_ends_it(make):
    tokenizer = ByteTokenizer("none")
    with pytest.raises(InputError, match="no start id"):
        generate(make(256), tokenizer, ["a", ""])
    (text,) = generate(make(256), tokenizer, ["ab"])
    assert (text.stop, len(text.tokens)) == ("context", LIMIT + 1 - 2)


def test_a_decoder_of_another_vocabulary_is_refused(make):
    with pytest.raises(InputError, match="another tokenizer"):
        generate(make(), ByteTokenizer("none"), ["a"])
