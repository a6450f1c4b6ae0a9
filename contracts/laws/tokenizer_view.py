"""How the laws see somebody's tokenizer: a few functions, found on the object by name or given one by one.

Nothing has to be inherited or imported; a law that needs a function which isn't there does not apply.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from contracts.errors import InputError

Ids = Sequence[int]


@dataclass(frozen=True)
class TokenizerView:
    """The functions of a tokenizer that laws are about. `decode` or `decode_bytes` may be missing, not both."""

    name: str
    vocab_size: int
    encode: Callable[[str], Any]
    """text to ids, protocol ids neither added nor recognised"""
    decode: Callable[[Ids], str] | None = None
    decode_bytes: Callable[[Ids], bytes] | None = None
    encode_batch: Callable[[list[str]], Iterable[Any]] | None = None
    pretokens: Callable[[str], Sequence[str]] | None = None
    """the pieces of a text that no token crosses; joined they are the text"""
    token_byte_lengths: Sequence[int] | None = None
    protocol: Mapping[str, int] = field(default_factory=dict)
    """names and ids of the tokens that stand for no text, such as `{"<|endoftext|>": 50256}`"""

    def text_of(self, ids: Ids) -> str:
        """The text of `ids`, by `decode` or else by strict UTF-8 of `decode_bytes`."""
        if self.decode is not None:
            return self.decode(ids)
        assert self.decode_bytes is not None
        return self.decode_bytes(ids).decode("utf-8")


def from_encode_decode(
    encode: Callable[[str], Any],
    decode: Callable[[Ids], str] | None,
    vocab_size: int,
    *,
    name: str = "tokenizer",
    decode_bytes: Callable[[Ids], bytes] | None = None,
    encode_batch: Callable[[list[str]], Iterable[Any]] | None = None,
    pretokens: Callable[[str], Sequence[str]] | None = None,
    token_byte_lengths: Sequence[int] | None = None,
    protocol: Mapping[str, int] | None = None,
) -> TokenizerView:
    """A tokenizer made of functions: two are enough, each further one lets more laws apply.

    >>> from_encode_decode(lambda text: list(text.encode()), lambda ids: bytes(ids).decode(), 256).vocab_size
    256
    """
    if decode is None and decode_bytes is None:
        raise InputError(name, expected="decode or decode_bytes", got="neither")
    return TokenizerView(
        name,
        vocab_size,
        encode,
        decode=decode,
        decode_bytes=decode_bytes,
        encode_batch=encode_batch,
        pretokens=pretokens,
        token_byte_lengths=token_byte_lengths,
        protocol=dict(protocol or {}),
    )


def view_tokenizer(tokenizer: Any, name: str = "") -> TokenizerView:
    """The view of a tokenizer that has `encode`, `decode` (or `decode_text`, `decode_bytes`) and a vocabulary size.

    Known by their methods: the tokenizers of this project, Hugging Face `tokenizers`, tiktoken and what resembles one
    of them. Raises `InputError` naming what is missing; `from_encode_decode` takes the functions themselves.
    """
    if isinstance(tokenizer, TokenizerView):
        return tokenizer
    name = name or type(tokenizer).__name__
    if hasattr(tokenizer, "get_added_tokens_decoder"):
        return _huggingface(tokenizer, name)
    encode = _method(tokenizer, "encode")
    decode, decode_bytes = _method(tokenizer, "decode_text", "decode"), _method(tokenizer, "decode_bytes")
    size = _vocab_size(tokenizer)
    if encode is None or size is None or decode is decode_bytes is None:
        parts = {"encode": encode, "decode": decode or decode_bytes, "vocab_size": size}
        raise InputError(
            name,
            expected="a tokenizer with encode, decode and vocab_size",
            got=f"no {', no '.join(part for part, found in parts.items() if found is None)}",
            hint="contracts.laws.from_encode_decode(encode, decode, vocab_size) takes the functions themselves",
        )
    return TokenizerView(
        name,
        size,
        encode,
        decode=decode,
        decode_bytes=decode_bytes,
        encode_batch=_encode_batch(tokenizer),
        pretokens=_method(tokenizer, "pretokens"),
        token_byte_lengths=getattr(tokenizer, "token_byte_lengths", None),
        protocol=_protocol(tokenizer),
    )


def _method(owner: Any, *names: str) -> Callable[..., Any] | None:
    return next((method for name in names if callable(method := getattr(owner, name, None))), None)


def _encode_batch(tokenizer: Any) -> Callable[[list[str]], Iterable[Any]] | None:
    """Ids text by text, whether they come so or, as in this project, in one array with `offsets`."""
    method = _method(tokenizer, "encode_batch")
    if method is None:
        return None

    def encode_batch(texts: list[str]) -> Iterable[Any]:
        batch = method(texts)
        if not hasattr(batch, "offsets"):
            return batch
        return [batch.tokens[start:end] for start, end in pairwise(batch.offsets)]

    return encode_batch


def _vocab_size(tokenizer: Any) -> int | None:
    for name in ("vocab_size", "n_vocab", "get_vocab_size", "get_piece_size"):
        size = getattr(tokenizer, name, None)
        size = size() if callable(size) else size
        if isinstance(size, int):
            return size
    return None


def _protocol(tokenizer: Any) -> dict[str, int]:
    protocol = getattr(tokenizer, "protocol", None)
    if isinstance(protocol, Mapping):
        return dict(protocol)
    names = getattr(tokenizer, "special_tokens_set", ())  # tiktoken
    return {name: tokenizer.encode_single_token(name) for name in sorted(names)}


def _huggingface(tokenizer: Any, name: str) -> TokenizerView:
    """A `tokenizers.Tokenizer`, asked for text alone: nothing added to the ids, nothing left out of the text."""

    def pretokens(text: str) -> list[str]:
        spans = [span for _, span in tokenizer.pre_tokenizer.pre_tokenize_str(text)]
        return [text[start:end] for start, end in spans]

    def encode_batch(texts: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]

    added = tokenizer.get_added_tokens_decoder()
    return TokenizerView(
        name,
        tokenizer.get_vocab_size(),
        encode=lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        decode=lambda ids: tokenizer.decode(list(ids), skip_special_tokens=False),
        decode_bytes=_byte_level_decoder(tokenizer),
        encode_batch=encode_batch,
        pretokens=pretokens if tokenizer.pre_tokenizer is not None and tokenizer.normalizer is None else None,
        protocol={token.content: token_id for token_id, token in added.items() if token.special},
    )


def _byte_level_decoder(tokenizer: Any) -> Callable[[Ids], bytes] | None:
    """`decode_bytes` of a byte-level vocabulary, whose tokens are spelled in GPT-2's 256 printable characters."""
    if type(tokenizer.decoder).__name__ != "ByteLevel":
        return None
    bytes_of = _gpt2_alphabet()

    def decode_bytes(ids: Ids) -> bytes:
        tokens = [tokenizer.id_to_token(token_id) for token_id in ids]
        return b"".join(
            bytes(bytes_of[c] for c in token) if set(token) <= bytes_of.keys() else token.encode() for token in tokens
        )

    return decode_bytes


def _gpt2_alphabet() -> dict[str, int]:
    """Character to byte: printable Latin-1 stands for itself, the other bytes for U+0100 and up, in order.

    Source: `bytes_to_unicode` in the encoder of GPT-2 (Radford et al. 2019).
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(others)}
