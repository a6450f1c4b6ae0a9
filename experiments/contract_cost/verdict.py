"""The answer in sentences, judged by the aims that stood before the run."""

from experiments.contract_cost.clock import spread
from experiments.contract_cost.findings import COMPARED, Findings
from experiments.contract_cost.question import DECORATION_US, IMPORT_MS
from experiments.contract_cost.tables import interval


def verdict(found: Findings) -> str:
    """The aims, one by one, then the program."""
    aims = found.aims()
    eager = "; ".join(
        f"{form} {interval(found.ratio(found.calls[form]), 2)} times the stock tools, {aims[f'eager call, {form}']}"
        for form in COMPARED
    )
    return (
        f"Decoration {interval(found.decoration)} us against {DECORATION_US:.0f}: {aims['decoration']}. "
        f"Import {interval(found.import_overhead)} ms against {IMPORT_MS:.0f}: {aims['import']}. "
        f"Eager calls: {eager}. "
        f"The lowered programs, a decoder of {found.layers} layers and a training step, are the same byte for byte "
        "with contracts on and off, and one entry of the compilation cache serves both."
    )


def highlights(found: Findings) -> list[str]:
    """What a reader should take home."""
    return [_programs(found), _decoration(found), _leaves(found), _values(found)]


def _programs(found: Findings) -> str:
    lowering = found.ratio(found.lowering, "ours", "off")
    step = found.ratio(found.steps, "ours", "off")
    return (
        f"Tracing and lowering {found.layers} layers takes {interval(lowering, 2)} times as long with contracts as "
        f"without, a compiled training step {interval(step, 2)} times."
    )


def _decoration(found: Findings) -> str:
    form = COMPARED[0]
    ratio = found.ratio(found.decorations[form], "stock", "ours").median
    return f"To decorate a function of {form}, the stock tools take {ratio:,.0f} times as long as ours."


def _leaves(found: Findings) -> str:
    taken = spread(found.calls["12 layers' caches"]["ours"]).times(1e6)
    return (
        f"Looking at every one of the 48 arrays in 12 layers' caches, on the way in and out, takes {interval(taken)} "
        "us a call; the stock tools look at none of them."
    )


def _values(found: Findings) -> str:
    what, seconds = list(found.values.items())[1]
    flags = found.ratio(found.steps, "flags", "off")
    return (
        f"Checking the {what} takes {interval(spread(seconds).times(1e6))} us on the host; flags of values inside "
        f"the compiled step make it {interval(flags, 2)} times as long."
    )
