"""Reads a Hugging Face `tokenizer.json` that is a byte-level BPE; what can't be reproduced is refused by name.

Such a file spells bytes as printable characters and numbers its tokens in its own order. Inside, ids are ours: the
bytes, then the merges; `external_ids` maps them to the file's.
"""

from collections.abc import Set
from pathlib import Path
from typing import Any

from contracts.errors import InputError
from research.tokenizers.pretokenize import PATTERNS, Pretokenizer, pretokenizer
from research.tokenizers.vocabulary import Vocabulary, checked_external_ids, checked_merges

#: Other spellings of named patterns: as published with GPT-2, and as tiktoken 0.14 has them.
_SPELLINGS = {
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s": "gpt2",
    PATTERNS["gpt2"].regex: "gpt2",
    PATTERNS["cl100k"].regex: "cl100k",
}


def from_huggingface(document: dict[str, Any], path: str | Path) -> Vocabulary:
    """The text vocabulary of a `tokenizer.json`; its special tokens are left out, for they never come from text.

    A `Split` regex other than GPT-2's or cl100k's is read in the meaning of the `regex` module, which may differ from
    the file's engine for rare characters.

    Raises `InputError` for a normalizer, ordinary added tokens, dropout, byte fallback, another pre-tokenizer, and
    merges that do not make one new token each.
    """
    try:
        model, added_tokens = document["model"], document.get("added_tokens") or []
        ordinary = [token["content"] for token in added_tokens if not token["special"]]
        special = {token["content"] for token in added_tokens if token["special"]}
        _require_exact(document.get("normalizer"), model, ordinary, path)
        pieces = _pretokenizer(document.get("pre_tokenizer"), path)
        return _vocabulary(model["vocab"], model["merges"], pieces, special, path)
    except (LookupError, TypeError, AttributeError) as error:
        raise _refused("the fields of a Hugging Face tokenizer", f"{type(error).__name__}: {error}", path) from error


def _require_exact(normalizer: Any, model: dict[str, Any], ordinary: list[str], path: str | Path) -> None:
    obstacles = [
        name
        for name in ("dropout", "byte_fallback", "ignore_merges", "continuing_subword_prefix", "end_of_word_suffix")
        if model.get(name)
    ]
    if model.get("type", "BPE") != "BPE":
        obstacles.append(f"model {model['type']}")
    if normalizer is not None:
        obstacles.append(f"normalizer {_kind(normalizer)}")
    if ordinary:
        obstacles.append(f"{len(ordinary)} added tokens inside text such as {ordinary[0]!r}")
    if obstacles:
        raise _refused("a byte-level BPE that takes text as it is", ", ".join(obstacles), path)


def _pretokenizer(step: Any, path: str | Path) -> Pretokenizer:
    steps = step["pretokenizers"] if _kind(step) == "Sequence" else [step]
    *cuts, last = steps
    if _kind(last) == "ByteLevel" and not last.get("add_prefix_space"):
        gpt2 = last.get("use_regex", True)
        if not cuts:
            return PATTERNS["gpt2" if gpt2 else "none"]
        if gpt2 and cuts == [{"type": "Digits", "individual_digits": True}]:
            return PATTERNS["gpt2-digits"]
        regex = cuts[0].get("pattern", {}).get("Regex")
        isolating = {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}
        if not gpt2 and cuts == [isolating]:
            return pretokenizer(_SPELLINGS.get(regex, regex))
    raise _refused(
        "ByteLevel without add_prefix_space, alone or after individual Digits or one isolating Split by a regex",
        " then ".join(map(_kind, steps)),
        path,
    )


def _vocabulary(
    vocab: dict[str, int], merges: list[Any], pieces: Pretokenizer, special: Set[str], path: str | Path
) -> Vocabulary:
    ours = {character: value for value, character in enumerate(byte_characters())}
    external_ids = [vocab.get(character, -1) for character in ours]
    pairs: list[tuple[int, int]] = []
    for own_id, merge in enumerate(merges, 256):
        parts = merge.split(" ") if isinstance(merge, str) else merge
        token = "".join(parts)
        if len(parts) != 2 or not ours.keys() >= set(parts) or token in ours or token not in vocab:
            raise _refused("merges that make one new token each, of two earlier ones", f"{merge!r}", path)
        pairs.append((ours[parts[0]], ours[parts[1]]))
        ours[token] = own_id
        external_ids.append(vocab[token])
    unreachable = vocab.keys() - ours.keys() - special
    if unreachable:
        raise _refused("each token to be a byte, a merge or special", f"{min(unreachable)!r}", path)
    return Vocabulary(checked_merges(pairs), pieces, checked_external_ids(external_ids, 256 + len(pairs)))


def byte_characters() -> list[str]:
    """The printable character that such files write for each byte (GPT-2's `bytes_to_unicode`)."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(value if value in printable else next(others)) for value in range(256)]


def _kind(step: Any) -> str:
    return "none" if step is None else str(step["type"])


def _refused(expected: str, got: str, path: str | Path) -> InputError:
    return InputError("tokenizer.json", expected=expected, got=got, where=str(path))
