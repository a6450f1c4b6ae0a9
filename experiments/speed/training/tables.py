"""The findings as a table and in sentences."""

from experiments.speed.training.findings import AIMS, Findings, Measured, Spread
from experiments.speed.training.question import NANOGPT, OURS
from experiments.tables import Table, number, percent, si

#: From this share on a step is about as fast as its products alone could be.
_NEAR = 0.9


def tables(found: Findings) -> list[Table]:
    """One table: a line for each candidate at each shape."""
    lines = [_line(one, name) for one in found.measured for name in one.timed]
    versions = f" PyTorch {found.torch}." if found.torch else ""
    return [
        Table(
            "Training steps",
            (
                "shape",
                "candidate",
                "tokens/s",
                "bytebound's, relative",
                "useful FLOPs, of the products' rate",
                "compile s",
                "peak memory",
            ),
            tuple(lines),
            "Medians, with least and most over the rounds. Useful FLOPs count causal pairs once, by formula and equal "
            "for all; the products' rate is that of the decoder's own matrix products alone, by XLA, in the same run. "
            "Memory is of the whole process, imports included: a few hundred megabytes each." + versions,
        )
    ]


def verdict(found: Findings) -> str:
    """Each aim at each size."""
    if not found.peers:
        return "No peer is installed: nothing to compare with."
    return " ".join(
        f"Against {name}, aim {AIMS[name]:g} times: "
        + "; ".join(
            f"{_times(one.speedup(name))} at {one.shape.name} ({one.judgement(name)})" for one in found.measured
        )
        + "."
        for name in found.peers
    )


def highlights(found: Findings) -> list[str]:
    """What to take home."""
    shares = ", ".join(f"{percent(one.share(OURS))} at {one.shape.name}" for one in found.measured)
    lines = [f"Of the rate of its own matrix products the step reaches {shares}."]
    near = [one for one in found.measured if NANOGPT in one.timed and one.share(NANOGPT) >= _NEAR]
    if near:
        names = " and ".join(f"{percent(one.share(NANOGPT))} at {one.shape.name}" for one in near)
        lines.append(
            f"PyTorch's step does its useful FLOPs at {names} of the rate at which XLA does the products alone: what "
            "it is ahead by lies in its matrix products, not in what stands around them."
        )
    if found.absent:
        lines.append(f"Not installed and left out: {', '.join(found.absent)}.")
    return lines


def _line(one: Measured, name: str) -> tuple[str, ...]:
    timed = one.timed[name]
    speed = one.tokens_per_second(name)
    return (
        one.shape.name,
        name,
        f"{number(round(speed.value))} [{number(round(speed.low))}, {number(round(speed.high))}]",
        "" if name == OURS else _times(one.speedup(name)),
        percent(one.share(name)),
        f"{timed.compile_seconds:.1f}",
        si(timed.peak_bytes, "B"),
    )


def _times(ratio: Spread) -> str:
    return f"{ratio.value:.2f}x [{ratio.low:.2f}, {ratio.high:.2f}]"
