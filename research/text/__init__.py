"""Reading documents, and the corpus that ships with the package."""

from research.text.documents import Document, corpus_digest, read_documents, source_files
from research.text.embedded import (
    LANGUAGES,
    EmbeddedText,
    Language,
    aligned_sentences,
    embedded_texts,
    parallel_documents,
)
from research.text.formats import FORMATS, formatted_documents
from research.text.long import LongDocument, read_any_length

__all__ = [
    "FORMATS",
    "LANGUAGES",
    "Document",
    "EmbeddedText",
    "Language",
    "LongDocument",
    "aligned_sentences",
    "corpus_digest",
    "embedded_texts",
    "formatted_documents",
    "parallel_documents",
    "read_any_length",
    "read_documents",
    "source_files",
]
