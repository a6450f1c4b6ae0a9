"""`bytebound evaluate`: what a run's predictions of held-out text are worth, beside xz and an n-gram of bytes."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal

import tyro

from contracts.errors import InputError
from experiments.names import distinguished, printable
from experiments.tables import Table, number

_OF_RUN = "(default: the run's)"
_NGRAM_BYTES = 1 << 25
"""of training text that the n-gram learns from: seconds, and a gigabyte of memory at most"""


@dataclass(frozen=True)
class Evaluate:
    """Bits per byte of a trained decoder on held-out text: every byte scored once, and the books balanced.

    bpb_text counts the tokens of text; bpb_total also what predicting the boundaries costs, over the same bytes. Both
    compare across tokenizers. xz and a byte 5-gram, which learned from the run's training text, are to be beaten.

      bytebound evaluate my_run                              what its corpus held out
      bytebound evaluate my_run --text korean/ english/      each file by itself, and all together
      bytebound evaluate my_run --text my_texts/ --held-out  only documents that the corpus would have held out
      bytebound evaluate my_run --overlap 64                 at least 64 positions of context after the first window
    """

    run_folder: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN")]
    """folder of a run that `bytebound train` made"""
    corpus: Annotated[str | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="(default: what the run read)")] = (
        None
    )
    """corpus folder; its held-out part is scored, or --text if given, and the 5-gram learns from its training part"""
    text: Annotated[tuple[str, ...], tyro.conf.arg(metavar="FILE|DIR", help_behavior_hint="")] = ()
    """text files or folders to score instead; cut into documents as the corpus was"""
    held_out: bool = False
    """of --text, only the documents that the corpus would have held out"""
    length: Annotated[int | None, tyro.conf.arg(metavar="INT", help_behavior_hint=_OF_RUN)] = None
    """positions of a window"""
    overlap: int = 0
    """positions that a window repeats of the one before, as context that is not scored again"""
    isolation: Annotated[
        Literal["cross", "segments", "reset"] | None,
        tyro.conf.arg(metavar="{cross,segments,reset}", help_behavior_hint=_OF_RUN),
    ] = None
    """whether a document sees those before it in the window"""
    batch_size: int = 8
    """windows at once"""
    step: Annotated[int | None, tyro.conf.arg(metavar="INT", help_behavior_hint="(default: the newest)")] = None
    """the checkpoint after so many steps of training"""
    json: bool = False
    """print a JSON line for each row instead of the table"""

    def run(self) -> None:
        """Open, score, account, show."""
        if self.held_out and not self.text:
            raise InputError("--held-out", expected="--text beside it", got="none", hint="a corpus knows its own")

        from research.evaluate import evaluate
        from research.evaluate.score import document_bytes
        from research.train import open_run

        run = open_run(self.run_folder, self.step)
        policy = self._policy(run.config)
        corpus = self._corpus(run)
        ngram = _ngram(corpus)
        rows = []
        for name, stream in self._streams(run, corpus):
            found = evaluate(run.decoder, stream, run.tokenizer, policy, batch_size=self.batch_size)
            documents = [document.decode() for document in document_bytes(stream, run.tokenizer)]
            rows.append(_Row(name, found.ledger, found.unconditioned, documents))
        if len(rows) > 1:
            rows.append(_all_of(rows))
        for row in rows:
            if self.json:
                print(json.dumps(row.as_dict(ngram), ensure_ascii=False))
        if not self.json:
            print(_table(rows, ngram, run, policy).plain())
            for note in _notes(rows, ngram):
                print(f"* {note}")

    def _policy(self, config: Any) -> Any:
        from contracts.evaluation import ContextPolicy

        rows = config.policy
        if self.isolation == "reset":
            rows = replace(rows, isolation="reset", packing="fit", loss="no-cross")
        elif self.isolation:
            rows = replace(rows, isolation=self.isolation)
        return ContextPolicy.like(rows, config.length if self.length is None else self.length, self.overlap)

    def _corpus(self, run: Any) -> Any:
        """The corpus to take text from; none if only its 5-gram would be missed."""
        from research.stream import open_corpus
        from research.train.run import corpus_of

        if self.corpus is not None:
            corpus = open_corpus(self.corpus)
            run.manifest.tokenizer.require(corpus.tokenizer.identity, where=self.corpus)
            return corpus
        try:
            return corpus_of(Path(self.run_folder), run.manifest)
        except InputError:
            if self.text and not self.held_out:
                return None
            raise

    def _streams(self, run: Any, corpus: Any) -> Iterator[tuple[str, Any]]:
        """What is scored, by name."""
        if not self.text:
            if not len(corpus.validation.starts):
                hint = "--text scores other text"
                raise InputError(
                    str(corpus.folder), expected="a corpus that holds something out", got="none", hint=hint
                )
            yield "held out", corpus.validation
            return
        from research.stream import build_stream
        from research.text.documents import source_files

        files = [file for path in self.text for file in source_files(path)]
        names = distinguished([PurePath(file) for file in files], [1] * len(files))
        for file, name in zip(files, names, strict=True):
            documents = list(self._documents(file, corpus))
            if documents or len(files) == 1:
                yield printable(name), build_stream(documents, run.tokenizer, on_empty="skip")

    def _documents(self, file: Path, corpus: Any) -> Iterator[str]:
        from research.stream.corpus import is_held_out
        from research.text import read_documents

        options = {}
        if corpus is not None:
            options = {"separator": corpus.manifest.recipe.separator, "field": corpus.manifest.recipe.field}
        for document in read_documents(file, **options):
            if not self.held_out or is_held_out(document.text.encode(), corpus.manifest.recipe.validation):
                yield document.text


@dataclass(frozen=True)
class _Row:
    """One text with its account."""

    name: str
    ledger: Any
    unconditioned: int
    documents: list[str]

    def as_dict(self, ngram: Any) -> dict[str, Any]:
        """Plain numbers."""
        from research.measures import xz_bits

        size = int(self.ledger.bytes.sum())
        return {
            "text": self.name,
            "documents": len(self.ledger.bytes),
            "bytes": size,
            "tokens": int(self.ledger.tokens_text.sum() + self.ledger.tokens_protocol.sum()),
            "bpb_text": self.ledger.bpb_text,
            "bpb_total": self.ledger.bpb_total,
            "xz": xz_bits(self.documents) / size,
            "5-gram": None if ngram is None else ngram.bits_per_byte(self.documents, ends=False),
        }


def _all_of(rows: Sequence[_Row]) -> _Row:
    import numpy as np

    arrays = ("nats_text", "nats_protocol", "bytes", "characters", "tokens_text", "tokens_protocol")
    joined = {name: np.concatenate([getattr(row.ledger, name) for row in rows]) for name in arrays}
    ledger = replace(rows[0].ledger, **joined, mistaken={})
    return _Row(
        "all", ledger, sum(row.unconditioned for row in rows), [document for row in rows for document in row.documents]
    )


def _ngram(corpus: Any) -> Any:
    """A 5-gram of the training text, or of its first documents."""
    if corpus is None:
        return None
    from research.evaluate.score import decoded
    from research.measures import ByteNGram

    documents: list[str] = []
    size = 0
    for document in decoded(corpus.train, corpus.tokenizer):
        if documents and size + len(document) > _NGRAM_BYTES:
            break
        documents.append(document.decode())
        size += len(document)
    return ByteNGram.learn(documents)


def _table(rows: Sequence[_Row], ngram: Any, run: Any, policy: Any) -> Table:
    cells = []
    for row in rows:
        found = row.as_dict(ngram)
        bits = (found[name] for name in ("bpb_text", "bpb_total", "xz", "5-gram"))
        cells.append(
            (
                row.name,
                *(f"{found[name]:,}" for name in ("documents", "bytes", "tokens")),
                *("-" if value is None else number(value, 4) for value in bits),
            )
        )
    title = (
        f"bits per byte after {run.step:,} steps; windows of {policy.length}, overlap {policy.overlap}, "
        f"{policy.isolation}, positions {policy.positions}"
    )
    columns = ("text", "documents", "bytes", "tokens scored", "bpb_text", "bpb_total", "xz -9e", "byte 5-gram")
    return Table(title, columns, tuple(cells))


def _notes(rows: Sequence[_Row], ngram: Any) -> Iterator[str]:
    """What a reader has to know to read the table right."""
    last = rows[-1]
    if ngram is None:
        yield "no 5-gram: the corpus that the run read is not where it was; --corpus says where it is"
    if last.unconditioned:
        yield f"{last.unconditioned:,} tokens had nothing before them: they cost a uniform guess over all of text"
    yield from last.ledger.doubts
