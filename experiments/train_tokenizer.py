"""`bytebound tokenizer`: train a vocabulary on one's own text and keep it in a file that a person can read."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from contracts.errors import InputError
from experiments.files import check_writable
from experiments.tokens import Verbatim


@dataclass(frozen=True)
class TrainTokenizer:
    """Train a byte-level BPE on text files and save it.

    The size counts text tokens and is an upper bound: training stops early when no pair of tokens occurs --min-count
    times, or when the next token would have more than 1 MiB. The same text gives the same vocabulary on every machine.

    Files may be larger than memory, and every core counts. It can be stopped at any moment, by force too: counts are
    kept beside --out every ten seconds, and the same command goes on from them; only what came by a pipe has to be
    counted anew. --out lies outside of the corpus.
    """

    corpus: tyro.conf.Positional[tuple[str, ...]]
    """text files or folders (UTF-8; .gz, .jsonl and .parquet too)"""
    out: str
    """file to write, such as vocabulary.json"""
    vocab_size: int = 4096
    """text tokens: 256 bytes and the rest merges"""
    pattern: str = "words"
    """how text is cut before merging: words, gpt2, gpt2-digits, cl100k, none, or a regular expression"""
    min_count: int = 2
    """a pair that occurs less often is never merged"""
    tie_break: Literal["smallest-ids", "largest-bytes"] = "smallest-ids"
    """which of two equally frequent pairs is merged first"""
    boundary: Literal["shared", "separate", "bos", "eos", "none"] = "shared"
    """the protocol tokens between documents"""
    separator: Verbatim = None
    """text between the documents of a file, such as '<|endoftext|>'"""

    def run(self) -> None:
        """Train, save, say what came out."""
        from research.tokenizers import BPETokenizer

        if not self.corpus:
            raise InputError("corpus", expected="at least one file or folder", got="none")
        check_writable(Path(self.out))
        counts = _counts_file(Path(self.out))
        _check_outside(Path(self.out), self.corpus)
        _check_outside(counts, self.corpus)
        try:
            tokenizer = BPETokenizer.train_files(
                self.corpus,
                self.vocab_size,
                pattern=self.pattern,
                min_count=self.min_count,
                tie_break=self.tie_break,
                boundary=self.boundary,
                separator=self.separator,
                counts_file=counts,
            )
            tokenizer.save(self.out)
        except KeyboardInterrupt:
            if counts.exists():
                print(f"stopped; the same command goes on from the counts in {counts}", file=sys.stderr)
            raise
        counts.unlink(missing_ok=True)
        print(f"{tokenizer.text_vocab_size:,} text tokens ({len(tokenizer.merges):,} merges), {tokenizer.stop_reason}")
        print(f"vocab_sha256 {tokenizer.identity.vocab_sha256}")
        print(f"written: {self.out}")


def _counts_file(out: Path) -> Path:
    return out.with_name(f"{out.name}.counts")


def _check_outside(path: Path, corpus: Sequence[str]) -> None:
    """Refuse to write what is read: it would be lost, or be text of the corpus the next time."""
    from research.tokenizers.counting.parts import lies_in

    if found := lies_in(path, corpus):
        expected, hint = "a file outside of the corpus", "choose another folder"
        raise InputError("--out", expected=expected, got=f"{path}, which is read as part of {found}", hint=hint)
