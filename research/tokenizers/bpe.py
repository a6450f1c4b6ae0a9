"""The byte-level BPE: learned from text or counts, or made from merges that are already known."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from contracts.errors import InputError
from contracts.tokenizer import Boundary, StopReason, TieBreak
from research.text.documents import read_documents, source_files
from research.tokenizers import engine, store
from research.tokenizers.boundaries import checked_boundary
from research.tokenizers.counting.parts import size_on_disk
from research.tokenizers.ids import is_integer
from research.tokenizers.interop import huggingface, tiktoken_ranks
from research.tokenizers.interop.external import Roles
from research.tokenizers.plain.train import Pair, count_pretokens, learn
from research.tokenizers.pretokenize import Pretokenizer, RegexPattern, pretokenizer
from research.tokenizers.text import utf8
from research.tokenizers.tokenizer import ByteLevelTokenizer
from research.tokenizers.vocabulary import Training, Vocabulary, checked_merges

if TYPE_CHECKING:
    from research.tokenizers.kernels.count import WordCounts


class BPETokenizer(ByteLevelTokenizer):
    """256 bytes, merges in learned order, and the boundary policy's protocol tokens above them."""

    def __init__(
        self,
        merges: Sequence[Sequence[int]] | np.ndarray,
        pattern: str = "words",
        boundary: Boundary = "shared",
    ) -> None:
        super().__init__(Vocabulary(checked_merges(merges), pretokenizer(pattern)), boundary)

    @classmethod
    def train(
        cls,
        documents: Iterable[str],
        vocab_size: int,
        pattern: str = "words",
        min_count: int = 2,
        tie_break: TieBreak = "smallest-ids",
        boundary: Boundary = "shared",
        executor: Executor | None = None,
    ) -> "BPETokenizer":
        """Learn up to `vocab_size` text tokens from any iterable of texts.

        The size is an upper bound: training stops when no pair of neighbours occurs `min_count` times, or when the
        next token would have more than 1 MiB, as one long run in the text can make it, or all tokens together more
        than 256 MiB; `stop_reason` tells which it was. The result depends on the texts alone, not on their order, nor
        on who counts: the workers of any `executor` (threads, processes, a cluster), or without one the threads of
        this process.

        Raises `InputError` for bad settings, a text that is not Unicode, and documents without any text.
        """
        _check_settings(vocab_size, min_count, tie_break, boundary)
        pieces = pretokenizer(pattern)
        documents, size = engine.measured(documents)
        if engine.engine_for(size):
            words = engine.count_pretokens(documents, pieces, executor)
            learned = _learn_counted(words, vocab_size, min_count, tie_break)
        else:
            counts = _checked_counts(count_pretokens(documents, pieces.split))
            learned = learn(counts, vocab_size - 256, min_count, tie_break)
        return cls._trained(*learned, vocab_size, pieces, boundary)

    @classmethod
    def train_files(
        cls,
        paths: Iterable[str | PathLike[str]],
        vocab_size: int,
        pattern: str = "words",
        min_count: int = 2,
        tie_break: TieBreak = "smallest-ids",
        boundary: Boundary = "shared",
        *,
        separator: str | None = None,
        field: str = "text",
        executor: Executor | None = None,
        counts_file: str | Path | None = None,
    ) -> "BPETokenizer":
        """What `train` learns from the documents of `read_documents(*paths, separator=separator, field=field)`.

        A file may be larger than memory: it is read in parts of some megabytes. For the pattern `none`, and for a
        regex that only the module `regex` can split, a document has to fit. Workers of an `executor` read plain files
        themselves, by the same paths; pipes and devices are read here, once, to their end.

        With a `counts_file` the counts are saved there every ten seconds, and the same call goes on from them, even
        after a kill; remove the file when the tokenizer is saved. Less than a megabyte is counted at once and saves
        nothing.

        Raises `InputError` as `train` and `read_documents` do, for a single path that is not in a list, and for a
        `counts_file` with anything else in it, or that is part of the corpus.
        """
        _check_settings(vocab_size, min_count, tie_break, boundary)
        pieces = pretokenizer(pattern)
        paths = _checked_paths(paths)
        if not engine.engine_for(_size(paths)):
            documents = (document.text for document in read_documents(*paths, separator=separator, field=field))
            return cls.train(documents, vocab_size, pattern, min_count, tie_break, boundary)
        words = engine.count_files(paths, pieces, separator, field, executor, counts_file)
        return cls._trained(*_learn_counted(words, vocab_size, min_count, tie_break), vocab_size, pieces, boundary)

    @classmethod
    def train_counts(
        cls,
        word_counts: Mapping[str, int],
        vocab_size: int,
        pattern: str = "words",
        min_count: int = 2,
        tie_break: TieBreak = "smallest-ids",
        boundary: Boundary = "shared",
    ) -> "BPETokenizer":
        """The same from how often each pre-token of `pattern` occurs: `{"the": 812, " ": 790, ...}`.

        Raises `InputError`, too, for a word that `pattern` cuts, as no merge crosses its borders. One that a regex
        of one's own finds by what stands around it (`(?<=`, `(?!`, a word border) can't be judged alone and is taken.
        """
        _check_settings(vocab_size, min_count, tie_break, boundary)
        pieces = pretokenizer(pattern)
        counts = _checked_counts(word_counts)
        _require_pretokens(word_counts, pieces)
        by_whom = engine.learn if engine.engine_for(sum(map(len, counts))) else learn
        return cls._trained(*by_whom(counts, vocab_size - 256, min_count, tie_break), vocab_size, pieces, boundary)

    @classmethod
    def _trained(
        cls,
        merges: Sequence[Pair] | np.ndarray,
        is_full: bool,
        vocab_size: int,
        pieces: Pretokenizer,
        boundary: Boundary,
    ) -> "BPETokenizer":
        reason: StopReason = "the next token would be too long" if is_full else "no pair occurs min_count times"
        if len(merges) == vocab_size - 256:
            reason = "vocab_size reached"
        return cls.of(Vocabulary(checked_merges(merges), pieces), boundary, Training(int(vocab_size), reason))

    @classmethod
    def load(cls, path: str | Path) -> "BPETokenizer":
        """Read what `save` wrote. Raises `InputError` if the file was cut or edited, or is not a BPE."""
        vocabulary, boundary, training = store.parse(store.read_json(path), path)
        if vocabulary.pretokenizer is None:
            raise InputError(
                "tokenizer file",
                expected="a BPE",
                got="the byte tokenizer",
                where=str(path),
                hint="load_tokenizer reads either",
            )
        return cls.of(vocabulary, boundary, training)

    @classmethod
    def from_huggingface(
        cls, path: str | Path, boundary: Boundary | None = None, roles: Roles | None = None
    ) -> "BPETokenizer":
        """Read a `tokenizer.json`, or the one in a folder, if it is an exact byte-level BPE.

        `roles` says which special token of the file stands for which protocol token: `{"doc": "<|endoftext|>"}`.
        Without it `<|doc|>`, `<|bos|>` and `<|eos|>` stand for theirs; in a file without these the only special
        token, or the one called `<|endoftext|>`, stands for every boundary. All others are listed in
        `special_tokens` and have no id here. Without `boundary` the policy is the one with exactly these roles,
        else `shared`.

        Raises `InputError` with the name of what can't be reproduced: truncation, padding, a decoder that is not
        ByteLevel, a post-processor that puts tokens around a text (what the boundary policy does here: set it to
        null in the file to read the rest), and what else `interop.huggingface` lists.
        """
        path = Path(path)
        path = path / "tokenizer.json" if path.is_dir() else path
        return cls.of(*huggingface.from_huggingface(store.read_json(path), path, boundary, roles))

    @classmethod
    def from_tiktoken(
        cls, source: Any, pattern: str | None = None, boundary: Boundary | None = None, roles: Roles | None = None
    ) -> "BPETokenizer":
        """Read tiktoken's ranks: a `tiktoken.Encoding`; or a `.tiktoken` file or a dict from bytes to rank, with the
        `pattern` that these leave unsaid.

        `boundary` and `roles` as in `from_huggingface`.

        Raises `InputError` for a token that no merge reaches, and what else `tiktoken_ranks.from_tiktoken` lists.
        """
        return cls.of(*tiktoken_ranks.from_tiktoken(source, pattern, boundary, roles))


def _checked_paths(paths: Any) -> list[str | PathLike[str]]:
    """As a list, which can be gone through again."""
    if isinstance(paths, (str, bytes, PathLike)) or not isinstance(paths, Iterable):
        hint = "put a single path in a list"
        raise InputError("paths", expected="an iterable of paths", got=repr(paths), hint=hint)
    found = list(paths)
    for path in found:
        if not isinstance(path, (str, PathLike)):
            raise InputError("paths", expected="paths, each a str or a Path", got=repr(path))
    return found


def _size(paths: Sequence[str | PathLike[str]]) -> int:
    """Bytes of all files; a pipe, which may be of any size, counts as enough for the engine."""
    sizes = [size_on_disk(file) for path in paths for file in source_files(path)]
    return sum(engine.ENOUGH if size is None else size for size in sizes)


def _learn_counted(
    words: "WordCounts", vocab_size: int, min_count: int, tie_break: TieBreak
) -> tuple[Sequence[Pair] | np.ndarray, bool]:
    _require_text(bool(words.counts[1:].any()))
    return engine.learn(words, vocab_size - 256, min_count, tie_break)


def _check_settings(vocab_size: Any, min_count: Any, tie_break: Any, boundary: Any) -> None:
    if not is_integer(vocab_size) or vocab_size < 256:
        raise InputError("vocab_size", expected="an integer of at least 256 (the bytes)", got=repr(vocab_size))
    if not is_integer(min_count) or min_count < 1:
        raise InputError("min_count", expected="an integer of at least 1", got=repr(min_count))
    if tie_break not in ("smallest-ids", "largest-bytes"):
        raise InputError("tie_break", expected="smallest-ids or largest-bytes", got=repr(tie_break))
    checked_boundary(boundary)


def _checked_counts(word_counts: Mapping[str, int]) -> dict[bytes, int]:
    checked = {}
    for word, count in word_counts.items():
        if not word or not is_integer(count) or count < 0:
            raise InputError("word_counts", expected="pre-tokens with counts >= 0", got=f"{word!r}: {count!r}")
        checked[utf8(word, what="word_counts")] = int(count)
    _require_text(any(checked.values()))
    return checked


def _require_pretokens(words: Iterable[str], pieces: Pretokenizer) -> None:
    if isinstance(pieces, RegexPattern) and pieces.looks_around:
        return
    for word in words:
        if (found := pieces.split(word)) != [word]:
            got = f"{word!r}, which it cuts into {', '.join(map(repr, found[:4]))}"
            raise InputError("word_counts", expected=f"pre-tokens of the pattern {pieces.spelling!r}", got=got)


def _require_text(found: bool) -> None:
    if not found:
        raise InputError("corpus", expected="some text to learn from", got="none")
