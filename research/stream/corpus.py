"""Text files to a corpus folder, in bounded memory, stoppable at any moment.

Tokens are appended as documents are read. Now and then the files are forced to disk and a journal says how far they
are good; what stands behind that is cut off when the same command runs again. So a build that was killed ends with the
same bytes as one that was not.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from contracts.errors import InputError
from contracts.stream import (
    CorpusLimits,
    CorpusManifest,
    CorpusRecipe,
    OnEmpty,
    StoredDtype,
    StoredStream,
    StreamCounts,
)
from research.progress import Progress, progress
from research.stream.append import StreamWriter
from research.stream.encode import NO_LIMITS, DocumentEncoder
from research.stream.groups import grouped
from research.stream.journal import (
    Begun,
    Journal,
    begin_or_continue,
    discard,
    forget_journal,
    only_builder,
    write_journal,
)
from research.stream.long import append_long
from research.stream.manifest import FORMAT, MANIFEST, file_sha256, read_manifest, require_recipe, write_json
from research.stream.sources import Source, plain_bytes, read_sources, require_outside
from research.stream.store import DTYPES, SPLITS, TOKENIZER, StoredCorpus, open_corpus, stream_files
from research.text import Document, LongDocument, read_any_length
from research.text.documents import encode_utf8
from research.tokenizers import BPETokenizer, ByteTokenizer

COMMIT_BYTES = 1 << 24
"""of text between two commits: a second or two of work"""

TOGETHER = 1 << 16
"""Characters of documents that are encoded together: lines of 70 bytes take a ninth of the time of one by one. A longer
document is encoded alone, in less memory a character."""


def build_corpus(
    paths: Sequence[str | os.PathLike[str]],
    tokenizer: ByteTokenizer | BPETokenizer,
    out: str | os.PathLike[str],
    *,
    validation: float = 0.1,
    separator: str | None = None,
    field: str = "text",
    on_empty: OnEmpty = "error",
    limits: CorpusLimits = NO_LIMITS,
) -> StoredCorpus:
    """Make the corpus folder `out`, or go on with it, or find it finished; then open it.

    Each split is the stream that `build_stream` makes of its documents. Whether a document is held out depends on its
    own SHA-256 alone, so equal documents are never on both sides. Limits hold for the sum of both splits. Files are
    read as `read_documents` reads them.

    Memory does not grow with the documents of text files: one of more than a megabyte is read twice, encoded in parts
    and committed in parts. What can't be cut is held: a record of JSON lines or Parquet, a text without a place where
    its pattern allows a cut, such as one word of a gigabyte, and under the pattern `none`, or a regex that only the
    module `regex` can split, every document.

    Raises:
        InputError: for what `read_documents` or `build_stream` refuse, after which nothing of the corpus is left; for
            a folder with something else in it, or with a corpus of another tokenizer, other sources or settings; for
            one inside of a source, or in which another process builds; for a file that is given twice; if a source
            changes meanwhile; for a split without a document.
    """
    if not 0 <= validation < 1:
        raise InputError("validation", expected="a share from 0 to below 1", got=validation)
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(str(folder), expected="a folder", got="a file")
    require_outside(folder, paths)
    encoder = DocumentEncoder(tokenizer, limits, on_empty)
    sources = read_sources(paths)
    recipe = CorpusRecipe(
        tokenizer=tokenizer.identity,
        boundary=tokenizer.boundary,
        sources=tuple(source.stated for source in sources),
        separator=separator,
        field=field,
        validation=validation,
        on_empty=on_empty,
        limits=limits,
    )
    try:
        with only_builder(folder):
            if (folder / MANIFEST).exists():
                require_recipe(recipe, read_manifest(folder).recipe, folder)
            else:
                journal = begin_or_continue(folder, recipe)
                tokenizer.save(folder / TOKENIZER)
                _build(_Build(folder, recipe, sources, tokenizer, encoder, journal))
            forget_journal(folder)
    except OSError as error:
        hint = "once it can be written, the same command goes on from where it was"
        raise InputError(str(folder), expected="a folder to write to", got=str(error.strerror), hint=hint) from None
    return open_corpus(folder)


def is_held_out(document: bytes, share: float) -> bool:
    """Whether a document, as UTF-8, belongs to validation: its SHA-256, as a fraction 0.(first 8 bytes), is below."""
    return _is_below(hashlib.sha256(document).hexdigest(), share)


def _is_below(sha256: str, share: float) -> bool:
    return int(sha256[:16], 16) < share * 2**64


def _build(build: "_Build") -> None:
    try:
        build.run()
    except InputError as refusal:
        # What is refused would be refused again; but a source that could not be read may be readable next time, unless
        # it was no fault of the system, which has a number, but a damaged .gz.
        if getattr(refusal.__context__, "errno", None) is None:
            discard(build.folder)
        raise
    finally:
        build.close()


class _Build:
    """A corpus between two commits."""

    def __init__(
        self,
        folder: Path,
        recipe: CorpusRecipe,
        sources: list[Source],
        tokenizer: ByteTokenizer | BPETokenizer,
        encoder: DocumentEncoder,
        journal: Journal,
    ) -> None:
        self.folder, self.recipe, self.sources, self.encoder, self.journal = folder, recipe, sources, encoder, journal
        self.tokenizer = tokenizer
        self.unchecked = journal.source
        """the first source that may have changed since it was hashed, and been read so"""
        encoder.counts = journal.train + journal.validation
        self.dtype: StoredDtype = "uint16" if tokenizer.vocab_size <= 1 << 16 else "int32"
        begun = {} if journal.begun is None else {journal.begun.split: journal.begun.tokens}
        self.writers = {
            name: StreamWriter(
                folder, name, encoder.layout, DTYPES[self.dtype], getattr(journal, name), begun.get(name, 0)
            )
            for name in SPLITS
        }
        self.done = self.committed = encoder.counts.bytes + (journal.begun.bytes if journal.begun else 0)
        """of the text, how many bytes are in the streams"""

    def run(self) -> None:
        """Read from where the journal stands to the end, and finish."""
        try:
            self._add_all()
            self._finish()
        except InputError:
            # What is wrong with a text that was changed meanwhile is that it was changed.
            self._require_unchanged(len(self.sources))
            raise

    def _add_all(self) -> None:
        total = plain_bytes(self.sources)
        with progress("corpus", total=total, unit="bytes") as bar:
            bar.skip(self.done)
            for source, documents in grouped(self._documents(bar), TOGETHER):
                if isinstance(documents, LongDocument):
                    self._add_long(source, documents, bar)
                    continue
                self._require_nothing_begun()
                if len(documents) == 1 or not self._add_together(documents):
                    for document in documents:
                        self._add(document)
                self._advance(self.encoder.counts.bytes, bar)
                self._commit_if_due(source, documents[-1].index + 1)

    def close(self) -> None:
        """Let go of the files."""
        for writer in self.writers.values():
            writer.close()

    def _documents(self, bar: Progress) -> Iterator[tuple[int, Document | LongDocument]]:
        def measuring(size: int) -> None:
            bar.note = f"a long document, {size:,} bytes so far, is read before it is encoded"
            bar.advance(0)

        for number in range(self.journal.source, len(self.sources)):
            done = self.journal.document if number == self.journal.source else 0
            path, recipe = self.sources[number].path, self.recipe
            for document in read_any_length(path, recipe.separator, recipe.field, measuring=measuring):
                bar.note = ""
                if document.index >= done:
                    yield number, document

    def _add_together(self, documents: list[Document]) -> bool:
        """Add all documents, or none: where something about one of them is to be refused, `_add` knows what."""
        texts = [document.text for document in documents if document.text]
        if not texts or (len(texts) < len(documents) and self.recipe.on_empty == "error"):
            return False
        data = [text.encode() for text in texts]  # whatever reads documents has refused what has no UTF-8
        ids, offsets = self.tokenizer.encode_batch(data)
        if not self.encoder.is_exact(ids, offsets, data):
            return False
        held_out = np.array([is_held_out(document, self.recipe.validation) for document in data])
        lengths, characters, sizes = np.diff(offsets), np.array([*map(len, texts)]), np.array([*map(len, data)])
        splits, added = {"train": ~held_out, "validation": held_out}, {}
        for name, chosen in splits.items():
            count, layout = int(chosen.sum()), self.encoder.layout
            first = count and layout.added(is_first=not self.writers[name].counts.documents)
            tokens = int(lengths[chosen].sum()) + first + max(0, count - 1) * layout.added(is_first=False)
            added[name] = StreamCounts(count, int(characters[chosen].sum()), int(sizes[chosen].sum()), tokens, 0)
        reached = self.encoder.counts + added["train"] + added["validation"]
        if not self.encoder.allows(reached):
            return False
        for name, chosen in splits.items():
            self.writers[name].append_together(ids[np.repeat(chosen, lengths)], lengths[chosen], added[name])
        self.writers[self._split(b"")].skip(len(documents) - len(texts))
        self.encoder.counts = reached
        return True

    def _add(self, document: Document) -> None:
        where = f"{document.source}, document {document.index}"
        text = self.encoder.text(document, where)
        writer = self.writers[self._split(encode_utf8(text, where))]
        if text:
            writer.append(*self.encoder.encode(text, where, is_first=not writer.counts.documents))
        else:
            writer.skip()

    def _add_long(self, source: int, document: LongDocument, bar: Progress) -> None:
        name = "validation" if _is_below(document.sha256, self.recipe.validation) else "train"
        begun = self.journal.begun or Begun(name)
        if begun.split == name:
            self.journal = replace(self.journal, begun=None)
        self._require_nothing_begun()
        before, where = self.encoder.counts.bytes, f"{document.source}, document {document.index}"
        for part in append_long(document, self.tokenizer, self.encoder, self.writers[name], begun, where):
            self._advance(before + part.bytes, bar)
            self._commit_if_due(source, document.index, part)

    def _require_nothing_begun(self) -> None:
        """Refuse to put a document behind a part of another one."""
        if (begun := self.journal.begun) is not None:
            got = f"another, with {begun.bytes} bytes of one in {begun.split}"
            hint = "what was built is removed: the same command begins anew"
            raise InputError(str(self.folder), expected="the journal of this text", got=got, hint=hint)

    def _split(self, document: bytes) -> str:
        return "validation" if is_held_out(document, self.recipe.validation) else "train"

    def _advance(self, done: int, bar: Progress) -> None:
        bar.advance(done - self.done)
        self.done = done

    def _commit_if_due(self, source: int, document: int, begun: Begun | None = None) -> None:
        """Commit all before this document, and what is begun of it, if that is enough since the last time."""
        if self.done - self.committed < COMMIT_BYTES:
            return
        self.committed = self.done
        self._require_unchanged(source + 1)  # or a file that is set back before the next run would pass for read
        self.unchecked = source
        for writer in self.writers.values():
            writer.commit()
        counts = {name: writer.counts for name, writer in self.writers.items()}
        write_journal(self.folder, Journal(source, document, **counts, begun=begun))

    def _require_unchanged(self, end: int) -> None:
        for source in self.sources[self.unchecked : end]:
            source.require_unchanged()

    def _finish(self) -> None:
        """Close the streams, and say so: the manifest makes the folder a corpus."""
        for name, writer in self.writers.items():
            if not writer.counts.documents and (name == "train" or self.recipe.validation):
                hint = "cut the text into more documents (a separator), or hold out another share"
                raise InputError(f"{name} split", expected="at least one document", got="none", hint=hint)
            writer.finish()
        for source in self.sources:
            source.require_unchanged()
        streams = {name: self._stored(name) for name in SPLITS}
        manifest = CorpusManifest(FORMAT, self.recipe, self.dtype, **streams)
        write_json(self.folder / MANIFEST, asdict(manifest))

    def _stored(self, name: str) -> StoredStream:
        return StoredStream(self.writers[name].counts, *map(file_sha256, stream_files(self.folder, name)))
