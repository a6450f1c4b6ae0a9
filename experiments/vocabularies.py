"""Tokenizers by name: `bytes`, `bpe-4096` (trained here and now on the embedded corpus), or a file."""

import re
from typing import Any

from contracts.errors import InputError
from research.text import LANGUAGES, parallel_documents
from research.tokenizers import BPETokenizer, load_tokenizer


def tokenizer_named(name: str) -> Any:
    """The tokenizer `name`: `bytes`, `bpe-SIZE`, or the path of a saved vocabulary or `tokenizer.json`."""
    size = re.fullmatch(r"bpe-(\d+)", name)
    if size is None:
        return load_tokenizer(name)
    if int(size[1]) < 256:
        raise InputError("tokenizer", expected="bpe-SIZE with at least 256 (the bytes)", got=name)
    documents = [document for language in LANGUAGES for document in parallel_documents(language)]
    return BPETokenizer.train(documents, int(size[1]))
