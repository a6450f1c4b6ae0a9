"""The findings as tables: goals first, then every library's rates, memory, start-up, and a terabyte on paper."""

from collections.abc import Sequence

from experiments.speed.tokenizers.clock import OURS, Job, Ratio
from experiments.speed.tokenizers.findings import Findings
from experiments.speed.tokenizers.paper import CORES, growth
from experiments.speed.tokenizers.peers import PEERS
from experiments.speed.tokenizers.scale import ONE, TWO
from experiments.tables import Table, si


def tables(found: Findings) -> list[Table]:
    """All of them, the goals first."""
    return [
        _goals(found),
        _rates(found, "training", "Training, from the file to merges", "Tie-breaks and stopping differ a little."),
        _rates(found, "encoding", "Encoding to an array, one thread", _ENCODING),
        _rates(found, "decoding", "Decoding to bytes, one thread", "tokenizers decodes to a str: it has no bytes."),
        _scale(found),
        _memory(found),
        _paper(found),
        _equal(found),
        _libraries(found),
    ]


_ENCODING = (
    "All with the same merges. tokenizers is given the first 2 MB, in documents of 64 KB, which is the fastest of its "
    "ways. Cold: a new encoder, which has seen no text, its making not counted; warm: the text was encoded before. "
    "tiktoken and tokenizers keep nothing worth a difference."
)


def spread(found: Ratio, digits: int = 2) -> str:
    """`3.14 [3.01, 3.32]`; a single timing without brackets."""
    if found.n == 1:
        return f"{found.value:,.{digits}f}"
    return f"{found.value:,.{digits}f} [{found.low:,.{digits}f}, {found.high:,.{digits}f}]"


def _goals(found: Findings) -> Table:
    return Table(
        "Goals",
        ("what", "corpus", "setting", "against", "measured", "unit", "goal", "judged"),
        tuple(
            (
                each.what,
                each.corpus,
                each.setting,
                each.against,
                spread(each.measured),
                each.unit,
                str(each.goal),
                each.judged,
            )
            for each in found.judgements()
        ),
        "Medians over the repeats, with the smallest and the largest; ratios are taken within one repeat.",
    )


def _rates(found: Findings, task: str, title: str, note: str) -> Table:
    jobs = found.of(task)
    names = [OURS, *(name for name in PEERS if any(name in job.seconds for job in jobs))]
    return Table(
        f"{title}, MB/s",
        ("corpus", "setting", *names),
        tuple((job.corpus, job.setting, *(_rate(job, name) for name in names)) for job in jobs),
        f"{note} {_reasons(jobs)}",
    )


def _rate(job: Job, name: str) -> str:
    return spread(job.rate(name), 1) if name in job.seconds else "-"


def _reasons(jobs: Sequence[Job]) -> str:
    reasons = {f"{name} {why}" for job in jobs for name, why in job.cannot.items() if why != "not asked"}
    return f"Not there: {'; '.join(sorted(reasons))}." if reasons else ""


def _scale(found: Findings) -> Table:
    threads = [*found.of("training on threads"), *found.of("encoding on threads")]
    rows = [(f"{job.task}, {job.corpus}", spread(job.rate(ONE), 1), spread(job.rate(TWO), 1)) for job in threads]
    rows += [
        (f"{name}, {job.corpus}", spread(job.rate(name), 1), "")
        for job in found.of("time a byte")
        for name in job.seconds
    ]
    return Table("Threads and length, MB/s", ("job", ONE, TWO), tuple(rows), "What two threads make is equal.")


def _memory(found: Findings) -> Table:
    missing = "; ".join(f"{name} {why}" for name, why in found.cannot.items())
    starts = found.starts
    return Table(
        "Memory of training, and start-up",
        ("library", "imports", "above the imports"),
        tuple((name, si(memory.imports, "B"), si(memory.above, "B")) for name, memory in found.memory.items()),
        f"{', '.join(found.memory_of)}: each in a process of its own, from the file. Imports of {OURS} are with all "
        f"kernels loaded. {missing}. Importing research.tokenizers takes {spread(starts.imports)} s"
        f"{' and loads numba' if starts.numba_on_import else ', without numba'}; compiling all kernels, once on a "
        f"machine, {spread(starts.first, 1)} s; loading them in a later process {spread(starts.later)} s.",
    )


def _paper(found: Findings) -> Table:
    last = found.stages[-1]
    return Table(
        "A terabyte on paper, in hours",
        ("machines", "counting", "adding up", "merging", "training", "encoding", "training waits for"),
        tuple(
            (
                f"{each.machines:,}",
                f"{each.counting:,.2f}",
                f"{each.adding:,.2f}",
                f"{each.merging:,.4f}",
                f"{each.training:,.2f}",
                f"{each.encoding:,.2f}",
                each.limit,
            )
            for each in found.paper
        ),
        "Training is the longer of counting and adding up, which go on at the same time, and then merging. "
        f"Machines of {CORES} cores like this one, reading as fast as they count. Measured on {si(last.size, 'B')}: "
        f"counting {last.size / last.counting / 1e6:,.0f} MB/s a core, adding up "
        f"{last.size / last.adding / 1e6:,.0f} MB/s on one core, merging {last.merging:.2f} s for {last.words:,} "
        f"distinct pre-tokens, whose number grows with the power {growth(found.stages):.2f} of the text.",
    )


def _equal(found: Findings) -> Table:
    return Table(
        "Equal, or the run fails",
        ("what", "as made by"),
        tuple((what, ", ".join(peers)) for what, peers in found.agreed),
        "Compared by SHA-256 of all tokens in the order of their ids, or of all ids.",
    )


def _libraries(found: Findings) -> Table:
    return Table(
        "Libraries",
        ("library", "version"),
        tuple((name, version or "absent") for name, version in found.versions.items()),
    )
