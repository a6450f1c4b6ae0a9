"""The canonical listing of a tokenizer and its SHA-256: equal digests mean equal ids for every text.

UTF-8 lines, each ended by a line feed: version; for a BPE its pre-tokenizer; the ids in ascending order; and for an
imported vocabulary the ids that its file uses.
"""

import hashlib
from collections.abc import Iterator, Mapping

from contracts.tokenizer import TokenizerIdentity
from research.tokenizers.vocabulary import Vocabulary


def listing(vocabulary: Vocabulary, protocol: Mapping[str, int]) -> bytes:
    """The listing that is hashed; its form is fixed by the version in its first line."""
    return "".join(f"{line}\n" for line in _lines(vocabulary, protocol)).encode()


def _lines(vocabulary: Vocabulary, protocol: Mapping[str, int]) -> Iterator[str]:
    yield vocabulary.version
    if vocabulary.pretokenizer is not None:
        yield vocabulary.pretokenizer.identity_line
    tokens = vocabulary.tokens
    for token_id in range(256):
        yield f"{token_id}\t{tokens[token_id].hex()}"
    for token_id, (left, right) in enumerate(vocabulary.merges.tolist(), 256):
        yield f"{token_id}\t{tokens[token_id].hex()}\t{left} {right}"
    for name, token_id in protocol.items():
        yield f"{token_id}\t!{name}"
    if vocabulary.external is not None:
        for token_id, external in enumerate(vocabulary.external.table(protocol).tolist()):
            yield f"external\t{token_id}\t{external}"


def identity(vocabulary: Vocabulary, protocol: Mapping[str, int]) -> TokenizerIdentity:
    """Version, size, protocol and digest."""
    return TokenizerIdentity(
        version=vocabulary.version,
        vocab_size=vocabulary.size + len(protocol),
        protocol=dict(protocol),
        vocab_sha256=hashlib.sha256(listing(vocabulary, protocol)).hexdigest(),
    )
