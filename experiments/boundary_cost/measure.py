"""The run: count the streams, trace the decoders, add up what follows from both."""

from functools import partial

from contracts.errors import InputError
from experiments.boundary_cost import tables
from experiments.boundary_cost.conclusions import example, highlights, verdict
from experiments.boundary_cost.consequences import bill_rows, bills, shape_rows
from experiments.boundary_cost.figure import draw
from experiments.boundary_cost.parameters import models, parameter_rows
from experiments.boundary_cost.positions import corpora, encode_all, position_rows
from experiments.boundary_cost.question import BoundaryCost
from experiments.boundary_cost.shapes import shapes_named
from experiments.corpora import decisions, slices
from experiments.finding import Finding


def measure(arguments: BoundaryCost) -> Finding:
    """Rows, tables, figure and verdict for `arguments`.

    Raises:
        InputError: no shape was named, or the corpus or a tokenizer can't be read.
    """
    shapes = shapes_named(arguments.shapes)
    if not shapes:
        raise InputError("--shapes", expected="at least one shape", got="none")
    cuts = slices(arguments.corpus, arguments.reading)
    parts = encode_all(cuts, arguments.tokenizers)
    wholes = corpora(parts)
    compared, costs = models(shapes), bills(shapes, wholes)
    return Finding(
        rows=[
            *parameter_rows(compared),
            *(row for part in parts for row in position_rows(part)),
            *(row for shape in shapes for row in shape_rows(shape)),
            *(row for bill in costs for row in bill_rows(bill)),
        ],
        verdict=verdict(compared, parts, costs),
        highlights=highlights(compared, parts, costs),
        tables=[
            tables.policies(example(compared), wholes),
            *(tables.origin(model) for model in compared if model.base.name == "origin" and not model.tied),
            tables.parameters(compared),
            tables.positions(parts, decisions(cuts)),
            tables.consequences(costs),
        ],
        draw=[partial(draw, models=compared, parts=parts, bills=costs)],
        corpora=[cut.corpus() for cut in cuts],
    )
