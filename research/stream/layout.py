"""Where boundary tokens stand in a stream, and which tokens are one document's.

One idea covers all policies: a document opens with the start id, closes with the stop id, and where both are the same
shared id, one document's close is the next one's opening. So n documents get n+1 shared, 2n separate, n single or
no boundaries.
"""

from typing import NamedTuple

import numpy as np

from contracts.stream import DocumentStarts, TokenStream
from contracts.tokenizer import Tokenizer


class Layout(NamedTuple):
    """The boundary tokens of one policy."""

    before: int | None
    """stands before each text"""
    after: int | None
    """stands after each text"""
    last: int | None
    """stands once, behind the last document: its closing, which no other document opens with"""

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> "Layout":
        """The layout that the tokenizer's start and stop ids imply."""
        start, stop = tokenizer.start_id, tokenizer.stop_id
        is_shared = start is not None and start == stop
        return cls(start, None if is_shared else stop, stop if is_shared else None)

    @property
    def is_shared(self) -> bool:
        """Whether neighbours have a boundary token in common."""
        return self.last is not None

    def added(self, is_first: bool) -> int:
        """How many tokens besides those of its text a document adds to a stream."""
        return (self.before is not None) + (self.after is not None) + (self.is_shared and is_first)

    def begins(self, starts: DocumentStarts) -> DocumentStarts:
        """The index of each document's first token, which is its opening where there is one."""
        return starts - 1 if self.before is not None else np.asarray(starts)

    def ends(self, stream: TokenStream) -> DocumentStarts:
        """The index behind each document's last token, which is its closing where there is one."""
        following = np.append(self.begins(stream.starts)[1:], len(stream.tokens) - self.is_shared)
        return following + 1 if self.is_shared else following
