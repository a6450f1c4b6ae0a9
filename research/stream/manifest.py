"""The JSON beside a corpus: what it was made from and what its files hold, read back strictly and compared by field."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from contracts.errors import InputError
from contracts.stream import CorpusLimits, CorpusManifest, CorpusRecipe, SourceFile, StoredStream, StreamCounts
from contracts.tokenizer import TokenizerIdentity
from research.progress import Progress

FORMAT = "bytebound corpus 1"
MANIFEST = "manifest.json"
RECIPE = "recipe.json"
"""of an unfinished corpus"""
BLOCK = 1 << 20
MOST_NAMED = 20
"""differences between two recipes, which may be of thousands of files"""


def write_json(path: Path, data: Any) -> None:
    """Replace the file at `path` as a whole, and return when it is on the disk."""
    temporary = path.with_name(f".{path.name}.unfinished")
    with open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(data, ensure_ascii=False, indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make what was renamed or made in `folder` last."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in the file. Raises `InputError` if it can't be read or is something else."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(str(path), expected="a readable file", got=str(error.strerror)) from None
    except ValueError as error:
        raise InputError(str(path), expected="a whole JSON file", got=str(error)) from None
    if not isinstance(data, dict):
        raise InputError(str(path), expected="a JSON object", got=type(data).__name__)
    return data


def read_manifest(folder: Path) -> CorpusManifest:
    """The manifest of a finished corpus. Raises `InputError` where there is none, or one of another form."""
    path = folder / MANIFEST
    if (folder / RECIPE).exists() and not path.exists():
        hint = "run the command that builds it again: it goes on where it stopped"
        raise InputError(str(folder), expected="a finished corpus", got="an unfinished one", hint=hint)
    data = read_json(path)
    if data.get("format") != FORMAT:
        raise InputError(str(path), expected=f"format {FORMAT!r}", got=repr(data.get("format")))
    try:
        parsed = {name: _stored_stream(data[name]) for name in ("train", "validation")}
        return CorpusManifest(**{**data, **parsed, "recipe": parse_recipe(data["recipe"])})
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(str(path), expected="the fields of a corpus manifest", got=repr(error)) from None


def parse_recipe(data: Mapping[str, Any]) -> CorpusRecipe:
    """A recipe from the JSON of its fields. Raises `KeyError` or `TypeError` for other fields."""
    parsed = {
        "tokenizer": TokenizerIdentity(**data["tokenizer"]),
        "sources": tuple(SourceFile(**source) for source in data["sources"]),
        "limits": CorpusLimits(**data["limits"]),
    }
    return CorpusRecipe(**{**data, **parsed})


def require_recipe(expected: CorpusRecipe, found: CorpusRecipe, folder: Path) -> None:
    """Refuse the corpus in `folder`, made by the recipe `found`, unless it is the one expected: every difference."""
    want, have = _flat(asdict(expected)), _flat(asdict(found))
    differing = [
        f"{name} {have.get(name)!r} (not {want.get(name)!r})"
        for name in {**want, **have}
        if want.get(name) != have.get(name)
    ]
    if differing:
        more = f" and {len(differing) - MOST_NAMED} more" if len(differing) > MOST_NAMED else ""
        raise InputError(
            str(folder),
            expected="a new folder, or a corpus of the same tokenizer, sources and settings",
            got=f"one with {', '.join(differing[:MOST_NAMED])}{more}",
            hint="choose another folder, or remove this one",
        )


def file_sha256(path: Path, bar: Progress | None = None) -> str:
    """The digest of a file's bytes, which `bar` counts."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            if bar is not None:
                bar.advance(len(block))
    return digest.hexdigest()


def _stored_stream(data: Mapping[str, Any]) -> StoredStream:
    return StoredStream(**{**data, "counts": StreamCounts(**data["counts"])})


def _flat(data: Any, name: str = "") -> dict[str, Any]:
    """Path to leaf: `{"tokenizer.vocab_size": 257, "sources[0].name": "a.txt"}`."""
    if isinstance(data, Mapping):
        items = [(f"{name}.{key}" if name else str(key), value) for key, value in data.items()]
    elif isinstance(data, list | tuple):
        items = [(f"{name}[{index}]", value) for index, value in enumerate(data)]
    else:
        return {name: data}
    return {path: leaf for key, value in items for path, leaf in _flat(value, key).items()}
