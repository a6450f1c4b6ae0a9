"""`load_tokenizer`: one way to name any tokenizer."""

from pathlib import Path

from contracts.errors import InputError
from contracts.tokenizer import Boundary
from research.tokenizers import store
from research.tokenizers.bpe import BPETokenizer
from research.tokenizers.byte import ByteTokenizer
from research.tokenizers.interop import huggingface


def load_tokenizer(path_or_name: str | Path, boundary: Boundary | None = None) -> ByteTokenizer | BPETokenizer:
    """The tokenizer of that name (`bytes`) or in that file: a saved one, or a Hugging Face `tokenizer.json`.

    `boundary` overrides a saved file's policy; without it that of `bytes` is `shared`, and of a `tokenizer.json` what
    `BPETokenizer.from_huggingface` says. Raises `InputError` for a file
    that is missing, cut or edited, and for a `tokenizer.json` that is not an exact byte-level BPE.
    """
    if path_or_name == "bytes":
        return ByteTokenizer(boundary or "shared")
    path = Path(path_or_name)
    if path.is_dir():
        path = path / "tokenizer.json"
    if not path.exists():
        raise InputError(
            "tokenizer",
            expected="bytes, a saved tokenizer or a tokenizer.json",
            got=repr(str(path_or_name)),
            hint="there is no such file",
        )
    document = store.read_json(path)
    if "model" in document:
        return BPETokenizer.of(*huggingface.from_huggingface(document, path, boundary))
    vocabulary, own_boundary, training = store.parse(document, path)
    kind = ByteTokenizer if vocabulary.pretokenizer is None else BPETokenizer
    return kind.of(vocabulary, boundary or own_boundary, training)
