"""A long document to its stream, part by part, so that neither its text nor its tokens are ever held as a whole."""

from collections.abc import Iterator
from dataclasses import replace

from contracts.stream import StreamCounts
from research.stream.append import StreamWriter
from research.stream.encode import DocumentEncoder
from research.stream.journal import Begun
from research.text import LongDocument
from research.tokenizers import BPETokenizer, ByteTokenizer
from research.tokenizers.parts import encode_in_parts


def append_long(
    document: LongDocument,
    tokenizer: ByteTokenizer | BPETokenizer,
    encoder: DocumentEncoder,
    writer: StreamWriter,
    begun: Begun,
    where: str,
) -> Iterator[Begun]:
    """Append what is not `begun` of the document, and say after each part how far it is.

    What is refused is what `DocumentEncoder.encode` refuses, but of tokens the document is refused as soon as there
    are too many, and of ids that are not the text's the part is told.
    """
    encoder.require_room(document.characters, document.size, where)
    boundaries = encoder.layout.added(is_first=not writer.counts.documents)
    for ids, size in encode_in_parts(tokenizer, document.chunks(begun.bytes)):
        encoder.verify(ids, size, f"{where}, from byte {begun.bytes} of it on")
        begun = replace(begun, bytes=begun.bytes + size, tokens=begun.tokens + len(ids))
        encoder.require("tokens", encoder.counts.tokens + boundaries + begun.tokens, where)
        writer.extend(ids)
        yield begun
    added = StreamCounts(1, document.characters, document.size, begun.tokens + boundaries, 0)
    writer.end(added)
    encoder.counts += added
