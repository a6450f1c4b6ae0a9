"""`bytebound corpus`: text files to a folder of tokens, and what such a folder holds."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from contracts.errors import InputError


@dataclass(frozen=True)
class BuildCorpus:
    """Tokenize text files into a folder that training reads: memory-mapped tokens, in bounded memory at any size.

    One document of a text file may be larger than memory, unless the tokenizer's pattern is `none` or one that can't be
    cut. The build can be stopped at any moment, by force too: the same command goes on where it stopped, within a
    document too, and ends with the same bytes. A document is held out for validation if its SHA-256 says so, so equal
    documents are on one side.
    """

    text: tyro.conf.Positional[tuple[str, ...]]
    """text files or folders (UTF-8; .gz, .jsonl and .parquet too)"""
    out: str
    """folder to make, or to go on with"""
    tokenizer: str = "bytes"
    """bytes, bpe-SIZE (trained on the embedded corpus), a saved vocabulary or a tokenizer.json"""
    boundary: Literal["shared", "separate", "bos", "eos", "none"] | None = None
    """the protocol tokens between documents; the tokenizer's own if not given"""
    validation: float = 0.1
    """share of documents to hold out"""
    separator: str | None = None
    """text between the documents of a file, such as '<|endoftext|>'; without, a file is one document"""
    per_line: bool = False
    """every line of a text file is a document; where lines end in CRLF, the CR stays in each document"""
    field: str = "text"
    """the field of .jsonl, or column of .parquet, that holds the text"""
    on_empty: Literal["error", "skip"] = "error"
    """empty documents: refuse them, or leave them out and count them"""
    max_documents: int | None = None
    """refuse a corpus of more documents"""
    max_characters: int | None = None
    """refuse a corpus of more characters"""
    max_bytes: int | None = None
    """refuse a corpus of more UTF-8 bytes"""
    max_tokens: int | None = None
    """refuse a corpus of more tokens, boundaries included"""

    def run(self) -> None:
        """Build, or finish, or find finished; say what came out."""
        from experiments.vocabularies import tokenizer_named
        from research.stream import CorpusLimits, build_corpus

        if self.per_line and self.separator is not None:
            raise InputError("--separator", expected="none beside --per-line", got=repr(self.separator))
        tokenizer = tokenizer_named(self.tokenizer)
        try:
            corpus = build_corpus(
                self.text,
                tokenizer.with_boundary(self.boundary) if self.boundary else tokenizer,
                self.out,
                validation=self.validation,
                separator="\n" if self.per_line else self.separator,
                field=self.field,
                on_empty=self.on_empty,
                limits=CorpusLimits(self.max_documents, self.max_characters, self.max_bytes, self.max_tokens),
            )
        except KeyboardInterrupt:
            print(f"stopped; the same command goes on in {self.out}", file=sys.stderr)
            raise
        _print_counts(corpus)
        if self.per_line and (file := _with_crlf(self.text)) is not None:
            hint = "--separator $'\\r\\n' instead of --per-line cuts it"
            print(f"note: lines of {file} end in CRLF, and each keeps its CR; {hint}", file=sys.stderr)
        print(f"written: {self.out}")


@dataclass(frozen=True)
class ShowCorpus:
    """Verify every byte of a corpus folder against its manifest, and say what it holds.

    With --length also what rows of that many positions would compute for nothing or leave out, under each packing.
    """

    folder: tyro.conf.Positional[str]
    """folder that `bytebound corpus build` made"""
    length: int | None = None
    """positions of a row, such as 1024"""

    def run(self) -> None:
        """Open, verify, print."""
        from research.stream import open_corpus, verify_corpus

        corpus = open_corpus(self.folder)
        verify_corpus(corpus)
        _print_counts(corpus)
        if self.length is not None:
            print(_waste_table(corpus, self.length).plain())
        print(f"every byte is as the manifest says (SHA-256 {corpus.sha256})")


@dataclass(frozen=True)
class Corpus:
    """Text files to a folder of tokens, and what such a folder holds."""

    action: Annotated[
        Annotated[BuildCorpus, tyro.conf.subcommand("build")] | Annotated[ShowCorpus, tyro.conf.subcommand("show")],
        tyro.conf.arg(name=""),
    ]

    def run(self) -> None:
        """Run the subcommand."""
        self.action.run()


def _with_crlf(paths: Sequence[str]) -> Path | None:
    """The first plain text file in whose first megabyte a line ends in CRLF."""
    from research.stream.sources import PACKED
    from research.text import source_files

    for file in (file for path in paths for file in source_files(path) if not file.name.lower().endswith(PACKED)):
        with open(file, "rb") as text:
            if b"\r\n" in text.read(1 << 20):
                return file
    return None


def _print_counts(corpus: Any) -> None:
    from experiments.tables import Table

    recipe = corpus.manifest.recipe
    rows = []
    for name in ("train", "validation"):
        counts = getattr(corpus, name).counts
        numbers = (counts.documents, counts.characters, counts.bytes, counts.tokens, counts.skipped)
        rows.append((name, *(f"{number:,}" for number in numbers)))
    columns = ("split", "documents", "characters", "bytes", "tokens", "skipped")
    title = f"{recipe.tokenizer.version}, V = {recipe.tokenizer.vocab_size:,}, boundary {recipe.boundary}"
    print(Table(title, columns, tuple(rows)).plain())


def _waste_table(corpus: Any, length: int) -> Any:
    from contracts.batch import RowPolicy
    from experiments.tables import Table, number
    from research.stream import Rows

    policies = {
        "concatenate": RowPolicy("concatenate", "segments", "restart", "no-cross"),
        "fit": RowPolicy("fit", "segments", "restart", "no-cross"),
        "fit, reset": RowPolicy("fit", "reset", "restart", "no-cross"),
    }
    rows = []
    for name, policy in policies.items():
        waste = Rows(corpus.train, corpus.tokenizer, policy, batch_size=1, length=length).waste
        share = f"{number(100 * waste.padded / waste.positions)} %"
        counts = (waste.rows, waste.split_documents, waste.unscored, waste.untrained_tokens)
        rows.append((name, share, *(f"{count:,}" for count in counts)))
    columns = ("packing", "padded", "rows", "documents split", "joins not trained", "text tokens not trained")
    return Table(f"an epoch of training in rows of {length:,} positions, joins not trained on", columns, tuple(rows))
