"""The run: lay out the cells, train those that are missing, compare, and judge by the rule that stood before."""

from functools import partial

from experiments.bits_per_byte.question import BitsPerByte
from experiments.finding import Finding


def measure(arguments: BitsPerByte) -> Finding:
    """Rows, tables, figure and verdict for `arguments`.

    Raises:
        InputError: the corpus can't be read or has too few documents, or a training fails.
    """
    # JAX and the model are imported here, for --help has no use for them
    from experiments.ablation.run import run_cells
    from experiments.bits_per_byte.arms import prepare
    from experiments.bits_per_byte.compare import Results, baselines
    from experiments.bits_per_byte.figure import draw
    from experiments.bits_per_byte.rows import rows
    from experiments.bits_per_byte.tables import tables
    from experiments.bits_per_byte.verdict import highlights, verdict

    prepared = prepare(arguments)
    found = baselines(prepared)
    outcomes = run_cells(prepared.cells, arguments.cache, processes=arguments.processes)
    n = len(prepared.ablation.seeds)
    by_arm = {arm: tuple(outcomes[i * n : (i + 1) * n]) for i, arm in enumerate(prepared.ablation.arms)}
    results = Results(prepared, by_arm, found)
    return Finding(
        rows=rows(results),
        verdict=verdict(results),
        highlights=highlights(results),
        tables=tables(results),
        draw=[partial(draw, found=results)],
        corpora=prepared.texts.corpora(),
    )
