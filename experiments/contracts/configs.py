"""A decoder's config from the command line: a preset, a JSON or TOML file, `FIELD=VALUE`, or several of these.

Values are read but not judged: what conflicts is reported all at once, by `experiments.contracts.conflicts`.
"""

import dataclasses
import difflib
import json
import tomllib
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from contracts.errors import InputError

#: Published decoders of this architecture, by shape; how they scale rotary frequencies is left out.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "tiny": {},
    "smollm2-135m": {
        "vocab_size": 49_152,
        "d_model": 576,
        "n_layers": 30,
        "n_heads": 9,
        "n_kv_heads": 3,
        "d_ff": 1536,
        "context_length": 8192,
        "tied": True,
        "rope_theta": 100_000.0,
    },
    "tinyllama-1.1b": {
        "vocab_size": 32_000,
        "d_model": 2048,
        "n_layers": 22,
        "n_heads": 32,
        "n_kv_heads": 4,
        "d_ff": 5632,
        "context_length": 2048,
    },
    "llama-2-7b": {
        "vocab_size": 32_000,
        "d_model": 4096,
        "n_layers": 32,
        "n_heads": 32,
        "n_kv_heads": 32,
        "head_dim": 128,
        "d_ff": 11_008,
        "context_length": 4096,
    },
    "mistral-7b": {
        "vocab_size": 32_000,
        "d_model": 4096,
        "n_layers": 32,
        "n_heads": 32,
        "n_kv_heads": 8,
        "head_dim": 128,
        "d_ff": 14_336,
        "context_length": 32_768,
    },
    "llama-3-8b": {
        "vocab_size": 128_256,
        "d_model": 4096,
        "n_layers": 32,
        "n_heads": 32,
        "n_kv_heads": 8,
        "head_dim": 128,
        "d_ff": 14_336,
        "context_length": 8192,
        "rope_theta": 500_000.0,
    },
    "llama-3-70b": {
        "vocab_size": 128_256,
        "d_model": 8192,
        "n_layers": 80,
        "n_heads": 64,
        "n_kv_heads": 8,
        "head_dim": 128,
        "d_ff": 28_672,
        "context_length": 131_072,
        "rope_theta": 500_000.0,
    },
    "llama-3-405b": {
        "vocab_size": 128_256,
        "d_model": 16_384,
        "n_layers": 126,
        "n_heads": 128,
        "n_kv_heads": 8,
        "head_dim": 128,
        "d_ff": 53_248,
        "context_length": 131_072,
        "rope_theta": 500_000.0,
    },
}


def config_values(terms: Sequence[str]) -> dict[str, Any]:
    """Every field of a `DecoderConfig` as `terms` give it, later terms over earlier ones, defaults for the rest.

    Raises:
        InputError: for a term that is no preset, file or `FIELD=VALUE`, an unknown field or a value of another type.
    """
    from contracts.decoder import DecoderConfig

    values = {field.name: field.default for field in dataclasses.fields(DecoderConfig)}
    types = {name: getattr(hint, "__origin__", hint) for name, hint in typing.get_type_hints(DecoderConfig).items()}
    complaints = []
    parts = [part for term in terms for part in ([term] if Path(term).is_file() else term.split(","))]
    for name, given in [pair for part in parts for pair in _pairs(part)]:
        if name not in values:
            close = difflib.get_close_matches(name, values, n=1)
            complaints.append(f"{name}, which is no field" + (f" (did you mean {close[0]}?)" if close else ""))
            continue
        value = _typed(given, types[name])
        if value is None:
            complaints.append(f"{name} = {given!r}, which is no {getattr(types[name], '__name__', 'word')}")
        values[name] = value
    if complaints:
        raise InputError("config", expected=f"values for {', '.join(values)}", got="; ".join(complaints))
    return values


def _pairs(term: str) -> list[tuple[str, Any]]:
    """The fields that one term sets."""
    if term in PRESETS:
        return list(PRESETS[term].items())
    if Path(term).is_file():
        return list(_read(Path(term)).items())
    name, is_given, value = term.partition("=")
    if is_given:
        return [(name.strip(), value.strip())]
    raise InputError(
        "config",
        expected="FIELD=VALUE, a JSON or TOML file, or a preset",
        got=term,
        hint=f"presets: {', '.join(PRESETS)}",
    )


def _read(path: Path) -> Mapping[str, Any]:
    """The fields in a file; those under `config` where the file holds more than a config."""
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError) as error:
        raise InputError("config", expected="a JSON or TOML file", got=str(error), where=str(path)) from None
    data = data.get("config", data) if isinstance(data, dict) else data
    if not isinstance(data, dict):
        raise InputError("config", expected="an object of fields", got=type(data).__name__, where=str(path))
    return data


def _typed(given: Any, kind: Any) -> Any:
    """`given` as a value of the field's type, `None` if it is none; text is read as the command line writes it."""
    if isinstance(given, str) and kind is bool:
        return {"true": True, "false": False}.get(given.lower())
    if isinstance(given, str) and kind in (int, float):
        try:
            return kind(given)
        except ValueError:
            return None
    if kind is float and isinstance(given, int) and not isinstance(given, bool):
        return float(given)
    if kind in (int, float, bool):
        return given if type(given) is kind else None
    return given if isinstance(given, str) else None
