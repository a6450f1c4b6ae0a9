"""Reads a Hugging Face `tokenizer.json` that is a byte-level BPE; what can't be reproduced is refused by name.

Such a file spells bytes as printable characters and numbers its tokens in its own order. Inside, ids are ours: the
bytes, then the merges; `External` keeps the file's.
"""

from collections.abc import Iterator, Mapping, Set
from itertools import groupby
from pathlib import Path
from typing import Any

from contracts.errors import InputError
from contracts.tokenizer import Boundary
from research.tokenizers.interop.external import Roles, imported
from research.tokenizers.interop.ranks import unreachable_token
from research.tokenizers.interop.spellings import recognised
from research.tokenizers.limits import require_token_bytes
from research.tokenizers.plain.encode import Pair, merge_bytes
from research.tokenizers.pretokenize import PATTERNS, Pretokenizer, pretokenizer
from research.tokenizers.vocabulary import Vocabulary, checked_merges


def from_huggingface(
    document: dict[str, Any], path: str | Path, boundary: Boundary | None = None, roles: Roles | None = None
) -> tuple[Vocabulary, Boundary]:
    """The vocabulary of a `tokenizer.json`, and the boundary policy; `external.imported` says how the roles come.

    A `Split` regex that spells no named pattern is read in the meaning of the `regex` module, which may differ from
    the file's engine for rare characters.

    Raises `InputError` for a normalizer, ordinary added tokens, dropout, byte fallback, another pre-tokenizer or
    decoder, truncation, padding, a post-processor that puts tokens around a text (which the boundary policy does
    here), merges that do not make one new token each, and `ignore_merges` where it makes a difference.
    """
    try:
        model, added_tokens = document["model"], document.get("added_tokens") or []
        ordinary = [token["content"] for token in added_tokens if not token["special"]]
        _require_exact(document, model, ordinary, path)
        pieces = _pretokenizer(document.get("pre_tokenizer"), path)
        vocab = model["vocab"]
        special = {token["content"]: vocab.get(token["content"], token["id"]) for token in added_tokens}
        pairs, ids = _merges(vocab, model["merges"], special.keys(), path)
    except (LookupError, TypeError, AttributeError) as error:
        raise _refused("the fields of a Hugging Face tokenizer", f"{type(error).__name__}: {error}", path) from error
    external, boundary = imported(ids, special, boundary, roles, where=str(path))
    vocabulary = Vocabulary(checked_merges(pairs), pieces, external)
    if model.get("ignore_merges"):
        _require_all_reachable(vocabulary, path)
    return vocabulary, boundary


def _require_exact(document: dict[str, Any], model: dict[str, Any], ordinary: list[str], path: str | Path) -> None:
    obstacles = [
        name
        for name in ("dropout", "byte_fallback", "continuing_subword_prefix", "end_of_word_suffix")
        if model.get(name)
    ]
    if model.get("type", "BPE") != "BPE":
        obstacles.append(f"model {model['type']}")
    if document.get("normalizer") is not None:
        obstacles.append(f"normalizer {_kind(document['normalizer'])}")
    obstacles += [name for name in ("truncation", "padding") if document.get(name) is not None]
    decoders = {_kind(step) for step in _steps(document.get("decoder"), "decoders")} - {"none", "ByteLevel"}
    obstacles += [f"decoder {kind}" for kind in sorted(decoders)]
    if ordinary:
        obstacles.append(f"{len(ordinary)} added tokens inside text such as {ordinary[0]!r}")
    if obstacles:
        raise _refused("a byte-level BPE that takes text as it is", ", ".join(obstacles), path)
    inserting = [step for step in _steps(document.get("post_processor"), "processors") if _inserts(step)]
    if inserting:
        got = f"post_processor {_kind(inserting[0])}, which puts special tokens around it"
        hint = "with post_processor null in the file its text is read, and the boundary policy puts tokens around it"
        raise _refused("a byte-level BPE that takes text as it is", got, path, hint)


def _steps(step: Any, field: str) -> list[Any]:
    """The steps of a Sequence, in one row; a single step, or none (`None`), is a row of its own."""
    if _kind(step) != "Sequence":
        return [step]
    return [inner for each in step[field] for inner in _steps(each, field)]


def _inserts(step: Any) -> bool:
    """Whether a post-processor adds tokens to a text."""
    if _kind(step) == "TemplateProcessing":
        return any("SpecialToken" in piece for piece in step["single"])
    return _kind(step) not in ("none", "ByteLevel")


def _require_all_reachable(vocabulary: Vocabulary, path: str | Path) -> None:
    """`ignore_merges` takes a pre-token that is a token as it is: no difference if merges come to the same."""
    own_id = unreachable_token(vocabulary)
    if own_id is not None:
        got = f"ignore_merges with the token {vocabulary.tokens[own_id]!r}, which its own merges do not make"
        raise _refused("a byte-level BPE that takes text as it is", got, path)


def _pretokenizer(step: Any, path: str | Path) -> Pretokenizer:
    steps = step["pretokenizers"] if _kind(step) == "Sequence" else [step]
    *cuts, last = steps or [None]
    if _kind(last) == "ByteLevel" and not last.get("add_prefix_space"):
        gpt2 = last.get("use_regex", True)
        if not cuts:
            return PATTERNS["gpt2" if gpt2 else "none"]
        if gpt2 and cuts == [{"type": "Digits", "individual_digits": True}]:
            return PATTERNS["gpt2-digits"]
        regex = cuts[0].get("pattern", {}).get("Regex")
        isolating = {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}
        if not gpt2 and cuts == [isolating]:
            return pretokenizer(recognised(regex))
    raise _refused(
        "ByteLevel without add_prefix_space, alone or after individual Digits or one isolating Split by a regex",
        " then ".join(map(_kind, steps)) or "a Sequence of none",
        path,
    )


def _merges(
    vocab: dict[str, int], merges: list[Any], special: Set[str], path: str | Path
) -> tuple[list[Pair], list[int]]:
    """The merges in our ids, and the file's id of each of our text ids."""
    ours = {character: value for value, character in enumerate(byte_characters())}
    ids = [vocab.get(character, -1) for character in ours]
    made: dict[Pair, int] = {}
    total = len(ours)
    for own_id, (token, group) in enumerate(groupby(_splits(merges, path), key="".join), 256):
        total += len(token)
        require_token_bytes(len(token), total, "tokenizer.json", f"{path}, merge of id {own_id}")
        splits = list(group)
        pairs = [(ours[left], ours[right]) for left, right in splits if left in ours and right in ours]
        if not pairs or token in ours or token not in vocab:
            expected = "merges that make one new token each, of two earlier ones"
            raise _refused(expected, repr(" ".join(splits[0])), path)
        pair = pairs[0] if len(splits) == 1 else _merge_that_applies(token, pairs, made, ours, path)
        made[pair] = ours[token] = own_id
        ids.append(vocab[token])
    unreachable = vocab.keys() - ours.keys() - special
    if unreachable:
        raise _refused("each token to be a byte, a merge or special", repr(min(unreachable)), path)
    return list(made), ids


def _splits(merges: list[Any], path: str | Path) -> Iterator[tuple[str, str]]:
    for merge in merges:
        if isinstance(merge, str) and merge.startswith("#version"):
            continue  # a header in older files, which the library skips wherever it stands
        parts = merge.split(" ") if isinstance(merge, str) else merge
        if len(parts) != 2:
            raise _refused("merges of two tokens each", repr(merge), path)
        yield parts[0], parts[1]


def _merge_that_applies(
    token: str, pairs: list[Pair], earlier: Mapping[Pair, int], ours: Mapping[str, int], path: str | Path
) -> Pair:
    """Of several merges that make `token`, as files made from ranks list them, the only one that ever applies."""
    ids = merge_bytes(bytes(ours[character] for character in token), earlier)
    if len(ids) != 2 or (ids[0], ids[1]) not in pairs:
        raise _refused("tokens that one of their merges makes", repr(token), path)
    return ids[0], ids[1]


def byte_characters() -> list[str]:
    """The printable character that such files write for each byte (GPT-2's `bytes_to_unicode`)."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(value if value in printable else next(others)) for value in range(256)]


def _kind(step: Any) -> str:
    return "none" if step is None else str(step["type"])


def _refused(expected: str, got: str, path: str | Path, hint: str = "") -> InputError:
    return InputError("tokenizer.json", expected=expected, got=got, where=str(path), hint=hint)
