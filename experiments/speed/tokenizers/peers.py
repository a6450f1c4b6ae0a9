"""The peers: how each is asked to do the same job. What is not installed, or can't do a job, is named with the reason.

Training goes from a file to merges. Encoding takes what the library takes (str or bytes) and ends in an array.
"""

import importlib.metadata
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from experiments.speed.tokenizers.clock import OURS, Call
from research.tokenizers import PATTERNS, BPETokenizer

PEERS = ("tokenizers", "tiktoken", "rustbpe", "gigabpe", "gigatoken", "bpeasy")

_SAFE = re.compile(rb"(?<=[^\s])\n(?=[A-Za-z])")
"""where every pattern here has a border that no neighbour can move"""
_PIECE = 1 << 16


def versions() -> dict[str, str | None]:
    """Library to version; `None` if it is absent."""
    found: dict[str, str | None] = {}
    for name in (OURS, *PEERS):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def documents(path: Path) -> Iterator[str]:
    """The text of a file in documents of some 64 KB, for peers that take an iterator; same pieces as the whole."""
    rest = b""
    with open(path, "rb") as file:
        while more := file.read(_PIECE):
            rest += more
            cuts = list(_SAFE.finditer(rest))
            if cuts:
                yield rest[: cuts[-1].end()].decode()
                rest = rest[cuts[-1].end() :]
    if rest:
        yield rest.decode()


class Cannot(Exception):
    """A library that can't do a job; the message says why."""


def require(name: str) -> None:
    """Raise `Cannot` if the library is absent."""
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        raise Cannot("absent") from None


def trainer(name: str, path: Path, pattern: str, size: int) -> Call:
    """A call that trains, from the file to merges. Raises `Cannot`."""
    if name == OURS:
        return lambda: BPETokenizer.train_files([path], size, pattern)
    require(name)
    if name == "tiktoken":
        raise Cannot("has no trainer but an educational one")
    if name in ("gigabpe", "gigatoken") and pattern != "gpt2":
        raise Cannot(f"has no pattern {pattern}")
    return _TRAINERS[name](path, PATTERNS[pattern].regex, size)


def _train_tokenizers(path: Path, regex: str, size: int) -> Call:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    def train() -> Any:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(regex), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        settings = trainers.BpeTrainer(vocab_size=size, min_frequency=2, initial_alphabet=alphabet, show_progress=False)
        tokenizer.train_from_iterator(documents(path), settings)
        return tokenizer

    return train


def _train_rustbpe(path: Path, regex: str, size: int) -> Call:
    import rustbpe

    def train() -> Any:
        tokenizer = rustbpe.Tokenizer()
        tokenizer.train_from_iterator(documents(path), size, pattern=regex)
        return tokenizer

    return train


def _train_gigabpe(path: Path, regex: str, size: int) -> Call:
    import gigabpe

    return lambda: gigabpe.train_bpe([str(path)], size, min_frequency=2)


def _train_gigatoken(path: Path, regex: str, size: int) -> Call:
    import gigatoken

    return lambda: gigatoken.train_bpe(path, size, [], tie_breaking="raw_token_ids")


def _train_bpeasy(path: Path, regex: str, size: int) -> Call:
    import bpeasy

    return lambda: bpeasy.train_bpe(documents(path), regex, 1 << 20, size)


_TRAINERS: dict[str, Callable[[Path, str, int], Call]] = {
    "tokenizers": _train_tokenizers,
    "rustbpe": _train_rustbpe,
    "gigabpe": _train_gigabpe,
    "gigatoken": _train_gigatoken,
    "bpeasy": _train_bpeasy,
}


def encoder(name: str, tokenizer: BPETokenizer) -> Callable[[bytes, str], np.ndarray]:
    """A new encoder with our merges, one thread: UTF-8, and the same as a str, to an array. Raises `Cannot`."""
    if name == OURS:
        fresh = BPETokenizer.of(tokenizer.with_own_ids().vocabulary, "none")
        fresh.encode_bytes(b"a")  # makes the encoder, as the others are made
        return lambda data, text: fresh.encode_bytes(data)
    require(name)
    if name == "tiktoken":
        encoding = tiktoken_of(tokenizer)
        return lambda data, text: encoding.encode_to_numpy(text, disallowed_special=())
    if name == "tokenizers":
        loaded = tokenizers_of(tokenizer)
        return lambda data, text: _ids_of_pieces(loaded, text)
    if name == "gigatoken":
        theirs = gigatoken_of(tokenizer)
        return lambda data, text: theirs.encode(data)
    raise Cannot("encodes with merges of its own only" if name in ("rustbpe", "bpeasy") else "does not encode")


def tiktoken_of(tokenizer: BPETokenizer) -> Any:
    """Our merges as an encoding with the pattern as everybody writes it: with classes spelled out it is slower."""
    import tiktoken

    pretokenizer = tokenizer.vocabulary.pretokenizer
    assert pretokenizer is not None
    ranks = {token: index for index, token in enumerate(tokenizer.vocabulary.tokens)}
    return tiktoken.Encoding("ours", pat_str=pretokenizer.regex, mergeable_ranks=ranks, special_tokens={})


def tokenizers_of(tokenizer: BPETokenizer) -> Any:
    """The same for Hugging Face."""
    from tokenizers import Tokenizer

    with TemporaryDirectory() as folder:
        tokenizer.with_boundary("none").to_huggingface(folder)
        document = json.loads((Path(folder) / "tokenizer.json").read_text(encoding="utf-8"))
    pretokenizer = tokenizer.vocabulary.pretokenizer
    assert pretokenizer is not None
    document["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {"Regex": pretokenizer.regex}
    return Tokenizer.from_str(json.dumps(document))


def gigatoken_of(tokenizer: BPETokenizer) -> Any:
    """The same for gigatoken, which knows patterns by name. Raises `Cannot` for one that it does not know."""
    import gigatoken

    if tokenizer.pattern not in ("gpt2", "cl100k"):
        raise Cannot("refuses a pattern that it does not know")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ranks.tiktoken"
        tokenizer.with_boundary("none").to_rank_file(path)
        return gigatoken.Tokenizer.from_tiktoken(path, tokenizer.pattern, {})


def _ids_of_pieces(loaded: Any, text: str) -> np.ndarray:
    """In documents of 64 KB, the fastest of its ways, on one thread."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    texts = [text[begin : begin + _PIECE] for begin in range(0, len(text), _PIECE)]
    ids = np.concatenate([np.array(found.ids, np.int32) for found in loaded.encode_batch_fast(texts)])
    del os.environ["TOKENIZERS_PARALLELISM"]
    return ids


def decoder(name: str, tokenizer: BPETokenizer, ids: np.ndarray) -> Call:
    """A call from ids to bytes, or to text where the library has no bytes. Raises `Cannot`."""
    if name == OURS:
        return lambda: tokenizer.decode_bytes(ids)
    require(name)
    if name == "tiktoken":
        encoding, listed = tiktoken_of(tokenizer), ids.tolist()
        return lambda: encoding.decode_bytes(listed)
    if name == "tokenizers":
        loaded, listed = tokenizers_of(tokenizer), ids.tolist()
        return lambda: loaded.decode(listed)
    if name == "gigatoken":
        theirs, numbers = gigatoken_of(tokenizer), ids.astype(np.uint32)
        return lambda: theirs.decode(numbers)
    raise Cannot("decodes merges of its own only" if name in ("rustbpe", "bpeasy") else "does not decode")
