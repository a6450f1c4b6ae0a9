"""The run: plant every fault, hand over every wrong thing, and judge by the rule that stood before."""

from functools import partial

from experiments.contract_faults.question import ContractFaults
from experiments.finding import Finding


def measure(arguments: ContractFaults) -> Finding:
    """Rows, tables, figure and verdict.

    Raises:
        InputError: contracts are switched off.
        AssertionError: ours refuses a mutant that changes nothing.
    """
    # JAX and the model are imported here, for --help has no use for them
    from experiments.contract_faults import ladder
    from experiments.contract_faults.figure import draw
    from experiments.contract_faults.runs import try_all
    from experiments.contract_faults.tables import tables, write_survivors
    from experiments.contract_faults.verdict import highlights, verdict

    trials, tried = try_all(arguments.every, arguments.workers)
    refused = ladder.false_alarms(trials)
    if refused:
        raise AssertionError("refused though nothing changed: " + "; ".join(refused))
    found, alarms = ladder.faults(trials, tried), ladder.alarms(trials)
    return Finding(
        rows=[*ladder.fault_rows(found), *ladder.alarm_rows(alarms), *ladder.mutant_rows(trials, tried)],
        verdict=verdict(found, alarms),
        highlights=highlights(found, trials),
        tables=tables(found, alarms, trials, tried),
        draw=[partial(draw, found=found), partial(write_survivors, trials=trials, tried=tried)],
    )
