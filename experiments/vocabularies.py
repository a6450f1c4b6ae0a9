"""Tokenizers by name: `bytes`, `bpe-4096` (trained here and now on the embedded corpus), or a file."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from contracts.errors import InputError
from experiments.names import printable


def tokenizer_named(name: str) -> Any:
    """The tokenizer `name`: `bytes`, `bpe-SIZE`, or the path of a saved vocabulary or `tokenizer.json`."""
    from research.text import LANGUAGES, parallel_documents
    from research.tokenizers import BPETokenizer, load_tokenizer

    size = re.fullmatch(r"bpe-(\d+)", name)
    if size is None:
        return load_tokenizer(name)
    if int(size[1]) < 256:
        raise InputError("tokenizer", expected="bpe-SIZE with at least 256 (the bytes)", got=name)
    documents = [document for language in LANGUAGES for document in parallel_documents(language)]
    return BPETokenizer.train(documents, int(size[1]))


def tokenizers_beside_learned(names: Sequence[str]) -> dict[str, Any]:
    """The tokenizers that a person named, by a short name, for an experiment that measures bytes and its own BPE too.

    `bytes` is left out, and `bpe-4096` is called `embedded bpe-4096`. Raises `InputError` for two of one short name.
    """
    found: dict[str, Any] = {}
    for name in dict.fromkeys(names):
        if name == "bytes":
            continue
        short = label(name)
        if short in found:
            raise InputError("--tokenizer", expected="files with different names", got=f"two called {short!r}")
        found[short] = tokenizer_named(name)
    return found


def label(name: str) -> str:
    """What a tokenizer is called in results: `embedded bpe-4096` for one that the embedded corpus taught."""
    return f"embedded {name}" if re.fullmatch(r"bpe-\d+", name) else short_name(name)


def short_name(name: str) -> str:
    """A tokenizer's name without the folders of somebody's machine: `bytes`, `gpt2` for `gpt2/tokenizer.json`."""
    path = Path(printable(name))
    if path.name == "tokenizer.json" and path.parent.name:
        return path.parent.name
    return path.name.removesuffix(".json")
