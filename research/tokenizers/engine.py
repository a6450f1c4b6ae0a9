"""The door to the Numba kernels, and when to go through it: never for little text, which would pay more than it gains.

Results are the same on either side. `BYTEBOUND_ENGINE=numba` or `python` decides by hand.
"""

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int64

from contracts.errors import InputError
from contracts.tokenizer import Merges, TieBreak, TokenIds
from research.tokenizers.plain import train
from research.tokenizers.pretokenize import Pretokenizer
from research.tokenizers.text import raw_bytes, require_utf8, utf8

if TYPE_CHECKING:
    from research.tokenizers.kernels.count import WordCounts
    from research.tokenizers.kernels.decode import Spelling
    from research.tokenizers.kernels.encoder import Encoder

ENOUGH = 1 << 20
"""Bytes that a process handles in plain Python first: about as long as loading the kernels takes."""

_MOST = 2**63 - 1
_loading = threading.Lock()


class _Handled:
    """How many bytes this process has handled; threads may lose a few of each other's."""

    size = 0
    by_kernels = False


def engine_for(more_bytes: int) -> bool:
    """Whether the kernels shall handle `more_bytes`; once they do, they do for good. They are loaded then.

    Raises `InputError` if the environment variable `BYTEBOUND_ENGINE` is neither `auto`, `numba` nor `python`.
    """
    choice = os.environ.get("BYTEBOUND_ENGINE", "auto")
    if choice not in ("auto", "numba", "python"):
        raise InputError("BYTEBOUND_ENGINE", expected="auto, numba or python", got=repr(choice))
    if choice == "python":
        return False
    if _Handled.by_kernels:
        return True
    if choice == "auto":
        _Handled.size += more_bytes
        if _Handled.size < ENOUGH:
            return False
    from research.tokenizers import kernels

    with _loading:
        kernels.load()
        _Handled.by_kernels = True
    return True


def measured(documents: Iterable[str]) -> tuple[Iterable[str], int]:
    """The same documents, and how many bytes they have, or at least `ENOUGH` of them: no more is taken to find out.

    Raises `InputError` as `train.count_pretokens` does.
    """
    if isinstance(documents, (str, bytes)) or not isinstance(documents, Iterable):
        train.count_pretokens(documents, list)  # which refuses it
    rest = iter(documents)
    first: list[str] = []
    size = 0
    for index, document in enumerate(rest):
        first.append(document)
        size += len(utf8(document, what=f"document {index}")) + 1
        if size >= ENOUGH:
            break
    return chain(first, rest), size


def valid_utf8(text: Any, what: str) -> bytes:
    """A str, or bytes of UTF-8, as bytes. Raises `InputError` for what is neither."""
    if isinstance(text, str):
        return utf8(text, what)
    data = raw_bytes(text, what)
    if not data.isascii() and not (engine_for(len(data)) and _is_utf8(np.frombuffer(data, np.uint8))):
        require_utf8(data, what)
    return data


def _is_utf8(data: np.ndarray) -> bool:
    from research.tokenizers.kernels.utf8 import is_utf8

    return bool(is_utf8(data))


def count_pretokens(
    documents: Iterable[str], pretokenizer: Pretokenizer, executor: Executor | None = None
) -> "WordCounts":
    """What `train.count_pretokens` counts, by the workers of `executor` or the threads of this process."""
    from research.tokenizers.counting import map_reduce, parts

    return map_reduce.count(parts.parts_of_documents(documents), pretokenizer, executor)


def count_files(
    paths: Sequence[str | PathLike[str]],
    pretokenizer: Pretokenizer,
    separator: str | None = None,
    field: str = "text",
    executor: Executor | None = None,
    counts_file: str | Path | None = None,
) -> "WordCounts":
    """The same of the documents in files, which may be larger than memory; `counts_file` as in `train_files`."""
    from research.tokenizers.counting import map_reduce, parts

    reading = {"separator": separator, "field": field}
    found = parts.parts_of_files(paths, pretokenizer, separator, field)
    saved = map_reduce.Saved.of(counts_file, paths, pretokenizer, **reading) if counts_file else None
    return map_reduce.count(found, pretokenizer, executor, parts.plain_size(paths), saved)


def learn(
    word_counts: "Mapping[bytes, int] | WordCounts",
    limit: int,
    min_count: int = 2,
    tie_break: TieBreak = "smallest-ids",
) -> tuple[list[train.Pair] | Merges, bool]:
    """What `train.learn` learns."""
    from research.tokenizers.kernels.count import WordCounts
    from research.tokenizers.kernels.learn import learn

    if not isinstance(word_counts, WordCounts):
        if sum(len(word) * count for word, count in word_counts.items()) > _MOST:
            return train.learn(word_counts, limit, min_count, tie_break)
        word_counts = WordCounts.of(word_counts)
    return learn(word_counts, int(limit), int(min(min_count, _MOST)), tie_break)


def encoder(merges: Merges, pretokenizer: Pretokenizer) -> "Encoder":
    """Bytes to ids, for one thread at a time."""
    from research.tokenizers.kernels.encoder import Encoder

    return Encoder(merges, pretokenizer)


def last_cut(data: bytes, pretokenizer: Pretokenizer) -> int:
    """The last place where valid UTF-8 may be cut in two whose ids are those of the whole.

    0 if there is none, or if the kernels, which know it, are not used.
    """
    if not engine_for(len(data)):
        return 0
    from research.tokenizers.kernels.pages import last_cut

    return last_cut(np.frombuffer(data, np.uint8), len(data), pretokenizer)


def encode_on_threads(
    texts: Sequence[np.ndarray],
    pretokenizer: Pretokenizer,
    threads: int,
    encoder: "Callable[[], AbstractContextManager[Encoder]]",
) -> tuple[TokenIds, Int64[np.ndarray, "texts+1"]]:
    """What one encoder makes of `texts`, by several that `encoder` lends."""
    from research.tokenizers.kernels.shares import encode_on_threads

    return encode_on_threads(texts, pretokenizer, threads, encoder)


def spelling(merges: Merges) -> "Spelling":
    """Ids to bytes."""
    from research.tokenizers.kernels.decode import Spelling

    return Spelling(np.array(merges))  # a read-only array would be compiled for anew
