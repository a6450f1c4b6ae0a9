"""Every kind of change of a specification is found, once, and put in the class of what it breaks."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.difference import CLASSES, RULES, checked_specification, differences
from contracts.errors import InputError
from contracts.specification import canonical_json, specification

SPECIFICATION = specification()
DECODER, TOKENIZER, RESULTS = "contracts.decoder", "contracts.tokenizer", "contracts.results"


def put(*path_and_value):
    """An edit: set the entry at a path of keys."""
    *path, key, value = path_and_value

    def edit(data: Any) -> None:
        for step in path:
            data = data[step]
        data[key] = value

    return edit


def drop(*path):
    """An edit: remove the entry at a path of keys."""

    def edit(data: Any) -> None:
        for step in path[:-1]:
            data = data[step]
        del data[path[-1]]

    return edit


def append(*path_and_value):
    """An edit: append to the list at a path of keys."""
    *path, value = path_and_value

    def edit(data: Any) -> None:
        for step in path:
            data = data[step]
        data.append(value)

    return edit


MIXER = (DECODER, "protocols", "Mixer")
CALL = (*MIXER, "__call__")
FIELDS = (DECODER, "dataclasses", "DecoderConfig")
TABLE = ("contracts.parameters", "tables", "PARAMETERS")
POLICIES = (TOKENIZER, "tables", "PROTOCOL_NAMES")

EDITS = [
    ("MODULE_ADDED", "nothing", "contracts.new", put("contracts.new", SPECIFICATION[RESULTS])),
    ("MODULE_REMOVED", "calls", RESULTS, drop(RESULTS)),
    ("DIM_ADDED", "nothing", f"{DECODER}.Q", append(DECODER, "dims", "Q")),
    ("DIM_REMOVED", "calls", f"{DECODER}.B", drop(DECODER, "dims", 0)),
    ("ALIAS_ADDED", "nothing", f"{DECODER}.Mask", put(DECODER, "aliases", "Mask", 'Bool["T T"]')),
    ("ALIAS_REMOVED", "calls", f"{DECODER}.Hidden", drop(DECODER, "aliases", "Hidden")),
    ("ALIAS_CHANGED", "calls", f"{DECODER}.Hidden", put(DECODER, "aliases", "Hidden", 'Float["T B D"]')),
    ("CHOICES_ADDED", "nothing", f"{TOKENIZER}.Case", put(TOKENIZER, "choices", "Case", ["'upper'"])),
    ("CHOICES_REMOVED", "calls", f"{TOKENIZER}.TieBreak", drop(TOKENIZER, "choices", "TieBreak")),
    ("CHOICE_ADDED", "nothing", f"{TOKENIZER}.Boundary['both']", append(TOKENIZER, "choices", "Boundary", "'both'")),
    ("CHOICE_REMOVED", "tokens", f"{TOKENIZER}.Boundary['shared']", drop(TOKENIZER, "choices", "Boundary", 0)),
    ("ROW_ADDED", "nothing", f"{TOKENIZER}.PROTOCOL_NAMES[both]", put(*POLICIES, "both", ["b", "e"])),
    ("ROW_REMOVED", "tokens", f"{TOKENIZER}.PROTOCOL_NAMES[eos]", drop(*POLICIES, "eos")),
    ("ROW_CHANGED", "tokens", f"{TOKENIZER}.PROTOCOL_NAMES[separate]", put(*POLICIES, "separate", ["eos", "bos"])),
    ("PARAMETER_ADDED", "weights", "contracts.parameters.PARAMETERS[bias]", put(*TABLE, "bias", "D")),
    ("PARAMETER_REMOVED", "weights", "contracts.parameters.PARAMETERS[norm.scale]", drop(*TABLE, "norm.scale")),
    ("PARAMETER_SHAPE", "weights", "contracts.parameters.PARAMETERS[norm.scale]", put(*TABLE, "norm.scale", "F")),
    ("DATACLASS_ADDED", "nothing", f"{DECODER}.New", put(DECODER, "dataclasses", "New", {})),
    ("DATACLASS_REMOVED", "calls", f"{DECODER}.DecoderConfig", drop(*FIELDS)),
    ("FIELD_ADDED", "weights", f"{DECODER}.DecoderConfig.bias", put(*FIELDS, "bias", {"type": "bool"})),
    ("FIELD_ADDED", "data", f"{RESULTS}.Row.by", put(RESULTS, "dataclasses", "Row", "by", {"type": "str"})),
    (
        "FIELD_ADDED_WITH_DEFAULT",
        "nothing",
        f"{DECODER}.DecoderConfig.bias",
        put(*FIELDS, "bias", {"type": "bool", "default": "False"}),
    ),
    ("FIELD_REMOVED", "weights", f"{DECODER}.DecoderConfig.tied", drop(*FIELDS, "tied")),
    ("FIELD_TYPE", "weights", f"{DECODER}.DecoderConfig.tied", put(*FIELDS, "tied", "type", "str")),
    ("FIELD_WIDENED", "nothing", f"{DECODER}.DecoderConfig.tied", put(*FIELDS, "tied", "type", "bool | None")),
    ("FIELD_DIM", "calls", f"{DECODER}.DecoderConfig.d_ff", put(*FIELDS, "d_ff", "dim", "D")),
    ("FIELD_DEFAULT", "weights", f"{DECODER}.DecoderConfig.tied", put(*FIELDS, "tied", "default", "True")),
    ("PROTOCOL_ADDED", "nothing", f"{DECODER}.New", put(DECODER, "protocols", "New", {})),
    ("PROTOCOL_REMOVED", "calls", f"{DECODER}.Mixer", drop(*MIXER)),
    ("MEMBER_ADDED", "calls", f"{DECODER}.Mixer.name", put(*MIXER, "name", {"type": "str"})),
    ("MEMBER_REMOVED", "calls", f"{DECODER}.Mixer.config", drop(*MIXER, "config")),
    ("MEMBER_TYPE", "calls", f"{DECODER}.Mixer.config", put(*MIXER, "config", {"type": "Any"})),
    ("ARGUMENT_ADDED", "calls", f"{DECODER}.Mixer.__call__(cache)", append(*CALL, "takes", ["cache", "Any", "None"])),
    ("ARGUMENT_REMOVED", "calls", f"{DECODER}.Mixer.__call__(segments)", drop(*CALL, "takes", 2)),
    ("ARGUMENT_TYPE", "calls", f"{DECODER}.Mixer.__call__(x)", put(*CALL, "takes", 0, 1, "Any")),
    ("ARGUMENT_DEFAULT", "calls", f"{DECODER}.Mixer.__call__(segments)", append(*CALL, "takes", 2, "None")),
    (
        "ARGUMENT_ORDER",
        "calls",
        f"{DECODER}.Mixer.__call__",
        lambda data: data[CALL[0]]["protocols"]["Mixer"]["__call__"]["takes"].reverse(),
    ),
    ("RETURN_TYPE", "calls", f"{DECODER}.Mixer.__call__(...)", put(*CALL, "returns", "Any")),
]


@pytest.mark.parametrize(
    ("rule", "breaks", "what", "edit"), EDITS, ids=[f"{rule}-{what}" for rule, _, what, _ in EDITS]
)
def test_a_change_is_one_line_with_its_rule_and_its_class(rule, breaks, what, edit):
    changed = copy.deepcopy(SPECIFICATION)
    edit(changed)
    (change,) = differences(SPECIFICATION, changed)
    assert (change.rule, change.breaks, change.what) == (rule, breaks, what)
    assert change.consequence


def test_every_rule_is_exercised():
    assert {rule for rule, *_ in EDITS} == set(RULES)


def test_equal_specifications_differ_in_nothing():
    assert differences(SPECIFICATION, copy.deepcopy(SPECIFICATION)) == []


@given(st.lists(st.sampled_from([edit for rule, *_, edit in EDITS if not rule.startswith("MODULE")]), max_size=4))
def test_specifications_differ_exactly_if_their_canonical_json_does(edits):
    changed = copy.deepcopy(SPECIFICATION)
    for edit in edits:
        try:
            edit(changed)
        except (KeyError, IndexError):
            continue  # an earlier edit took away what this one is about
    assert bool(differences(SPECIFICATION, changed)) == (canonical_json(SPECIFICATION) != canonical_json(changed))


def test_what_is_added_one_way_is_removed_the_other_way():
    changed = copy.deepcopy(SPECIFICATION)
    put(*TABLE, "bias", "D")(changed)
    assert [change.rule for change in differences(changed, SPECIFICATION)] == ["PARAMETER_REMOVED"]


def test_what_breaks_weights_is_said_before_what_breaks_nothing():
    changed = copy.deepcopy(SPECIFICATION)
    for edit in (append(DECODER, "dims", "Q"), put(*CALL, "returns", "Any"), put(*TABLE, "bias", "D")):
        edit(changed)
    assert [change.breaks for change in differences(SPECIFICATION, changed)] == ["weights", "calls", "nothing"]
    assert set(CLASSES) == {"weights", "calls", "tokens", "data", "nothing"}


def test_a_change_says_what_was_and_what_is():
    changed = copy.deepcopy(SPECIFICATION)
    put(*TABLE, "blocks.*.mixer.query.kernel", "D 2*H*K")(changed)
    (change,) = differences(SPECIFICATION, changed)
    assert (change.old, change.new) == ("D H*K", "D 2*H*K")


@pytest.mark.parametrize("data", [{}, [], "text", {DECODER: {"dims": []}}, {**SPECIFICATION, "more": 1}])
def test_a_specification_of_another_form_is_refused(data):
    with pytest.raises(InputError, match=r"specification: expected modules .* at old\.json"):
        checked_specification(data, "old.json")
    assert checked_specification(SPECIFICATION, "") is SPECIFICATION
