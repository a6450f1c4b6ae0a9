"""Peers learn the same 32,512 merges from real corpora of up to 104 MB, each by its own rule for ties."""

import gzip
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from research.tokenizers import PATTERNS, engine
from research.tokenizers.interop.huggingface import byte_characters
from research.tokenizers.kernels import load
from research.tokenizers.kernels.count import WordCounts
from research.tokenizers.kernels.learn import learn_merges

SIZE = 32_768
GPT2 = PATTERNS["gpt2"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize("corpus", ["en10.txt", "multi5.txt", "en100.txt.gz"], scope="module"),
]


@pytest.fixture(scope="module")
def words(corpus, shared_path) -> WordCounts:
    load()
    return engine.count_files([shared_path(f"corpora/large/{corpus}")], GPT2)


def documents(path: Path) -> Iterator[str]:
    """Line after line, but where a line ends the next begins with a letter, so that every piece is that of the file."""
    held = ""
    reading = gzip.open if path.suffix == ".gz" else open
    with reading(path, "rt", encoding="utf-8", newline="") as file:
        for line in file:
            if held[-2:-1].strip() and line[:1].isascii() and line[:1].isalpha() and len(held) > 1 << 16:
                yield held
                held = ""
            held += line
    yield held


def spelled_merges(merges: np.ndarray, alphabet: list[bytes]) -> list[tuple[bytes, bytes]]:
    tokens = list(alphabet)
    for left, right in merges.tolist():
        tokens.append(tokens[left] + tokens[right])
    return [(tokens[left], tokens[right]) for left, right in merges.tolist()]


def in_the_order_of(words: WordCounts, alphabet: list[bytes]) -> WordCounts:
    """The same words in other numbers for the bytes, so that the smallest ids are the smallest in that order."""
    number = np.zeros(256, np.uint8)
    number[list(itertools.chain(*alphabet))] = range(256)
    return WordCounts(number[words.text], words.starts, words.counts)


def test_rustbpe_learns_the_same_merges(corpus, words, shared_path):
    rustbpe = pytest.importorskip("rustbpe")
    theirs = rustbpe.Tokenizer()
    theirs.train_from_iterator(documents(shared_path(f"corpora/large/{corpus}")), SIZE, pattern=GPT2.regex)
    tokens = [bytes(token) for token, _ in sorted(theirs.get_mergeable_ranks(), key=lambda item: item[1])]
    alphabet = [bytes([value]) for value in range(256)]
    ours = spelled_merges(learn_merges(words, SIZE - 256), alphabet)
    assert [left + right for left, right in ours] == tokens[256:]


def test_hugging_face_learns_the_same_merges(corpus, words, shared_path):
    """It numbers the bytes in the order of the characters that it spells them with, and takes the smallest numbers."""
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=SIZE,
        min_frequency=2,
        show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    theirs.train_from_iterator(documents(shared_path(f"corpora/large/{corpus}")), trainer)
    byte_of = {character: bytes([value]) for value, character in enumerate(byte_characters())}
    expected = [
        tuple(b"".join(byte_of[character] for character in part) for part in merge)
        for merge in json.loads(theirs.to_str())["model"]["merges"]
    ]
    alphabet = [byte_of[character] for character in sorted(byte_of)]
    assert spelled_merges(learn_merges(in_the_order_of(words, alphabet), SIZE - 256), alphabet) == expected
