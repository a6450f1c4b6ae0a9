"""Documents as they are encoded: short ones together, a long one alone."""

from collections.abc import Iterable, Iterator

from contracts.errors import InputError
from research.text import Document, LongDocument


def grouped(
    documents: Iterable[tuple[int, Document | LongDocument]], together: int
) -> Iterator[tuple[int, list[Document] | LongDocument]]:
    """The number of a source, and documents that follow each other in it: `together` characters at most, or one.

    Those before a document that can't be read come before the error.
    """
    group: list[Document] = []
    number = size = 0
    try:
        for source, document in documents:
            length = together if isinstance(document, LongDocument) else len(document.text)
            length += 1  # an empty one takes its place in memory, too
            if group and (source != number or size + length > together):
                yield number, group
                group, size = [], 0
            if isinstance(document, LongDocument):
                yield source, document
                continue
            number = source
            group.append(document)
            size += length
    except InputError:
        if group:
            yield number, group
        raise
    if group:
        yield number, group
