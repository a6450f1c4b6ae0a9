"""The run: every comparison in turn, and what has to be equal."""

from dataclasses import replace
from functools import partial

from contracts import core
from contracts.errors import InputError
from experiments.contract_cost.question import ContractCost
from experiments.finding import Finding


def measure(arguments: ContractCost) -> Finding:
    """Rows, tables, figure and verdict.

    Raises:
        InputError: contracts are switched off.
        AssertionError: contracts change a program.
    """
    # JAX and the model are imported here, for --help has no use for them
    from experiments.contract_cost import calls, programs
    from experiments.contract_cost.figure import draw
    from experiments.contract_cost.findings import Findings, rows
    from experiments.contract_cost.imports import import_times
    from experiments.contract_cost.tables import tables
    from experiments.contract_cost.values import value_times
    from experiments.contract_cost.verdict import highlights, verdict

    if not core.ENABLED:
        raise InputError("CONTRACTS", expected="on", got="off", hint="with contracts off there is nothing to compare")
    repeats, seed = arguments.repeats, arguments.seed
    config = replace(programs.WIDE, n_layers=arguments.layers)
    imports, functions = import_times(arguments.imports)
    found = Findings(
        calls={form.name: calls.eager_calls(form, repeats, seed) for form in calls.forms()},
        decorations={form.name: calls.decorations(form, repeats, seed) for form in calls.forms()},
        imports=imports,
        functions=functions,
        lowering=programs.lowering_times(config, repeats, seed),
        layers=arguments.layers,
        programs=programs.lowered_programs(config),
        steps=programs.step_times(repeats, seed),
        values=value_times(repeats, seed),
        cache_entries=programs.cache_entries(),
    )
    found.require_equal_programs()
    return Finding(
        rows=rows(found),
        verdict=verdict(found),
        highlights=highlights(found),
        tables=tables(found),
        draw=[partial(draw, found=found)],
    )
