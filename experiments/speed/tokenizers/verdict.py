"""The answer in sentences; every goal that was missed is named."""

from collections import defaultdict

from experiments.speed.tokenizers.findings import Findings, Judgement
from experiments.speed.tokenizers.paper import CORES, most_machines
from experiments.speed.tokenizers.question import LEAST_BYTES
from experiments.speed.tokenizers.tables import spread


def verdict(found: Findings) -> str:
    """How many goals are met, then every one that is not."""
    judgements = found.judgements()
    missed = [each for each in judgements if each.judged == "missed"]
    summary = f"{len(judgements) - len(missed)} of {len(judgements)} goals met."
    if any(job.size < LEAST_BYTES for job in found.jobs):
        summary += f" Texts below {LEAST_BYTES / 1e6:g} MB are not judged."
    if found.absent:
        summary += f" Absent: {', '.join(found.absent)}."
    if not missed:
        return summary
    return f"{summary} Missed: {'; '.join(map(_miss, missed))}."


def _miss(each: Judgement) -> str:
    where = ", ".join(part for part in (each.what, each.corpus, each.setting) if part)
    against = f" against {each.against}" if each.against else ""
    return f"{where}: {spread(each.measured)} {each.unit}{against} ({each.goal})"


def highlights(found: Findings) -> list[str]:
    """What a reader should take home."""
    lines = [line for task in ("training", "encoding", "decoding") if (line := _range(found, task))]
    first = found.paper[0]
    terabyte = (
        f"A terabyte costs {first.training:,.1f} hours of training and {first.encoding:,.1f} of encoding on one "
        f"machine of {CORES} cores; from {most_machines(found.stages):,.0f} machines on, training waits for the one "
        "that adds up the counts of all, and encoding goes on to gain."
    )
    return [*lines, terabyte]


def _range(found: Findings, task: str) -> str:
    """From the smallest to the largest ratio against each peer, over corpora and settings."""
    ratios: dict[str, list[float]] = defaultdict(list)
    for job in found.of(task):
        for name in job.seconds:
            if name != "bytebound":
                ratios[name].append(job.ratio(name).value)
    each = ", ".join(f"{name} {min(values):.1f} to {max(values):.1f}" for name, values in ratios.items())
    return f"{task.capitalize()}, times as fast as its peers over all corpora and settings: {each}." if each else ""
