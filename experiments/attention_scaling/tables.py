"""The findings as tables, for the terminal and for `table.md`."""

from experiments.attention_scaling.curves import Estimate
from experiments.attention_scaling.findings import LARGE, Findings
from experiments.attention_scaling.texts import CONTENTS, TextCost
from experiments.tables import Table, number, si

#: What the parts are called where people read.
TITLES = {
    "core": "attention core",
    "core matmuls": "core without mask and softmax",
    "core in blocks": "core in blocks of queries",
    "attention": "attention with projections",
    "rest": "rest of a layer",
    "decoder": "whole decoder",
}


def tables(found: Findings) -> list[Table]:
    """From cost by length to cost by language."""
    return [_lengths(found), _crossings(found), _exponents(found), _causes(found), _texts(found), _decoders(found)]


def _lengths(found: Findings) -> Table:
    growth, ratio, gain = found.growth, found.timings.ratio("core", "rest"), found.gain_of_blocks
    rows = tuple(
        (
            f"{length:,}",
            si(growth["core"].flops[i]),
            si(growth["rest"].flops[i]),
            number(growth["core"].flops[i] / growth["rest"].flops[i]),
            _milliseconds(growth["core"].seconds[i]),
            _milliseconds(growth["rest"].seconds[i]),
            interval(ratio[i]),
            number(growth["core in blocks"].flops[i] / growth["core"].flops[i]),
            interval(gain[i], 1),
            si(growth["decoder"].flops[i]),
            _milliseconds(growth["decoder"].seconds[i]),
        )
        for i, length in enumerate(found.lengths)
    )
    return Table(
        "The attention core against the rest of a layer",
        (
            "T",
            "core FLOPs",
            "rest FLOPs",
            "core/rest, FLOPs",
            "core ms",
            "rest ms",
            "core/rest, time",
            "pairs in blocks/all",
            "core/core in blocks, time",
            "decoder FLOPs",
            "decoder ms",
        ),
        rows,
        "Core: scores, mask, softmax, weighted sum over all pairs, which is also what the decoder here was given; in "
        "blocks, each block of queries reads only the keys up to its own end. Rest: projections, feed forward, norms, "
        f"rotation. FLOPs are equal by formula and by trace. Times are medians of {found.timings.repeats} interleaved "
        "repeats; intervals are 95 %, from resampling the repeats.",
    )


def _crossings(found: Findings) -> Table:
    seen = found.clock_crossing
    clock = "not seen" if seen.seen is None else interval(seen.seen, 0)
    clock += " (extrapolated)" if seen.seen is not None and seen.extrapolated else ""
    rows = tuple(
        (
            crossing.shape,
            number(crossing.full, 0),
            "" if crossing.traced is None else number(crossing.traced),
            number(crossing.causal, 0),
            clock if i == 0 else "",
        )
        for i, crossing in enumerate(found.crossings)
    )
    return Table(
        "Length at which the core costs as much as the rest of a layer",
        ("decoder", "all pairs, formula", "all pairs, trace", "causal pairs, formula", "clock"),
        rows,
        "All pairs is what a dense program computes before it masks, causal pairs what it would compute without "
        "waste. The trace gives the first whole length at or above the formula's. The textbook has an MLP of two "
        "matrices and F = 4 D: 6 D and 12 D - 1.",
    )


def _exponents(found: Findings) -> Table:
    parts = [found.growth[name] for name in ("core", "attention", "rest", "decoder")]
    spans = zip(found.lengths, found.lengths[1:], strict=False)
    rows = [
        (
            f"{start:,} to {end:,}",
            *(f"{interval(part.local[i])} / {part.predicted_local[i]:.2f}" for part in parts),
        )
        for i, (start, end) in enumerate(spans)
    ]
    rows.append(("all, fitted", *(f"{interval(part.fitted)} / {part.predicted:.2f}" for part in parts)))
    rows.append(("judgement", *(part.judgement for part in parts)))
    return Table(
        "Exponents, d log / d log T: of time with its 95 % interval / of FLOPs",
        ("T", *(TITLES[part.part] for part in parts)),
        tuple(rows),
    )


def _causes(found: Findings) -> Table:
    growth = found.growth
    fresh, systems = found.timings.fresh_bytes("core"), [found.timings.system_share(name) for name in ("core", "rest")]
    softmax = found.softmax_shares
    rows = tuple(
        (
            f"{length:,}",
            si(growth["core"].rates[i]),
            si(growth["core matmuls"].rates[i]),
            si(growth["rest"].rates[i]),
            share(softmax[i]),
            si(found.score_bytes(i), "B"),
            si(fresh[i].value, "B"),
            *(share(system[i]) for system in systems),
        )
        for i, length in enumerate(found.lengths)
    )
    return Table(
        "Why time is not FLOPs",
        (
            "T",
            "core FLOP/s",
            "without mask and softmax",
            "rest FLOP/s",
            "mask and softmax, of core's time",
            "one array of scores",
            "new memory a call",
            "core's time in the system",
            "rest's time in the system",
        ),
        rows,
        "New memory is what the operating system hands out, page by page, during a call of the core (page faults); a "
        "program that reuses its memory asks for none. Time in the system is a share of processor time, coarse where a "
        "call is short.",
    )


def _texts(found: Findings) -> Table:
    names = list(found.units.tokenizers)
    against = [column for name in names for column in (f"bytes/token, {name}", f"attention, bytes/{name}")]
    rows = []
    for text in found.texts:
        tokens = [(number(text.bytes_per(n)), _times(text.attention_ratio(n))) for n in text.held_out_tokens]
        cells = [cell for pair in tokens for cell in pair] or [""] * len(against)
        rows.append(
            (_title(text), number(text.bytes_per_character), _times(text.attention_ratio("characters")), *cells)
        )
    return Table(
        "The same text in other units: how often more query-key pairs bytes need",
        ("text", "bytes/character", "attention, bytes/characters", *against),
        tuple(rows),
        f"A ratio of attention is the square of a ratio of lengths. {found.units.bpe} learned from one half of every "
        "text (every second document or line) and counts the other."
        + "".join(f" {sentence}." for sentence in found.decisions),
    )


def _decoders(found: Findings) -> Table:
    units, shape = ("characters", found.units.bpe), found.decoders[LARGE]
    rows = tuple(
        (
            _title(text),
            *(_times(text.decoder_ratio(unit, size, shape, found.units)) for unit in units for size in CONTENTS),
        )
        for text in found.texts
        if not text.is_constructed
    )
    return Table(
        f"The same text through a whole decoder ({LARGE}): FLOPs as bytes over FLOPs in other units",
        ("text", *(f"over {unit}, {size:,} characters" for unit in units for size in CONTENTS)),
        rows,
        "Short texts cost by the first power of the length, long ones by its square. The vocabulary is the unit's own; "
        "characters are given as few ids as bytes, so that only the length differs.",
    )


def _title(text: TextCost) -> str:
    return f"{text.name} ({text.group})"


def interval(seen: Estimate, digits: int = 2) -> str:
    """A value and its bounds: `2.04 [1.99, 2.14]`."""
    return f"{number(seen.value, digits)} [{number(seen.low, digits)}, {number(seen.high, digits)}]"


def share(seen: Estimate) -> str:
    """The same in per cent."""
    return f"{seen.value:.0%} [{seen.low:.0%}, {seen.high:.0%}]"


def _milliseconds(seconds: float) -> str:
    return number(seconds * 1e3, digits=0 if seconds >= 0.1 else 2)


def _times(ratio: float) -> str:
    return f"{ratio:.2f}x"
