"""What a change of the specs breaks: two specifications in, one line for each change out.

Every change has a rule, and the rule says what breaks: `weights` (checkpoints), `calls` (code that calls or
implements), `tokens` (the meaning of ids), `data` (stored streams and results) or `nothing`. The idea of rules with
names and categories is that of buf for Protocol Buffers.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from contracts.errors import InputError

Breaks = Literal["weights", "calls", "tokens", "data", "nothing"]
CLASSES: tuple[Breaks, ...] = get_args(Breaks)

#: What breaks with a dataclass, a choice or a table of these modules; of any other it is stored `data`.
STORED: Mapping[str, Breaks] = {
    "contracts.tokenizer": "tokens",
    "contracts.decoder": "weights",
    "contracts.parameters": "calls",
}


@dataclass(frozen=True)
class Rule:
    """What a kind of change breaks, and whom that concerns."""

    breaks: Breaks | None
    """`None`: what `STORED` says of the module"""
    consequence: str


RULES: Mapping[str, Rule] = {
    "MODULE_ADDED": Rule("nothing", "nobody knows it yet"),
    "MODULE_REMOVED": Rule("calls", "imports of it fail"),
    "DIM_ADDED": Rule("nothing", "no array has it yet"),
    "DIM_REMOVED": Rule("calls", "imports of it fail"),
    "ALIAS_ADDED": Rule("nothing", "nobody uses it yet"),
    "ALIAS_REMOVED": Rule("calls", "imports of it fail"),
    "ALIAS_CHANGED": Rule("calls", "functions that are annotated with it take or return other arrays"),
    "CHOICES_ADDED": Rule("nothing", "nobody uses them yet"),
    "CHOICES_REMOVED": Rule("calls", "imports of them fail"),
    "CHOICE_ADDED": Rule("nothing", "old values stay valid"),
    "CHOICE_REMOVED": Rule(None, "what was stored or called with it is refused"),
    "ROW_ADDED": Rule("nothing", "the other rows stay"),
    "ROW_REMOVED": Rule(None, "what was made by that row is refused"),
    "ROW_CHANGED": Rule(None, "what was made by that row means something else"),
    "PARAMETER_ADDED": Rule("weights", "older checkpoints lack it"),
    "PARAMETER_REMOVED": Rule("weights", "older checkpoints hold an array that has no place"),
    "PARAMETER_SHAPE": Rule("weights", "older checkpoints hold it in another shape"),
    "DATACLASS_ADDED": Rule("nothing", "nobody uses it yet"),
    "DATACLASS_REMOVED": Rule("calls", "imports of it fail"),
    "FIELD_ADDED": Rule(None, "what was stored lacks it, and whoever constructs it must name it"),
    "FIELD_ADDED_WITH_DEFAULT": Rule("nothing", "what was stored gets the default"),
    "FIELD_REMOVED": Rule(None, "what was stored has a field too many"),
    "FIELD_TYPE": Rule(None, "what was stored may have another type"),
    "FIELD_WIDENED": Rule("nothing", "what was stored stays valid"),
    "FIELD_DIM": Rule("calls", "the field binds another axis"),
    "FIELD_DEFAULT": Rule(None, "whoever leaves it out gets another value"),
    "PROTOCOL_ADDED": Rule("nothing", "nobody implements it yet"),
    "PROTOCOL_REMOVED": Rule("calls", "imports of it fail"),
    "MEMBER_ADDED": Rule("calls", "implementations lack it"),
    "MEMBER_REMOVED": Rule("calls", "callers can no longer rely on it"),
    "MEMBER_TYPE": Rule("calls", "readers get another type"),
    "ARGUMENT_ADDED": Rule("calls", "implementations do not take it, callers do not pass it"),
    "ARGUMENT_REMOVED": Rule("calls", "callers pass it"),
    "ARGUMENT_TYPE": Rule("calls", "callers pass another type"),
    "ARGUMENT_DEFAULT": Rule("calls", "callers that leave it out get another value or an error"),
    "ARGUMENT_ORDER": Rule("calls", "callers that pass it by position pass another"),
    "RETURN_TYPE": Rule("calls", "callers get another type"),
}


@dataclass(frozen=True)
class Change:
    """One difference between two specifications."""

    rule: str
    breaks: Breaks
    what: str
    """`contracts.decoder.Mixer.__call__(x)`"""
    old: str
    new: str

    @property
    def consequence(self) -> str:
        """Whom it concerns, in one sentence."""
        return RULES[self.rule].consequence


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Every change from `old` to `new`, both as `contracts.specification.specification` returns them.

    Breaking ones come first, in the order of `CLASSES`.
    """
    changes: list[Change] = []
    for name in sorted({*old, *new}):
        changes += [] if old.get(name) == new.get(name) else _module(name, old.get(name), new.get(name))
    return sorted(changes, key=lambda change: CLASSES.index(change.breaks))


def checked_specification(data: Any, where: str) -> Mapping[str, Any]:
    """`data` if it has the form in which this version writes specifications; `InputError` otherwise."""
    parts = {"dims", "aliases", "choices", "tables", "dataclasses", "protocols"}
    modules = data.values() if isinstance(data, Mapping) else ()
    if modules and all(isinstance(module, Mapping) and set(module) == parts for module in modules):
        return data
    raise InputError(
        "specification",
        expected=f"modules with {', '.join(sorted(parts))}",
        got="another form",
        where=where,
        hint="compare what was written by the same version of contracts/specification.py",
    )


def _module(name: str, old: Any, new: Any) -> Iterator[Change]:
    def change(rule: str, what: str, before: Any, after: Any) -> Change:
        breaks = RULES[rule].breaks or STORED.get(name, "data")
        return Change(rule, breaks, f"{name}.{what}" if what else name, _shown(before), _shown(after))

    if old is None or new is None:
        yield change("MODULE_ADDED" if old is None else "MODULE_REMOVED", "", "", "")
        return
    found = (
        *_names("DIM", dict.fromkeys(old["dims"], ""), dict.fromkeys(new["dims"], "")),
        *_names("ALIAS", old["aliases"], new["aliases"], changed="ALIAS_CHANGED"),
        *_choices(old["choices"], new["choices"]),
        *_tables(old["tables"], new["tables"], "PARAMETER" if name == "contracts.parameters" else "ROW"),
        *_dataclasses(old["dataclasses"], new["dataclasses"]),
        *_protocols(old["protocols"], new["protocols"]),
    )
    for finding in found:
        yield change(*finding)


Finding = tuple[str, str, Any, Any]  # rule, what, old, new


def _names(kind: str, old: Mapping[str, Any], new: Mapping[str, Any], changed: str = "") -> Iterator[Finding]:
    """What was added to or removed from a mapping, and where `changed` is a rule what has another value."""
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in new:
            yield f"{kind}_REMOVED", name, old[name], ""
        elif name not in old:
            yield f"{kind}_ADDED", name, "", new[name]
        elif changed and old[name] != new[name]:
            yield changed, name, old[name], new[name]


def _choices(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Finding]:
    yield from _names("CHOICES", old, new)
    for name in sorted(old.keys() & new.keys()):
        before, after = old[name], new[name]
        for rule, choice, _, _ in _names("CHOICE", dict.fromkeys(before, ""), dict.fromkeys(after, "")):
            yield rule, f"{name}[{choice}]", ", ".join(before), ", ".join(after)


def _tables(old: Mapping[str, Any], new: Mapping[str, Any], kind: str) -> Iterator[Finding]:
    changed = "PARAMETER_SHAPE" if kind == "PARAMETER" else "ROW_CHANGED"
    for name in sorted({*old, *new}):
        for rule, key, before, after in _names(kind, old.get(name, {}), new.get(name, {}), changed):
            yield rule, f"{name}[{key}]", before, after


def _dataclasses(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Finding]:
    yield from _names("DATACLASS", _nameless(old), _nameless(new))
    for name in sorted(old.keys() & new.keys()):
        for rule, field, before, after in _names("FIELD", old[name], new[name], changed="FIELD"):
            what = f"{name}.{field}"
            if rule == "FIELD_ADDED":
                yield f"FIELD_ADDED{'_WITH_DEFAULT' if 'default' in after else ''}", what, "", _field(after)
            elif rule == "FIELD_REMOVED":
                yield rule, what, _field(before), ""
            else:
                yield from _changed_field(what, before, after)


def _changed_field(what: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Finding]:
    if old["type"] != new["type"]:
        widened = _alternatives(old["type"]) <= _alternatives(new["type"])
        yield "FIELD_WIDENED" if widened else "FIELD_TYPE", what, old["type"], new["type"]
    for part in ("dim", "default"):
        if old.get(part) != new.get(part):
            yield f"FIELD_{part.upper()}", what, old.get(part, "none"), new.get(part, "none")


def _alternatives(spelled: str) -> set[str]:
    """The arms of a union and the values of a `Literal`, taken apart: `Literal[1, 2] | None` is 1, 2, None."""

    def parts(node: ast.expr) -> Iterator[str]:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            yield from (*parts(node.left), *parts(node.right))
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
            choices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            yield from map(ast.unparse, choices)
        else:
            yield ast.unparse(node)

    try:
        return set(parts(ast.parse(spelled, mode="eval").body))
    except SyntaxError:
        return {spelled}


def _field(field: Mapping[str, str]) -> str:
    return field["type"] + (f" = {field['default']}" if "default" in field else "")


def _protocols(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Finding]:
    yield from _names("PROTOCOL", _nameless(old), _nameless(new))
    for name in sorted(old.keys() & new.keys()):
        for rule, member, before, after in _names("MEMBER", old[name], new[name], changed="MEMBER_TYPE"):
            if rule == "MEMBER_TYPE" and "takes" in before and "takes" in after:
                yield from _method(f"{name}.{member}", before, after)
            else:
                yield rule, f"{name}.{member}", _member(before), _member(after)


def _method(what: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Finding]:
    before, after = ({argument[0]: argument for argument in method["takes"]} for method in (old, new))
    for rule, name, was, becomes in _names("ARGUMENT", before, after, changed="ARGUMENT"):
        place = f"{what}({name})"
        if rule != "ARGUMENT":
            yield rule, place, _argument(was), _argument(becomes)
            continue
        if was[1] != becomes[1]:
            yield "ARGUMENT_TYPE", place, was[1], becomes[1]
        if was[2:] != becomes[2:]:
            yield "ARGUMENT_DEFAULT", place, _default(was), _default(becomes)
    common = [[name for name in names if name in before and name in after] for names in (before, after)]
    if common[0] != common[1]:
        yield "ARGUMENT_ORDER", what, ", ".join(before), ", ".join(after)
    if old["returns"] != new["returns"]:
        yield "RETURN_TYPE", f"{what}(...)", old["returns"], new["returns"]


def _member(member: Any) -> str:
    if not member:
        return ""
    if "takes" not in member:
        return member["type"]
    return f"({', '.join(map(_argument, member['takes']))}) -> {member['returns']}"


def _default(argument: list[str]) -> str:
    return argument[2] if len(argument) > 2 else "no default"


def _argument(argument: Any) -> str:
    return f"{argument[0]}: {argument[1]}{''.join(f' = {default}' for default in argument[2:])}" if argument else ""


def _nameless(mapping: Mapping[str, Any]) -> dict[str, str]:
    """The keys alone: what they map to is compared on its own."""
    return dict.fromkeys(mapping, "")


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
