"""`bytebound generate`: what the screen shows, what is kept, and mistakes in one line."""

import json
from types import SimpleNamespace

import pytest
import tyro
from flax import nnx
from hypothesis import given
from hypothesis import strategies as st

import research.train
from contracts.decoder import DecoderConfig
from contracts.generation import Sampling
from experiments.command import guarded
from experiments.generate import Generate, Screen
from research.generate import generate
from research.model import Decoder
from research.tokenizers import ByteTokenizer

TOKENIZER = ByteTokenizer()


@pytest.fixture(scope="module")
def decoder():
    shape = {"d_model": 8, "n_layers": 1, "n_heads": 2, "n_kv_heads": 1, "head_dim": 4, "d_ff": 12}
    return Decoder(DecoderConfig(vocab_size=257, context_length=40, **shape), rngs=nnx.Rngs(0))


@pytest.fixture
def run(decoder, monkeypatch):
    """The command on a run that holds the small decoder."""
    opened = []

    def open_run(folder, step):
        opened.append((folder, step))
        return SimpleNamespace(decoder=decoder, tokenizer=TOKENIZER)

    monkeypatch.setattr(research.train, "open_run", open_run)

    def run(*arguments):
        guarded(tyro.cli(Generate, args=["my_run", *map(str, arguments)]).run)
        return opened[-1]

    return run


def shown(data):
    screen = Screen()
    return screen.show(data, final=True)


@given(
    st.lists(st.one_of(st.binary(max_size=5), st.text(max_size=3).map(lambda text: text.encode("utf-8", "replace"))))
)
def test_bytes_in_any_pieces_are_shown_as_they_are_shown_at_once_and_as_nothing_that_a_terminal_obeys(pieces):
    screen, data = Screen(), b"".join(pieces)
    together = "".join(screen.show(piece) for piece in pieces) + screen.show(b"", final=True)
    assert together == shown(data)
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in together if c not in "\t\n")
    kept = data.decode(errors="backslashreplace")
    if kept.isprintable():
        assert together == kept


def test_half_a_character_waits_for_its_other_half():
    screen = Screen()
    assert [screen.show(bytes([byte])) for byte in "안".encode()] == ["", "", "안"]
    assert screen.show(b"\xec\x95") == ""
    assert screen.show(b"", final=True) == "\\xec\\x95"


def test_texts_follow_their_prompts_in_order_and_say_why_they_ended(run, decoder, capsys):
    run("--prompt", "ab", "--prompt", "안\x1b", "--count", 2, "--length", 30)
    captured = capsys.readouterr()
    prompts = ["ab", "ab", "안\x1b", "안\x1b"]
    texts = generate(decoder, TOKENIZER, prompts, length=30)
    expected = "".join(
        f"--- {number} of 4 ---\n{shown(text.prompt)}{shown(text.data)}\n" for number, text in enumerate(texts, 1)
    )
    assert captured.out == expected
    assert "안\\x1b" in captured.out
    reasons = {"stop id": "a sampled stop id", "length": "--length"}
    assert captured.err.splitlines() == [f"[{len(t.tokens)} tokens, ended by {reasons[t.stop]}]" for t in texts]


def test_json_and_out_keep_every_byte(run, decoder, capsys, tmp_path):
    run("--prompt", "x", "--count", 2, "--length", 20, "--seed", 5, "--top-k", 9, "--json", "--out", tmp_path / "t.bin")
    texts = generate(decoder, TOKENIZER, ["x", "x"], length=20, seed=5, sampling=Sampling(top_k=9))
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [bytes.fromhex(line["bytes"]) for line in lines] == [text.data for text in texts]
    assert [(tuple(line["tokens"]), line["stop"]) for line in lines] == [(text.tokens, text.stop) for text in texts]
    assert [(tmp_path / f"t-{number}.bin").read_bytes() for number in (1, 2)] == [b"x" + text.data for text in texts]
    assert len(list(tmp_path.iterdir())) == 2


def test_options_reach_the_run_and_the_generator(run, decoder, capsys, tmp_path):
    (tmp_path / "prompt.txt").write_text("the prompt")
    options = f"--prompt-file {tmp_path / 'prompt.txt'} --temperature 0.5 --top-p 0.9 --length 50 --overflow slide"
    assert run(*options.split(), "--step", 7, "--json") == ("my_run", 7)
    (text,) = generate(
        decoder, TOKENIZER, ["the prompt"], length=50, sampling=Sampling(0.5, top_p=0.9), overflow="slide"
    )
    assert json.loads(capsys.readouterr().out)["tokens"] == list(text.tokens)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--temperature", -1], "temperature: expected a number >= 0"),
        (["--top-p", 2], "top_p: expected a probability"),
        (["--count", 0], "--count: expected at least 1"),
        (["--seed", -1], "--seed: expected 0 to 2**32 - 1"),
        (["--prompt", "a", "--prompt-file", "b"], "expected --prompt or --prompt-file"),
        (["--prompt-file", "nowhere"], "--prompt-file: expected a readable file"),
        (["--prompt", "x" * 50], "51 of prompt"),
        (["--length", 100], "ask for at most 40"),
        (["--prompt", "\udcff"], "lone surrogates"),
        (["--out", "nowhere/file"], "in a folder that does not exist"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(run, arguments, message, capsys):
    with pytest.raises(SystemExit) as exit_:
        run(*arguments)
    assert exit_.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_folder_that_is_no_run_is_refused(capsys):
    with pytest.raises(SystemExit) as exit_:
        guarded(Generate("nowhere").run)
    assert exit_.value.code == 2
    assert "nowhere" in capsys.readouterr().err


def test_prompts_of_broken_utf8_are_refused_with_the_place(run, tmp_path, capsys):
    (tmp_path / "bad").write_bytes(b"ab\xff")
    with pytest.raises(SystemExit):
        run("--prompt-file", tmp_path / "bad")
    assert "got byte 0xff at byte 2" in capsys.readouterr().err
