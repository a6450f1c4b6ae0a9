"""Settings of a run by name, such as `optimizer.beta2`: changed by options and by FIELD=VALUE, read by their type."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from contracts.errors import InputError
from research.train import TrainConfig
from research.train.config import all_of, flat, parse_config


def changed(config: TrainConfig, given: Mapping[str, Any], terms: Sequence[str]) -> TrainConfig:
    """The config with the fields in `given` changed, and then those of the terms `FIELD=VALUE`.

    Raises:
        InputError: for an unknown field, a value of another type, and values that conflict.
    """
    values = flat(config.to_json())
    values |= given
    refusals = []
    for term in terms:
        try:
            values |= _read(term, values)
        except InputError as refusal:
            refusals.append(refusal)
    if refusals:
        raise all_of(refusals)
    try:
        return parse_config(_nested(values), "the options")
    except InputError as refusal:
        hint = refusal.hint or "options such as --warmup-steps and --set change what the preset says"
        raise InputError(
            refusal.subject, expected=refusal.expected, got=refusal.got, where=refusal.where, hint=hint
        ) from None


def _read(term: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The setting that a term `FIELD=VALUE` changes, and to what."""
    name, is_given, text = term.partition("=")
    if not is_given:
        raise InputError("--set", expected="FIELD=VALUE", got=repr(term))
    if name not in values:
        close = difflib.get_close_matches(name, values, n=1)
        hint = f"did you mean {close[0]}?" if close else f"such as {', '.join(list(values)[:4])}"
        raise InputError("--set", expected="a setting of a run", got=repr(name), hint=hint)
    return {name: _typed(name, text, type(values[name]))}


def _typed(name: str, text: str, kind: type) -> Any:
    found: Any = None
    if kind is bool:
        found = {"true": True, "false": False}.get(text.lower())
    elif kind is str:
        found = text
    else:
        try:
            found = kind(text)
        except ValueError:
            found = None
    if found is None:
        expected = {bool: "true or false", int: "an integer", float: "a number"}[kind]
        raise InputError(f"--set {name}", expected=expected, got=repr(text))
    return found


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """`{"optimizer.beta2": 0.9}` as `{"optimizer": {"beta2": 0.9}}`."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        group, _, field = name.rpartition(".")
        (found.setdefault(group, {}) if group else found)[field] = value
    return found
