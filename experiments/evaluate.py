"""`bytebound evaluate`: what a run's predictions of held-out text are worth, beside xz and an n-gram of bytes."""

import json
import math
from collections import Counter
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
    compare across tokenizers. To be beaten are xz, which learned from nothing but the text that it packs, and a byte
    5-gram, which learned from the run's training text.

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
        texts = self._texts(run, corpus)
        ngram = _ngram(corpus)
        rows = []
        for text in texts:
            found = evaluate(run.decoder, text.stream, run.tokenizer, policy, batch_size=self.batch_size)
            documents = [document.decode() for document in document_bytes(text.stream, run.tokenizer)]
            rows.append(_Row(text.name, found.ledger, found.unconditioned, documents, text.empty, text.perhaps_trained))
        if len(rows) > 1:
            rows.append(_all_of(rows))
        for row in rows:
            if self.json:
                print(json.dumps(row.as_dict(ngram), ensure_ascii=False))
        if not self.json:
            print(_table(rows, ngram, run, policy).plain())
            is_another = corpus is not None and corpus.sha256 != run.manifest.corpus_sha256
            for note in _notes(rows, ngram, is_another):
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
        """The corpus to take text from, verified as far as it is read; none if only its 5-gram would be missed."""
        from research.stream import open_corpus, verify_corpus
        from research.train.run import corpus_of

        if self.corpus is not None:
            corpus = open_corpus(self.corpus)
            run.manifest.tokenizer.require(corpus.tokenizer.identity, where=self.corpus)
        else:
            try:
                corpus = corpus_of(Path(self.run_folder), run.manifest)
            except InputError:
                if self.text and not self.held_out:
                    return None
                raise
        verify_corpus(corpus, ("train",) if self.text else ("train", "validation"))
        return corpus

    def _texts(self, run: Any, corpus: Any) -> list["_Text"]:
        """What is scored."""
        if self.text:
            return self._texts_of_files(run, corpus)
        if not len(corpus.validation.starts):
            hint = "--text scores other text"
            raise InputError(str(corpus.folder), expected="a corpus that holds something out", got="none", hint=hint)
        return [_Text("held out", corpus.validation, corpus.validation.counts.skipped, perhaps_trained=0)]

    def _texts_of_files(self, run: Any, corpus: Any) -> list["_Text"]:
        """The files of which something is to be scored."""
        from research.stream import build_stream
        from research.text.documents import source_files

        files = list(dict.fromkeys(file for path in self.text for file in source_files(path)))
        names = distinguished([PurePath(file) for file in files], [1] * len(files))
        texts, left_out = [], Counter[str]()
        for file, name in zip(files, names, strict=True):
            documents = list(self._documents(file, corpus))
            chosen = [text for text, is_known in documents if text and not (self.held_out and is_known)]
            empty = sum(not text for text, _ in documents)
            left_out += Counter(empty=empty, known=len(documents) - empty - len(chosen))
            perhaps = None if corpus is None else sum(is_known for text, is_known in documents if text)
            if chosen:
                stream = build_stream(chosen, run.tokenizer)
                texts.append(_Text(printable(name), stream, empty, 0 if self.held_out else perhaps))
        if not texts and left_out["known"]:
            got = f"none: none of these {_documents(left_out['known'])} would have been"
            hint = "without --held-out all are scored, and the run may have trained on them"
            raise InputError("--text", expected="documents that would have been held out", got=got, hint=hint)
        if not texts:
            got = f"{_documents(left_out['empty'])}, all empty" if left_out["empty"] else "no document"
            raise InputError("--text", expected="a document that is not empty", got=got)
        return texts

    def _documents(self, file: Path, corpus: Any) -> Iterator[tuple[str, bool]]:
        """Each document with whether the corpus would have given it to training."""
        from research.stream.corpus import is_held_out
        from research.text import read_documents
        from research.text.documents import encode_utf8

        if corpus is None:
            yield from ((document.text, False) for document in read_documents(file))
            return
        recipe = corpus.manifest.recipe
        for document in read_documents(file, separator=recipe.separator, field=recipe.field):
            data = encode_utf8(document.text, f"{document.source}, document {document.index}")
            yield document.text, not is_held_out(data, recipe.validation)


@dataclass(frozen=True)
class _Text:
    """Something to score."""

    name: str
    stream: Any
    empty: int
    """documents that were left out"""
    perhaps_trained: int | None
    """documents that the run may have trained on; unknown where the corpus is"""


@dataclass(frozen=True)
class _Row:
    """One text with its account."""

    name: str
    ledger: Any
    unconditioned: int
    documents: list[str]
    empty: int
    perhaps_trained: int | None

    def as_dict(self, ngram: Any) -> dict[str, Any]:
        """Plain numbers."""
        from research.measures import xz_bits

        size = int(self.ledger.bytes.sum())
        return {
            "text": self.name,
            "documents": len(self.ledger.bytes),
            "empty_documents": self.empty,
            "perhaps_trained_on": self.perhaps_trained,
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
    known = [row.perhaps_trained for row in rows if row.perhaps_trained is not None]
    return _Row(
        "all",
        ledger,
        sum(row.unconditioned for row in rows),
        [document for row in rows for document in row.documents],
        sum(row.empty for row in rows),
        sum(known) if known else None,
    )


def _ngram(corpus: Any) -> Any:
    """A 5-gram of the training text, or of its first documents; of one that alone is too long, of its beginning."""
    if corpus is None:
        return None
    from research.evaluate.score import decoded
    from research.measures import ByteNGram

    # A document has at least one byte and at most two boundaries.
    tokens, starts = corpus.train.tokens[: 3 * _NGRAM_BYTES], corpus.train.starts
    beginning = replace(corpus.train, tokens=tokens, starts=starts[: starts.searchsorted(len(tokens))])
    documents: list[str] = []
    size = 0
    for document in decoded(beginning, corpus.tokenizer):
        if documents and size + len(document) > _NGRAM_BYTES:
            break
        documents.append(document[:_NGRAM_BYTES].decode(errors="ignore"))  # the cut may be within a character
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


def _notes(rows: Sequence[_Row], ngram: Any, is_another_corpus: bool) -> Iterator[str]:
    """What a reader has to know to read the table right."""
    last = rows[-1]
    if ngram is None:
        yield "no 5-gram: the corpus that the run read is not where it was; --corpus says where it is"
        yield "whether the run trained on this text is not known without that corpus"
    if last.perhaps_trained:
        every = "all" if last.perhaps_trained == len(last.documents) else f"{last.perhaps_trained:,}"
        said = f"the run may have trained on {every} of {_documents(len(last.documents))}"
        yield f"{said}, which its corpus would not have held out: --held-out leaves such out"
    if is_another_corpus:
        yield "--corpus is not what the run was begun with: what is held out here, it may have trained on"
    if last.empty:
        yield f"{_documents(last.empty, 'empty ')} left out"
    if last.unconditioned:
        yield f"{last.unconditioned:,} tokens had nothing before them: they cost a uniform guess over all of text"
    yield from filter(None, map(_worse_than_guessing, rows))


def _worse_than_guessing(row: _Row) -> str:
    """A word on a figure that is no mistake of units, since the nats are this tool's own."""
    nats = float(row.ledger.nats_text.sum() / row.ledger.tokens_text.sum())
    guess = math.log(row.ledger.vocab_size)
    if nats <= guess:
        return ""
    said = f"{nats:.3f} nats a token are more than a uniform guess costs (ln {row.ledger.vocab_size:,} = {guess:.3f})"
    return f"{row.name}: worse than a uniform guess: {said}; the run has learned from other text"


def _documents(count: int, kind: str = "") -> str:
    return f"{count:,} {kind}document{'' if count == 1 else 's'}"
