"""A tokenizer as a JSON file that a person can read; what is read back is the tokenizer that was written, or refused.

The file states its identity, and reading computes it again from the merges: no cut passes, and no edit of what the
tokenizer is.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from contracts.errors import InputError
from contracts.tokenizer import Boundary, StopReason, TokenizerIdentity
from research.tokenizers.boundaries import checked_boundary, protocol_ids
from research.tokenizers.identity import identity
from research.tokenizers.interop.external import External, checked_external
from research.tokenizers.pretokenize import PATTERNS, Pretokenizer, pretokenizer
from research.tokenizers.vocabulary import Training, Vocabulary, checked_merges

FORMAT = "bytebound tokenizer 1"
_FIELDS = frozenset(
    ("format", "identity", "boundary", "pattern", "requested_vocab_size", "stop_reason", "external", "merges")
)


def write(path: str | Path, vocabulary: Vocabulary, boundary: Boundary, training: Training) -> None:
    """Write the file whole, or raise `InputError` and leave what was there."""
    stated = identity(vocabulary, protocol_ids(boundary, vocabulary.size))
    external = vocabulary.external
    header = {
        "format": FORMAT,
        "identity": {
            "version": stated.version,
            "vocab_size": stated.vocab_size,
            "protocol": dict(stated.protocol),
            "vocab_sha256": stated.vocab_sha256,
        },
        "boundary": boundary,
        "pattern": _pattern(vocabulary.pretokenizer),
        "requested_vocab_size": training.requested_vocab_size,
        "stop_reason": training.stop_reason,
        "external": None if external is None else vars(external) | {"ids": external.ids.tolist()},
    }
    lines = [f" {_dump(key)}: {_dump(value)},\n" for key, value in header.items()]
    merges = ",\n".join(f"  {_dump(merge)}" for merge in _readable_merges(vocabulary))
    replace_file(Path(path), "{\n" + "".join(lines) + f' "merges": [\n{merges}\n ]\n}}\n')


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _pattern(pretokenizer: Pretokenizer | None) -> dict[str, str] | None:
    if pretokenizer is None:
        return None
    kind = "name" if pretokenizer.spelling in PATTERNS else "regex"
    return {kind: pretokenizer.spelling, "version": pretokenizer.version}


def _readable_merges(vocabulary: Vocabulary) -> Iterator[list[Any]]:
    for pair, token in zip(vocabulary.merges.tolist(), vocabulary.tokens[256:], strict=True):
        yield [*pair, token.decode("utf-8", "backslashreplace")]


def replace_file(path: Path, text: str) -> None:
    """Write the file whole, or raise `InputError` and leave what was there."""
    unfinished = path.parent / f".{path.name}.{os.getpid()}.unfinished"
    try:
        with open(unfinished, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise _refused("a path that can be written", error.strerror, path) from None


def read_json(path: str | Path) -> dict[str, Any]:
    """The JSON object in a file. Raises `InputError` if it is missing, cut short or not an object."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise _refused("a readable file", error.strerror, path) from None
    except (ValueError, RecursionError) as error:
        raise _refused("a whole JSON file", error, path) from None
    if not isinstance(document, dict):
        raise _refused("a JSON object", type(document).__name__, path)
    return document


def parse(document: dict[str, Any], path: str | Path) -> tuple[Vocabulary, Boundary, Training]:
    """What `write` was given, from the JSON object of the file at `path`.

    Raises `InputError` unless the tokenizer in the file has the identity that the file states.
    """
    if document.get("format") != FORMAT:
        raise _refused(f"format {FORMAT!r}", repr(document.get("format")), path)
    try:
        stated = TokenizerIdentity(**document["identity"])
        boundary = checked_boundary(document["boundary"])
        merges = checked_merges([merge[:2] for merge in document["merges"]])
        external = _read_external(document["external"], 256 + len(merges), path)
        vocabulary = Vocabulary(merges, _read_pattern(document["pattern"], path), external)
        training = Training(document["requested_vocab_size"], document["stop_reason"])
    except KeyError as error:
        raise _refused(f"the field {error}", "none", path) from None
    except (TypeError, AttributeError) as error:
        raise _refused("the fields of a saved tokenizer", error, path) from None
    identity(vocabulary, protocol_ids(boundary, vocabulary.size)).require(stated, where=str(path))
    if document["merges"] != list(_readable_merges(vocabulary)):
        raise _refused("beside each merge the text that it makes", "another text", path)
    if unknown := set(document) - _FIELDS:
        raise _refused(f"the fields {', '.join(sorted(_FIELDS))}", ", ".join(map(repr, sorted(unknown))), path)
    _check_training(training, vocabulary.size, path)
    return vocabulary, boundary, training


def _check_training(training: Training, size: int, path: str | Path) -> None:
    """Requested size and stop reason belong together, and to the size that there is."""
    requested, reason = training.requested_vocab_size, training.stop_reason
    if requested is None and reason is None:
        return
    reached = requested == size
    possible = isinstance(requested, int) and requested >= size
    reasons = get_args(StopReason)
    if not possible or reason not in (reasons[:1] if reached else reasons[1:]):
        got = f"requested_vocab_size {requested!r} and stop_reason {reason!r} with {size} text tokens"
        raise _refused("a requested size and a stop reason that agree", got, path)


def _read_pattern(stored: Any, path: str | Path) -> Pretokenizer | None:
    if stored is None:
        return None
    if not isinstance(stored, dict):
        raise _refused("a pattern with its version", repr(stored), path)
    found = pretokenizer(stored.get("name") or stored.get("regex") or "")
    if _pattern(found) != stored:
        raise InputError(
            "pattern",
            expected=str(_pattern(found)),
            got=str(stored),
            where=str(path),
            hint="a regex needs the release of the regex module that it was trained with",
        )
    return found


def _read_external(stored: Any, size: int, path: str | Path) -> External | None:
    if stored is None:
        return None
    if len(stored["ids"]) != size:
        raise _refused(f"{size} external ids, one for each text id", len(stored["ids"]), path)
    return checked_external(**stored, where=str(path))


def _refused(expected: str, got: Any, path: str | Path) -> InputError:
    return InputError("tokenizer file", expected=expected, got=got, where=str(path))
