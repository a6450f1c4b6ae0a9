"""The findings as tables: what a contract costs at each moment, and what a check of values costs."""

from collections.abc import Mapping

from experiments.contract_cost.clock import Samples, Spread, spread
from experiments.contract_cost.findings import COMPARED, Findings
from experiments.contract_cost.question import DECORATION_US, IMPORT_MS
from experiments.tables import Table

NAMES = {"none": "no contract", "off": "CONTRACTS=off", "stock": "jaxtyping + beartype", "ours": "ours"}


def tables(found: Findings) -> list[Table]:
    """All of them, the aims first."""
    return [_aims(found), _calls(found), _decorations(found), _programs(found), _values(found)]


def interval(found: Spread, digits: int = 1) -> str:
    """`34.1 [33.0, 36.9]`."""
    return f"{found.median:,.{digits}f} [{found.low:,.{digits}f}, {found.high:,.{digits}f}]"


def _aims(found: Findings) -> Table:
    aims = found.aims()
    measured = {
        "decoration": (f"{interval(found.decoration)} us", f"{DECORATION_US:.0f} us"),
        "import": (f"{interval(found.import_overhead)} ms", f"{IMPORT_MS:.0f} ms"),
        **{f"eager call, {form}": (interval(found.ratio(found.calls[form]), 2), "1 x stock") for form in COMPARED},
    }
    return Table(
        "Aims",
        ("what", "measured", "aim", "verdict"),
        tuple((name, *measured[name], verdict) for name, verdict in aims.items()),
        "Medians with the 10th and 90th percentile. Import is what the whole package takes longer with contracts on: "
        f"{found.functions} functions are under contract.",
    )


def _calls(found: Findings) -> Table:
    rows = [
        (form, *(interval(spread(samples[name]).times(1e6)) for name in NAMES), interval(found.ratio(samples), 2))
        for form, samples in found.calls.items()
    ]
    return Table(
        "An eager call, in microseconds",
        ("signature", *NAMES.values(), "ours / stock"),
        tuple(rows),
        "Of functions that do nothing. Under jax.jit this is paid once, while tracing. Of the 48 arrays in 12 layers' "
        "caches the stock tools look at none, ours at all.",
    )


def _decorations(found: Findings) -> Table:
    return Table(
        "Decorating a function, in microseconds",
        ("signature", "ours", "ours, with the first call", "jaxtyping + beartype", "the same, with the first call"),
        tuple(
            (
                form,
                *(
                    interval(spread(samples[name]).times(1e6))
                    for name in ("ours", "ours, first call", "stock", "stock, first call")
                ),
            )
            for form, samples in found.decorations.items()
        ),
        "At decoration ours refuses what it could not check; everything else it puts off to the first call.",
    )


def _programs(found: Findings) -> Table:
    lines = {what: programs["ours"].lines for what, programs in found.programs.items()}
    groups: Mapping[str, Samples] = {
        "import of the whole package (stock: research.model alone)": {
            "off": found.imports["off"],
            "stock": found.imports["stock"],
            "ours": found.imports["on"],
        },
        f"trace and lower, {found.layers} layers": found.lowering,
        "compiled training step": found.steps,
    }
    rows = [
        (
            what,
            *(interval(spread(samples[name]).times(1e3)) for name in ("off", "stock", "ours")),
            interval(spread(samples["ours"] / samples["off"]), 3),
        )
        for what, samples in groups.items()
    ]
    flags = found.steps["flags"]
    rows.append(
        ("the step with flags of values", "", "", interval(spread(flags).times(1e3)), interval(_over_off(found), 3))
    )
    return Table(
        "Programs, in milliseconds",
        ("what", "CONTRACTS=off", "jaxtyping + beartype", "ours", "ours / off"),
        tuple(rows),
        f"The lowered texts, {lines['decoder']:,} lines of the decoder and {lines['training step']:,} of the step, are "
        "the same byte for byte under all three: what differs in the step is the noise of the clock. Flags (loss and "
        "parameters finite, tokens in range) change the program, for they are computed in it.",
    )


def _over_off(found: Findings) -> Spread:
    return spread(found.steps["flags"] / found.steps["off"])


def _values(found: Findings) -> Table:
    return Table(
        "Checks of values on the host, in microseconds",
        ("what", "time"),
        tuple((what, interval(spread(seconds).times(1e6))) for what, seconds in found.values.items()),
        "They cannot be switched off.",
    )
