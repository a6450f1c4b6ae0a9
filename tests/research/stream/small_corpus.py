"""A corpus of a few lines, for tests of how it is built and of how it is opened."""

import os
from pathlib import Path

from research.stream import build_corpus
from research.tokenizers import ByteTokenizer

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
LINES = [f"line {number} 안녕" for number in range(30)]
FILES = ["manifest.json", "tokenizer.json"] + [
    f"{s}.{k}.bin" for s in ("train", "validation") for k in ("starts", "tokens")
]


def build(source, out, tokenizer=None, **options):
    options = {"separator": "\n", "validation": 0.3, **options}
    return build_corpus([source], tokenizer or ByteTokenizer(), out, **options)


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}
