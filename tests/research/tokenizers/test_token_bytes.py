"""A few merges can make a token that no memory holds; every reader refuses it in one line before it tries."""

import base64
import json

import pytest

from contracts.errors import InputError
from research.tokenizers import BPETokenizer, limits, load_tokenizer
from research.tokenizers.interop.huggingface import byte_characters


def doubling(merges):
    return [(97, 97), *((own_id, own_id) for own_id in range(256, 255 + merges))]


def saved_file(path, merges):
    BPETokenizer([(97, 97)]).save(path)
    stored = json.loads(path.read_text())
    stored["merges"] = [[*pair, ""] for pair in doubling(merges)]
    path.write_text(json.dumps(stored))
    return path


def huggingface_file(path, merges):
    tokens = ["a" * 2**power for power in range(merges + 1)]
    vocab = {token: index for index, token in enumerate([*byte_characters(), *tokens[1:]])}
    model = {"type": "BPE", "vocab": vocab, "merges": [f"{half} {half}" for half in tokens[:-1]]}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
    path.write_text(json.dumps({"normalizer": None, "pre_tokenizer": byte_level, "model": model}))
    return path


def rank_file(path, merges):
    tokens = [bytes([value]) for value in range(256)] + [b"a" * 2**power for power in range(1, merges + 1)]
    path.write_text("".join(f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens)))
    return path


READERS = {
    "merges": lambda path, merges: BPETokenizer(doubling(merges)),
    "saved": lambda path, merges: load_tokenizer(saved_file(path, merges)),
    "Hugging Face": lambda path, merges: load_tokenizer(huggingface_file(path, merges)),
    "tiktoken": lambda path, merges: BPETokenizer.from_tiktoken(rank_file(path, merges), "gpt2"),
}


@pytest.mark.parametrize("reader", ["merges", "saved"])
def test_45_doublings_are_refused_by_name(reader, tmp_path):
    with pytest.raises(InputError, match="at most 1,048,576 bytes, got 2,097,152 at the merge of id 276"):
        READERS[reader](tmp_path / "tokenizer.json", 45)


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_bounds_a_token_and_all_tokens_together(reader, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_TOKEN_BYTES", 16)
    monkeypatch.setattr(limits, "MOST_VOCABULARY_BYTES", 256 + 2 + 4 + 8)
    path = tmp_path / "tokenizer.json"
    if reader != "saved":  # whose identity would be another's
        assert READERS[reader](path, 3).text_vocab_size == 259
    with pytest.raises(InputError, match="tokens of at most 270 bytes together, got 286 up to here"):
        READERS[reader](path, 4)
    monkeypatch.setattr(limits, "MOST_VOCABULARY_BYTES", 1000)
    with pytest.raises(InputError, match="tokens of at most 16 bytes, got 32"):
        READERS[reader](path, 5)


@pytest.mark.parametrize("tie_break", ["smallest-ids", "largest-bytes"])
@pytest.mark.parametrize(("token", "together", "merges"), [(16, 10**6, 4), (10**6, 256 + 2 + 4 + 8, 3)])
def test_both_engines_stop_learning_before_a_token_that_no_reader_would_take(
    tmp_path, monkeypatch, tie_break, token, together, merges
):
    monkeypatch.setattr(limits, "MOST_TOKEN_BYTES", token)
    monkeypatch.setattr(limits, "MOST_VOCABULARY_BYTES", together)
    learned = []
    for by in ("python", "numba"):
        monkeypatch.setenv("BYTEBOUND_ENGINE", by)
        tokenizer = BPETokenizer.train(["a" * 1000 + " b"], 300, tie_break=tie_break)
        assert tokenizer.stop_reason == "the next token would be too long"
        tokenizer.save(tmp_path / "tokenizer.json")
        assert load_tokenizer(tmp_path / "tokenizer.json").stop_reason == tokenizer.stop_reason
        learned.append(tokenizer.merges.tolist())
    assert learned[0] == learned[1] == [list(merge) for merge in doubling(merges)]
