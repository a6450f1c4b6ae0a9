"""The run: pack and count, train what is missing, ask for leakage, compare, and judge by the rule that stood before."""

from functools import partial

from experiments.document_isolation.question import DocumentIsolation
from experiments.finding import Finding


def measure(arguments: DocumentIsolation) -> Finding:
    """Rows, tables, figure and verdict for `arguments`.

    Raises:
        InputError: the corpus can't be read or has too few documents, rows hold too few, or a training fails.
        AssertionError: a policy that should isolate does not, or `cross` does.
    """
    # JAX and the model are imported here, for --help has no use for them
    from experiments.ablation.run import run_cells
    from experiments.document_isolation.arms import CROSS, ONLY_POSITIONS, prepare
    from experiments.document_isolation.compare import Results
    from experiments.document_isolation.figure import draw
    from experiments.document_isolation.pairs import count_pairs
    from experiments.document_isolation.rows import rows
    from experiments.document_isolation.tables import tables
    from experiments.document_isolation.verdict import highlights, verdict

    prepared = prepare(arguments)
    pairs = {arm: count_pairs(prepared.rows(arm)) for arm in prepared.by_arm}
    outcomes = run_cells(prepared.cells, arguments.cache, processes=arguments.processes)
    n = arguments.seeds
    by_arm = {arm: tuple(outcomes[i * n : (i + 1) * n]) for i, arm in enumerate(prepared.by_arm)}
    results = Results(prepared, by_arm, pairs, count_pairs(prepared.windows))
    for leak in results.leaks:
        if leak.isolates == (leak.policy in (CROSS, ONLY_POSITIONS)):
            raise AssertionError(f"leakage under {leak.policy}: logits {leak.logits:g}, gradient {leak.gradient:g}")
    return Finding(
        rows=rows(results),
        verdict=verdict(results),
        highlights=highlights(results),
        tables=tables(results),
        draw=[partial(draw, found=results)],
        corpora=prepared.texts.corpora(),
    )
