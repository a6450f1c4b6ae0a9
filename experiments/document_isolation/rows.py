"""Every number of the run as a row."""

from contracts.results import Factor, Row
from experiments.ablation.statistics import LEVEL, seeds_to_equivalence, visible_difference
from experiments.document_isolation.arms import ALONE, CROSS, OWN
from experiments.document_isolation.compare import Results
from experiments.document_isolation.pairs import uniform_cuts
from experiments.document_isolation.question import MARGIN


def rows(results: Results) -> list[Row]:
    """Leakage, pairs, what was trained, what the decoders are worth, differences, and loss by position."""
    return [
        *_power(results),
        *_leaks(results),
        *_pairs(results),
        *_worths(results),
        *_differences(results),
        *_positions(results),
    ]


def _power(results: Results) -> list[Row]:
    arguments = results.prepared.arguments
    seen = visible_difference(arguments.seeds, arguments.assumed_spread)
    equal = seeds_to_equivalence(MARGIN, arguments.assumed_spread)
    factors: dict[str, Factor] = {"seeds": arguments.seeds, "assumed_spread": arguments.assumed_spread, "level": LEVEL}
    return [
        Row("visible_difference", seen, "bits/byte", "exact", "formula", factors),
        Row("seeds_to_equivalence", equal, "seeds", "exact", "formula", {**factors, "margin": MARGIN}),
        Row("margin", MARGIN, "bits/byte", "exact", "formula", {}),
    ]


def _leaks(results: Results) -> list[Row]:
    found = []
    for leak in results.leaks:
        factors: dict[str, Factor] = {"policy": leak.policy, "seeds": results.prepared.arguments.seeds}
        for quantity, value in (("leakage_logits", leak.logits), ("leakage_gradient", leak.gradient)):
            if leak.isolates:
                found.append(Row(quantity, value, "1", "exact", "count", factors))
            else:
                found.append(Row(quantity, value, "1", "timed", "count", factors, n=leak.positions, tolerance=1.0))
    return found


def _pairs(results: Results) -> list[Row]:
    found = []
    for arm, pairs in {**results.pairs, "windows over the stream": results.windows}.items():
        counts = {
            "rows": pairs.rows,
            "positions": pairs.rows * pairs.length,
            "filled_positions": int(pairs.filled.sum()),
            "executed_pairs": pairs.executed,
            "causal_pairs": pairs.causal,
            "pairs_within_documents": pairs.useful,
        }
        found += [
            Row(name, value, name.split("_")[-1], "exact", "count", {"isolation": arm})
            for name, value in counts.items()
        ]
        for k, (number, share) in pairs.per_document_count.items():
            factors: dict[str, Factor] = {"isolation": arm, "documents": k}
            found += [
                Row("rows_with_documents", number, "rows", "exact", "count", factors),
                Row("share_within_documents", share, "share of pairs", "exact", "count", factors),
                Row("share_within_documents", uniform_cuts(k), "share of pairs", "exact", "formula", factors),
            ]
    return found


def _worths(results: Results) -> list[Row]:
    found = []
    for arm, outcomes in results.outcomes.items():
        cell = results.prepared.by_arm[arm][0]
        factors: dict[str, Factor] = {"isolation": arm}
        found += [
            Row("parameters", cell.parameters, "parameters", "exact", "formula", factors),
            Row("unique_bytes", cell.material.train.counts.bytes, "bytes", "exact", "count", factors),
            Row("steps", cell.config.steps, "steps", "exact", "count", factors),
            Row("training_flops", cell.flops, "FLOPs", "exact", "formula", factors),
        ]
        for index, seed in enumerate(results.prepared.ablation.seeds):
            read: dict[str, Factor] = {**factors, "seed": seed}
            total = outcomes[index].reached("text_bytes")
            found += [
                Row("text_bytes_read", total, "bytes", "exact", "count", read),
                Row("epochs", total / cell.material.train.counts.bytes, "epochs", "exact", "count", read),
            ]
            for context in (ALONE, OWN):
                for text in results.judged:
                    value = results.values(arm, text, context)[index]
                    found.append(_trained("bpb_total", value, {**read, "text": text, "context": context}))
            for score in outcomes[index].scores:
                if score.context == ALONE:
                    spent: dict[str, Factor] = {"text": score.text, "step": score.step, "text_bytes": score.text_bytes}
                    found.append(_trained("curve_bpb_total", score.bpb_total, {**read, **spent}))
    return found


def _differences(results: Results) -> list[Row]:
    found = []
    for one in results.comparisons:
        of = one.difference
        factors: dict[str, Factor] = {
            "isolation": one.arm,
            "against": "cross",
            "text": one.text,
            "context": one.context,
        }
        judged = {**factors, "verdict": str(one.verdict)}
        found += [
            Row("bpb_difference", of.value, "bits/byte", "estimated", "count", judged, of.low, of.high, of.n),
            _trained("spread_of_differences", of.spread, factors),
        ]
    return found


def _positions(results: Results) -> list[Row]:
    found = []
    for context in (ALONE, OWN):
        for place in results.positions:
            for arm in results.outcomes:
                factors: dict[str, Factor] = {"isolation": arm, "context": context, "position": place}
                for seed, value in zip(
                    results.prepared.ablation.seeds, results.at_position(arm, place, context), strict=True
                ):
                    found.append(_trained("nats_at_position", value, {**factors, "seed": seed}, "nats/token"))
            for arm in results.others:
                of = results.position_difference(arm, place, context)
                factors = {"isolation": arm, "against": CROSS, "context": context, "position": place}
                found.append(
                    Row("nats_difference", of.value, "nats/token", "estimated", "count", factors, of.low, of.high, of.n)
                )
    return found


def _trained(quantity: str, value: float, factors: dict[str, Factor], unit: str = "bits/byte") -> Row:
    """What a training came to: the same on the same machine, and to rounding on another."""
    return Row(quantity, value, unit, "timed", "count", factors, n=1, tolerance=0.02)
