"""Every number of the run as a row."""

from contracts.results import Factor, Row
from experiments.ablation.statistics import LEVEL, seeds_to_equivalence, visible_difference
from experiments.bits_per_byte.arms import EQUAL_BYTES, EQUAL_TOKENS
from experiments.bits_per_byte.compare import Comparison, Incomparable, Results
from experiments.bits_per_byte.question import MARGIN

_UNIT = "bits/byte"


def rows(results: Results) -> list[Row]:
    """What was trained, what every decoder is worth, the baselines, the comparisons and the curves."""
    return [
        *_power(results),
        *_arms(results),
        *_worths(results),
        *_curves(results),
        *_baselines(results),
        *(row for comparison in results.comparisons for row in _comparison(comparison)),
        *map(_incomparable, results.incomparable),
    ]


def _power(results: Results) -> list[Row]:
    arguments = results.prepared.arguments
    seen = visible_difference(arguments.seeds, arguments.assumed_spread)
    equal = seeds_to_equivalence(MARGIN, arguments.assumed_spread)
    factors: dict[str, Factor] = {"seeds": arguments.seeds, "assumed_spread": arguments.assumed_spread, "level": LEVEL}
    return [
        Row("visible_difference", seen, _UNIT, "exact", "formula", factors),
        Row("seeds_to_equivalence", equal, "seeds", "exact", "formula", {**factors, "margin": MARGIN}),
        Row("margin", MARGIN, _UNIT, "exact", "formula", {}),
        Row("text_bytes", results.text_bytes, "bytes", "exact", "count", {"compared": "at equal bytes"}),
    ]


def _arms(results: Results) -> list[Row]:
    found = []
    for arm, cells in results.prepared.by_arm.items():
        cell, factors = cells[0], _factors(results, arm)
        stream = cell.material.train
        found += [
            Row("parameters", cell.parameters, "parameters", "exact", "formula", factors),
            Row("training_flops", cell.flops, "FLOPs", "exact", "formula", factors),
            Row("unique_bytes", stream.counts.bytes, "bytes", "exact", "count", factors),
            Row("steps", cell.config.steps, "steps", "exact", "count", factors),
            Row("row_length", cell.config.length, "tokens", "exact", "count", factors),
            Row("bytes_per_token", stream.counts.bytes / len(stream.tokens), "bytes/token", "exact", "count", factors),
        ]
        for seed, outcome in zip(results.prepared.ablation.seeds, results.outcomes[arm], strict=True):
            read = outcome.reached("text_bytes")
            of_seed = {**factors, "seed": seed}
            found += [
                Row("text_bytes_read", read, "bytes", "exact", "count", of_seed),
                Row("epochs", read / stream.counts.bytes, "epochs", "exact", "count", of_seed),
            ]
    return found


def _worths(results: Results) -> list[Row]:
    found = []
    for arm in results.outcomes:
        for text in results.judged:
            for context in (EQUAL_BYTES, EQUAL_TOKENS):
                for quantity, protocol in (("bpb_total", True), ("bpb_text", False)):
                    values = results.values(arm, text, context, protocol)
                    factors = {**_factors(results, arm), "text": text, "context": context}
                    found += [
                        _trained(quantity, value, {**factors, "seed": seed})
                        for seed, value in zip(results.prepared.ablation.seeds, values, strict=True)
                    ]
    return found


def _curves(results: Results) -> list[Row]:
    """bpb_total of all texts together after the same steps of every arm, seed by seed."""
    found = []
    for arm, outcomes in results.outcomes.items():
        for seed, outcome in zip(results.prepared.ablation.seeds, outcomes, strict=True):
            for score in outcome.scores:
                if score.context == EQUAL_BYTES:
                    factors = {**_factors(results, arm), "text": score.text, "context": score.context, "seed": seed}
                    spent = {"step": score.step, "text_bytes": score.text_bytes, "training_flops": score.flops}
                    found.append(_trained("curve_bpb_total", score.bpb_total, {**factors, **spent}))
    return found


def _baselines(results: Results) -> list[Row]:
    return [
        Row("baseline_bpb", value, _UNIT, "exact", "count", {"baseline": baseline, "text": text})
        for (baseline, text), value in results.baselines.items()
    ]


def _comparison(one: Comparison) -> list[Row]:
    factors: dict[str, Factor] = {
        "arm": one.arm,
        "against": one.against,
        "factor": one.factor,
        "equal": one.held,
        "text": one.text,
    }
    verdict = {**factors, "at": one.at, "verdict": str(one.verdict)}
    of = one.difference
    return [
        Row("bpb_difference", of.value, _UNIT, "estimated", "count", verdict, of.low, of.high, of.n),
        _trained("spread_of_differences", of.spread, factors),
    ]


def _incomparable(one: Incomparable) -> Row:
    factors: dict[str, Factor] = {"arm": one.arm, "against": one.against, "equal": one.held, "verdict": str(one)}
    return Row("not_comparable", one.at, "FLOPs", "exact", "count", factors)


def _trained(quantity: str, value: float, factors: dict[str, Factor]) -> Row:
    """What a training came to: the same on the same machine, and to rounding on another."""
    return Row(quantity, value, _UNIT, "timed", "count", factors, n=1, tolerance=0.02)


def _factors(results: Results, arm: tuple[str, ...]) -> dict[str, Factor]:
    return dict(results.prepared.ablation.levels(arm))
