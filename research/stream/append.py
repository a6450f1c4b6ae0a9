"""One stream on disk, while it grows: documents are appended, and count once they are committed."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from jaxtyping import Int64

from contracts.errors import InputError
from contracts.stream import StreamCounts
from contracts.tokenizer import TokenIds
from research.stream.layout import Layout
from research.stream.store import STARTS_DTYPE, stream_files


class StreamWriter:
    """Appends to the two files of a stream, of which `counts` says how much is already good, and `begun` how many
    tokens of the text of one more document, if any."""

    def __init__(
        self, folder: Path, name: str, layout: Layout, dtype: np.dtype, counts: StreamCounts, begun: int = 0
    ) -> None:
        self.layout, self.counts = layout, counts
        # A closing that stands once, behind the last document, is counted from the first on but written by `finish`.
        self._length = counts.tokens - (layout.is_shared and counts.documents > 0)
        self._start: int | None = None
        """where the text of the document begins that has begun and not ended"""
        if begun:
            self._start = self._length + (layout.before is not None)
            self._length = self._start + begun
        tokens, starts = stream_files(folder, name)
        self._tokens = _GrowingFile(tokens, dtype, self._length)
        self._starts = _GrowingFile(starts, STARTS_DTYPE, counts.documents)

    def append(self, ids: TokenIds, added: StreamCounts) -> None:
        """The next document: ids of its text, and what it adds to the counts."""
        self.extend(ids)
        self.end(added)

    def extend(self, ids: TokenIds) -> None:
        """More ids of the next document's text, which `end` ends."""
        self._open()
        self._extend(ids)

    def end(self, added: StreamCounts) -> None:
        """End the document, which adds this to the counts."""
        after = self.layout.after
        self._starts.append([self._open()])
        self._extend([] if after is None else [after])
        self._start = None
        self.counts += added

    def append_together(self, ids: TokenIds, lengths: Int64[np.ndarray, "documents"], added: StreamCounts) -> None:
        """The next documents: the ids of all their texts, how many are each one's, and what they add to the counts."""
        before, after, _ = self.layout
        opened, around = before is not None, (before is not None) + (after is not None)
        ends = np.cumsum(lengths + around)
        starts = ends - lengths - around + opened
        tokens = np.empty(int(lengths.sum()) + around * len(lengths), ids.dtype)
        tokens[np.arange(len(ids)) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)] = ids
        if before is not None:
            tokens[starts - 1] = before
        if after is not None:
            tokens[ends - 1] = after
        self._starts.append(self._length + starts)
        self._extend(tokens)
        self.counts += added

    def skip(self, documents: int = 1) -> None:
        """Count documents that are left out."""
        self.counts = replace(self.counts, skipped=self.counts.skipped + documents)

    def commit(self) -> None:
        """Return when all that was appended is on the disk."""
        self._tokens.commit()
        self._starts.commit()

    def finish(self) -> None:
        """Append the closing of the last document, where it is still due, and commit."""
        if self.layout.last is not None and self.counts.documents:
            self._extend([self.layout.last])
        self.commit()

    def close(self) -> None:
        """Let go of the files."""
        self._tokens.close()
        self._starts.close()

    def _open(self) -> int:
        """Where the text of the next document begins: behind its opening, which is there then."""
        if self._start is None:
            before = self.layout.before
            self._extend([] if before is None else [before])
            self._start = self._length
        return self._start

    def _extend(self, tokens: Sequence[int] | TokenIds) -> None:
        self._tokens.append(tokens)
        self._length += len(tokens)


class _GrowingFile:
    """Numbers of one dtype; opened at a length that is known to be good, and what stood behind it is cut off."""

    def __init__(self, path: Path, dtype: np.dtype, items: int) -> None:
        self._dtype = dtype
        self._file = open(path, "ab")  # noqa: SIM115 - closed by `close`
        size, good = os.fstat(self._file.fileno()).st_size, items * dtype.itemsize
        if size < good:
            self.close()
            hint = "the unfinished corpus is damaged: remove its folder"
            raise InputError(str(path), expected=f"at least {good} bytes", got=size, hint=hint)
        self._file.truncate(good)

    def append(self, values: Sequence[int] | np.ndarray) -> None:
        self._file.write(np.asarray(values, self._dtype).data)

    def commit(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()
