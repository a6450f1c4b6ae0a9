"""A corpus on disk: two streams of tokens, for training and validation, mapped into memory.

Opening checks what is quick, forms and sizes; `verify_corpus` reads every byte, as training and evaluation do first.

    manifest.json       what it was made from, how much there is, and the SHA-256 of the four files; written last
    tokenizer.json      the tokenizer that made the tokens
    train.tokens.bin    ids, little-endian uint16 (int32 where the vocabulary needs it)
    train.starts.bin    where each document's text starts in the tokens, little-endian int64
    validation.*.bin    the same for the documents held out

`numpy.memmap("train.tokens.bin", "<u2", "r")` reads the tokens without this package.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from contracts.errors import InputError
from contracts.stream import CorpusManifest, StoredDtype, StoredStream, TokenStream
from research.progress import progress
from research.stream.manifest import MANIFEST, file_sha256, read_manifest
from research.tokenizers import BPETokenizer, ByteTokenizer, load_tokenizer

SPLITS = ("train", "validation")
TOKENIZER = "tokenizer.json"
DTYPES: dict[StoredDtype, np.dtype] = {"uint16": np.dtype("<u2"), "int32": np.dtype("<i4")}
STARTS_DTYPE = np.dtype("<i8")


@dataclass(frozen=True, eq=False)
class StoredCorpus:
    """An open corpus folder. The arrays are mapped, not read: opening takes no longer for a larger corpus."""

    folder: Path
    manifest: CorpusManifest
    tokenizer: ByteTokenizer | BPETokenizer
    train: TokenStream
    validation: TokenStream
    """without a document where nothing was held out"""

    @property
    def sha256(self) -> str:
        """The digest of the manifest, and through it of every file: the identity of the corpus."""
        return file_sha256(self.folder / MANIFEST)


def open_corpus(folder: str | os.PathLike[str]) -> StoredCorpus:
    """The corpus in `folder`, if it is finished and whole: tokenizer and file sizes are those of its manifest.

    Raises:
        InputError: for a missing or unfinished corpus, another tokenizer, a file that is missing, cut or too long.
            `verify_corpus` also finds changed bytes.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    if manifest.dtype not in DTYPES:
        raise InputError(str(folder / MANIFEST), expected="dtype uint16 or int32", got=repr(manifest.dtype))
    tokenizer = load_tokenizer(folder / TOKENIZER)
    manifest.recipe.tokenizer.require(tokenizer.identity, where=str(folder / TOKENIZER))
    dtype = DTYPES[manifest.dtype]
    train, validation = (_open_stream(folder, name, getattr(manifest, name), dtype) for name in SPLITS)
    return StoredCorpus(folder, manifest, tokenizer, train, validation)


def verify_corpus(corpus: StoredCorpus, splits: Sequence[str] = SPLITS) -> None:
    """Read every byte of these splits, at a second or so a gigabyte.

    Raises:
        InputError: naming the first file whose SHA-256 is not the one in the manifest.
    """
    digests = {
        path: digest
        for name in splits
        for path, digest in zip(stream_files(corpus.folder, name), _digests(corpus.manifest, name), strict=True)
    }
    with progress("verifying the corpus", total=sum(path.stat().st_size for path in digests), unit="bytes") as bar:
        for path, digest in digests.items():
            found = file_sha256(path, bar)
            if found != digest:
                hint = "the file was changed or damaged; build the corpus again"
                raise InputError(str(path), expected=f"SHA-256 {digest}", got=found, hint=hint)


def stream_files(folder: Path, name: str) -> tuple[Path, Path]:
    """The files of a stream: its tokens and its document starts."""
    return folder / f"{name}.tokens.bin", folder / f"{name}.starts.bin"


def _digests(manifest: CorpusManifest, name: str) -> tuple[str, str]:
    stored: StoredStream = getattr(manifest, name)
    return stored.tokens_sha256, stored.starts_sha256


def _open_stream(folder: Path, name: str, stored: StoredStream, dtype: np.dtype) -> TokenStream:
    tokens, starts = stream_files(folder, name)
    return TokenStream(
        _mapped(tokens, dtype, stored.counts.tokens),
        _mapped(starts, STARTS_DTYPE, stored.counts.documents),
        stored.counts,
    )


def _mapped(path: Path, dtype: np.dtype, items: int) -> np.ndarray:
    try:
        size = path.stat().st_size
        if size != items * dtype.itemsize:
            hint = "the file was cut or added to; build the corpus again"
            raise InputError(str(path), expected=f"{items * dtype.itemsize} bytes", got=size, hint=hint)
        if not items:  # an empty file can't be mapped
            return np.zeros(0, dtype)
        return np.asarray(np.memmap(path, dtype, mode="r", shape=(items,)))
    except OSError as error:
        raise InputError(str(path), expected="a readable file", got=str(error.strerror)) from None
