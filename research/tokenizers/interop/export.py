"""Writes a tokenizer for other libraries: `tokenizer.json`, `vocab.json` with `merges.txt`, tiktoken's ranks.

The ids are ours, or those of the file that the vocabulary was read from. Patterns are written with their classes
spelled out, so that the other engine cuts as we do.
"""

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contracts.errors import InputError
from contracts.tokenizer import Boundary
from research.tokenizers.boundaries import protocol_ids, spelled
from research.tokenizers.interop.huggingface import byte_characters
from research.tokenizers.interop.ranks import unreachable_token
from research.tokenizers.interop.spellings import exported, require_total
from research.tokenizers.pretokenize import PATTERNS, Pretokenizer, WholeText
from research.tokenizers.store import replace_file
from research.tokenizers.vocabulary import Vocabulary

if TYPE_CHECKING:
    import tiktoken


@dataclass(frozen=True)
class Numbered:
    """Tokens under the ids that an export gives them."""

    vocabulary: Vocabulary
    text_ids: list[int]
    """of each text id; -1 for a byte that is not written"""
    special_tokens: dict[str, int]

    @classmethod
    def of(cls, vocabulary: Vocabulary, boundary: Boundary) -> "Numbered":
        """Raises `InputError` for a protocol token that the imported file has no special token for."""
        protocol = protocol_ids(boundary, vocabulary.size)
        external = vocabulary.external
        if external is None:
            special = {spelled(name): token_id for name, token_id in protocol.items()}
            return cls(vocabulary, list(range(vocabulary.size)), special)
        homeless = [name for name in protocol if name not in external.roles]
        if homeless:
            raise InputError(
                "protocol tokens",
                expected="a special token of the imported file for each",
                got=f"none for {', '.join(homeless)}",
                hint="give roles when reading it, take with_boundary('none'), or with_own_ids() to write our ids",
            )
        return cls(vocabulary, external.ids.tolist(), dict(external.special_tokens))

    @property
    def pretokenizer(self) -> Pretokenizer:
        """For the byte tokenizer, which has none, the text as one piece."""
        return self.vocabulary.pretokenizer or PATTERNS["none"]


def write_huggingface(path: str | Path, numbered: Numbered) -> None:
    """Write a `tokenizer.json`, at `path` or in that folder.

    Raises `InputError` for two tokens of the same bytes, which there can't both be.
    """
    path = Path(path)
    vocab, merges = _vocab_and_merges(numbered)
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added_token(*item) for item in numbered.special_tokens.items()],
        "normalizer": None,
        "pre_tokenizer": _pre_tokenizer(numbered.pretokenizer),
        "post_processor": None,
        "decoder": _BYTE_LEVEL,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": vocab,
            "merges": merges,
        },
    }
    target = path / "tokenizer.json" if path.is_dir() else path
    replace_file(target, json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def write_vocab_and_merges(folder: str | Path, numbered: Numbered) -> None:
    """Write `vocab.json` and `merges.txt` as GPT-2 has them. They say nothing of the pattern.

    Raises `InputError` as `write_huggingface` does, and for a merge that readers take for a header.
    """
    vocab, merges = _vocab_and_merges(numbered)
    lines = ["#version: 0.2", *(f"{left} {right}" for left, right in merges)]
    for line in lines[1:]:
        if line.startswith("#version"):
            raise InputError("merges", expected="none that merges.txt takes for its header", got=repr(line))
    replace_file(Path(folder) / "vocab.json", json.dumps(vocab, ensure_ascii=False) + "\n")
    replace_file(Path(folder) / "merges.txt", "\n".join(lines) + "\n")


def write_ranks(path: str | Path, numbered: Numbered) -> None:
    """Write a `.tiktoken` file. It says nothing of the pattern and of special tokens. Raises as `encoding` does."""
    ranks = sorted(_ranks(numbered).items(), key=lambda item: item[1])
    replace_file(Path(path), "".join(f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in ranks))


def encoding(name: str, numbered: Numbered) -> "tiktoken.Encoding":
    """The `tiktoken.Encoding` of these tokens.

    Raises `InputError` without tiktoken, and for what ranks can't say: a token that its own bytes don't merge into,
    ids that don't ascend with the merges, a byte without an id, a regex that leaves text out.
    """
    try:
        from tiktoken import Encoding
    except ImportError:
        hint = "install bytebound with the extra interop"
        raise InputError("tiktoken", expected="the package tiktoken", got="none", hint=hint) from None
    require_total(numbered.pretokenizer)
    return Encoding(
        name,
        pat_str=exported(numbered.pretokenizer),
        mergeable_ranks=_ranks(numbered),
        special_tokens=numbered.special_tokens,
    )


_BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def _pre_tokenizer(pretokenizer: Pretokenizer) -> dict[str, Any]:
    if isinstance(pretokenizer, WholeText):
        return _BYTE_LEVEL
    split = {"type": "Split", "pattern": {"Regex": exported(pretokenizer)}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [split, _BYTE_LEVEL]}


def _added_token(content: str, token_id: int) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": token_id, "content": content, **flags, "special": True}


def _vocab_and_merges(numbered: Numbered) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Spelling to id in ascending order of ids, and the spellings of each merge."""
    vocabulary, characters = numbered.vocabulary, byte_characters()
    spellings = ["".join(map(characters.__getitem__, token)) for token in vocabulary.tokens]
    vocab = dict(numbered.special_tokens)
    for spelling, token_id in zip(spellings, numbered.text_ids, strict=True):
        if vocab.setdefault(spelling, token_id) != token_id:
            raise InputError("merges", expected="tokens that are spelled differently", got=f"{spelling!r} twice")
    ascending = sorted((item for item in vocab.items() if item[1] >= 0), key=lambda item: item[1])
    return dict(ascending), [(spellings[left], spellings[right]) for left, right in vocabulary.merges.tolist()]


def _ranks(numbered: Numbered) -> dict[bytes, int]:
    vocabulary, ids = numbered.vocabulary, numbered.text_ids
    own_id = unreachable_token(vocabulary)
    if own_id is not None:
        got = f"{vocabulary.tokens[own_id]!r} (id {own_id})"
        raise InputError("ranks", expected="tokens that their own bytes merge into", got=got)
    if -1 in ids or ids[256:] != sorted(ids[256:]):
        expected = "an id for every byte, and ids that ascend with the merges"
        got = f"none for {vocabulary.tokens[ids.index(-1)]!r}" if -1 in ids else "others in the imported file"
        raise InputError("ranks", expected=expected, got=got, hint="with_own_ids() has ours")
    return dict(zip(vocabulary.tokens, ids, strict=True))
