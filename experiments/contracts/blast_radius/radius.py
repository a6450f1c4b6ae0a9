"""All consequences of choosing the one or the other, those that break something first."""

from contracts.difference import CLASSES
from experiments.contracts.blast_radius import ids, model, stream
from experiments.contracts.blast_radius.choices import Choice
from experiments.contracts.blast_radius.consequence import Consequence

PARTS = (
    ids.vocabulary,
    ids.text_ids,
    ids.identity,
    model.fields,
    model.parameters,
    model.arrays,
    stream.positions,
    stream.targets,
    ids.ends,
    ids.decoding,
    model.attention,
    model.costs,
)


def blast_radius(old: Choice, new: Choice) -> tuple[list[Consequence], list[Consequence]]:
    """(what changes, what does not)."""
    found = [consequence for part in PARTS for consequence in part(old, new)]
    changed = [each for each in found if each.old != each.new]
    unchanged = [each for each in found if each.old == each.new]
    return sorted(changed, key=lambda each: CLASSES.index(each.breaks)), unchanged
