"""The jobs: training, encoding, decoding and the byte tokenizer, each by every library that can do it."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from experiments.speed.tokenizers.clock import OURS, Call, Job, Prepared, interleaved
from experiments.speed.tokenizers.peers import PEERS, Cannot, decoder, encoder, require, tiktoken_of, trainer
from experiments.speed.tokenizers.question import REGEX, TokenizerSpeed
from experiments.speed.tokenizers.texts import Text
from research.tokenizers import BPETokenizer, ByteTokenizer

#: Hugging Face encodes so much, and its rate counts: the whole would take minutes a repeat.
_SMALL = 2_000_000


@dataclass
class Witnesses:
    """What libraries that shall make the same made: a digest for each."""

    found: dict[str, dict[str, str]] = field(default_factory=dict)
    """what it is of, to library, to digest"""

    def watch(self, what: str, digest: Callable[[str, Any], str | None]) -> Callable[[str, Any], None]:
        """A look at results, for `interleaved`."""

        def look(name: str, result: Any) -> None:
            value = digest(name, result)
            if value is not None:
                self.found.setdefault(what, {})[name] = value

        return look

    def require_equal(self) -> None:
        """Raise `AssertionError` where two differ."""
        for what, digests in self.found.items():
            if len(set(digests.values())) > 1:
                raise AssertionError(f"{what} differ: {digests}")

    def agreed(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """What is equal, and by whom."""
        for what, digests in self.found.items():
            peers = tuple(name for name in digests if name != OURS)
            if peers and OURS in digests:
                yield what, peers


def training(text: Text, pattern: str, size: int, asked: TokenizerSpeed, witnesses: Witnesses) -> Job:
    """From the file to merges."""
    setting = f"{pattern}, {size:,}"
    calls, cannot = _possible(lambda name: _always(trainer(name, text.path, pattern, size)))
    look = witnesses.watch(f"tokens learned from {text.name}, {setting}", partial(_learned, pattern))
    return _job("training", text, setting, calls, cannot, asked, look)


def encoding(text: Text, tokenizer: BPETokenizer, cold: bool, asked: TokenizerSpeed, witnesses: Witnesses) -> Job:
    """To an array, on one thread; a cold encoder has seen no text."""
    setting = f"{tokenizer.pattern}, {'cold' if cold else 'warm'}"
    characters = text.data.decode()
    sizes = {"tokenizers": len(characters[:_SMALL].encode())}

    def prepared(name: str) -> Prepared:
        data, given = (text.data, characters) if name not in sizes else (b"", characters[:_SMALL])
        if cold and name in (OURS, "gigatoken"):
            encoder(name, tokenizer)  # says at once whether it can
            return lambda: partial(encoder(name, tokenizer), data, given)
        encode = encoder(name, tokenizer)
        if name == OURS or name == "gigatoken":
            encode(data, given)
        return _always(partial(encode, data, given))

    calls, cannot = _possible(prepared)
    same = tokenizer.pattern != "words"  # there every library reads another class table
    what = f"ids of {text.name}, {tokenizer.pattern}"
    look = witnesses.watch(what, lambda name, ids: digest_of_ids(ids) if same and name not in sizes else None)
    return _job("encoding", text, setting, calls, cannot, asked, look, sizes)


def regex_encoding(text: Text, tokenizer: BPETokenizer, asked: TokenizerSpeed) -> Job:
    """A pattern without a name, beside tiktoken, whose engine takes any regex as well."""
    other = BPETokenizer(tokenizer.merges, pattern=REGEX, boundary="none")
    characters = text.data.decode()

    def prepared(name: str) -> Prepared:
        if name == OURS:
            other.encode_bytes(text.data)
            return _always(lambda: other.encode_bytes(text.data))
        if name != "tiktoken":
            raise Cannot("not asked")
        require(name)
        encoding = tiktoken_of(other)
        return _always(lambda: encoding.encode_to_numpy(characters, disallowed_special=()))

    calls, cannot = _possible(prepared)
    return _job("encoding", text, "another regex, warm", calls, cannot, asked)


def decoding(text: Text, tokenizer: BPETokenizer, asked: TokenizerSpeed) -> Job:
    """From an array of ids to bytes."""
    ids = tokenizer.encode_bytes(text.data)
    calls, cannot = _possible(lambda name: _always(decoder(name, tokenizer, ids)))
    return _job("decoding", text, str(tokenizer.pattern), calls, cannot, asked)


def byte_encoding(text: Text, asked: TokenizerSpeed) -> Job:
    """The byte tokenizer, beside writing its output: one pass that widens bytes to int32."""
    data, tokenizer = text.data, ByteTokenizer()
    calls = {
        OURS: _always(lambda: tokenizer.encode_bytes(data)),
        "writing int32": _always(lambda: np.frombuffer(data, np.uint8).astype(np.int32)),
    }
    return _job("byte tokenizer", text, "encode_bytes", calls, {}, asked)


def _possible(prepared: Callable[[str], Prepared]) -> tuple[dict[str, Prepared], dict[str, str]]:
    """The calls of all libraries that can, and why the others can't."""
    calls, cannot = {}, {}
    for name in (OURS, *PEERS):
        try:
            calls[name] = prepared(name)
        except Cannot as why:
            cannot[name] = str(why)
    return calls, cannot


def _job(
    task: str,
    text: Text,
    setting: str,
    calls: Mapping[str, Prepared],
    cannot: Mapping[str, str],
    asked: TokenizerSpeed,
    look: Callable[[str, Any], None] = lambda name, result: None,
    sizes: Mapping[str, int] | None = None,
) -> Job:
    what = f"{task}, {text.name}, {setting}"
    seconds = interleaved(what, calls, asked.repeats, asked.seed, asked.patience, look)
    return Job(task, text.name, setting, text.size, seconds, sizes or {}, cannot)


def _always(call: Call) -> Prepared:
    return lambda: call


def _learned(pattern: str, name: str, result: Any) -> str | None:
    """The tokens in order of their ids, of libraries with our tie-break and, for their classes, our pieces."""
    if name == OURS:
        tokens: Sequence[bytes] = result.vocabulary.tokens
    elif name == "rustbpe" and pattern != "words":
        tokens = [bytes(token) for token, _ in sorted(result.get_mergeable_ranks(), key=lambda item: item[1])]
    elif name == "gigatoken":
        tokens = [bytes([value]) for value in range(256)] + [left + right for left, right in result[1]]
    else:
        return None
    return hashlib.sha256(b"".join(len(token).to_bytes(8, "big") + token for token in tokens)).hexdigest()


def digest_of_ids(ids: np.ndarray) -> str:
    """Equal for equal ids of any integer type."""
    return hashlib.sha256(np.asarray(ids, np.int64).tobytes()).hexdigest()
