"""The figure: leakage, pairs within documents, loss by position, and the differences that the rule is about."""

from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from experiments.document_isolation.arms import ALONE, CROSS
from experiments.document_isolation.compare import ALL, LEAST_TOKENS, Results
from experiments.document_isolation.pairs import uniform_cuts
from experiments.document_isolation.question import MARGIN
from experiments.figures import COLOURS, MARKERS, panels, save, say

_SMALL = 8.5
#: Where a logarithmic axis shows what is exactly zero.
_ZERO = 1e-9


def draw(folder: Path, found: Results) -> list[str]:
    """Write `figure.png` and `figure.svg` into `folder`."""
    with panels(2, 2, width=5.6, height=4.0) as (figure, axes):
        _leaks(axes[0], found)
        _pairs(axes[1], found)
        _positions(axes[2], found)
        _differences(axes[3], found)
        return save(figure, folder)


def _leaks(axes: Any, found: Results) -> None:
    say(axes, "What reaches another document", "Largest change of a logit, in trained decoders. 0: not one bit.")
    names = [_label(leak.policy) for leak in found.leaks]
    for place, leak in enumerate(found.leaks):
        colour = COLOURS[2] if leak.isolates else COLOURS[1]
        axes.barh(place, max(leak.logits, 2 * _ZERO), color=colour, left=0)
        text = "0" if leak.isolates else f"{leak.logits:.2g}"
        axes.annotate(
            text, (max(leak.logits, 2 * _ZERO), place), xytext=(4, 0), textcoords="offset points", va="center"
        )
    axes.set_yticks(range(len(names)), names, fontsize=_SMALL)
    axes.invert_yaxis()
    axes.set(xscale="log", xlim=(_ZERO, 1e3), xlabel="change of a logit (zero stands at the left edge)")


def _pairs(axes: Any, found: Results) -> None:
    say(axes, "Pairs within documents", "Of all causal pairs of a row. Larger points stand for more rows.")
    ks: list[int] = []
    for name, pairs, colour, marker in (
        ("packed by best fit", found.pairs[CROSS], COLOURS[0], "o"),
        ("windows over the stream", found.windows, COLOURS[3], "s"),
    ):
        counted = pairs.per_document_count
        sizes = [15 + 120 * rows / pairs.rows for rows, _ in counted.values()]
        shares = [100 * share for _, share in counted.values()]
        face = colour if marker == "o" else "none"  # so that points that fall together are both seen
        axes.scatter(
            list(counted), shares, s=sizes, edgecolors=colour, facecolors=face, marker=marker, label=name, zorder=3
        )
        ks += counted
    line = np.linspace(max(1, min(ks) - 0.5), max(ks) + 0.5, 100)
    axes.plot(
        line, 100 * np.array([uniform_cuts(k) for k in line]), color=COLOURS[1], label="2 / (k + 1), cut anywhere"
    )
    axes.plot(line, 100 / line, "--", color=COLOURS[2], label="1 / k, equal lengths")
    axes.set(xlabel="documents of a row (k)", ylabel="per cent of causal pairs", ylim=(0, None))
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(fontsize=_SMALL)


def _positions(axes: Any, found: Results) -> None:
    say(axes, "Behind the boundary", "Documents read alone, against cross. Bars: 95 % intervals.")
    if not found.positions:
        text = f"fewer than {LEAST_TOKENS} held-out documents"
        axes.annotate(text, (0.5, 0.5), xycoords="axes fraction", ha="center")
        return
    places = np.arange(len(found.positions))
    for index, (arm, colour, marker) in enumerate(zip(found.others, COLOURS, MARKERS, strict=False)):
        differences = [found.position_difference(arm, place, ALONE) for place in found.positions]
        values = np.array([of.value for of in differences])
        ends = np.array([(of.low, of.high) for of in differences]).T
        axes.errorbar(
            places + 0.15 * (index - 1),
            values,
            yerr=np.abs(ends - values),
            fmt=marker,
            color=colour,
            capsize=2,
            label=arm,
        )
    axes.axhline(0, color="#666666", linewidth=1)
    axes.set_xticks(places, [str(place) for place in found.positions])
    axes.set(xlabel="text tokens since the boundary", ylabel="nats a token, minus cross")
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.3 * (high - low))
    axes.legend(fontsize=_SMALL, loc="upper right")


def _differences(axes: Any, found: Results) -> None:
    say(axes, "Documents read alone, against cross", "95 % intervals and seeds; grey: margin. Left is better.")
    judged = [found.judgement(arm) for arm in found.others]
    axes.axvspan(-MARGIN, MARGIN, color="#999999", alpha=0.25, linewidth=0)
    axes.axvline(0, color="#666666", linewidth=1)
    for place, (one, colour) in enumerate(zip(judged, COLOURS, strict=False)):
        of = one.difference
        axes.errorbar(
            of.value, place, xerr=[[of.value - of.low], [of.high - of.value]], fmt="o", color=colour, capsize=3
        )
        axes.annotate(
            one.verdict.brief,
            (of.value, place),
            xytext=(0, 9),
            textcoords="offset points",
            ha="center",
            fontsize=_SMALL,
        )
        pairs = np.subtract(found.values(one.arm, ALL), found.values(CROSS, ALL))
        axes.plot(pairs, np.full(len(pairs), place + 0.18), "|", color=colour, markersize=7)
    axes.set_yticks(range(len(judged)), [_label(one.arm) for one in judged], fontsize=_SMALL)
    axes.set_ylim(len(judged) - 0.5, -0.6)
    axes.set(xlabel=f"bits a byte, minus cross ({fmean(found.values(CROSS, ALL)):.3f})")


def _label(policy: str) -> str:
    return policy.replace(", ", ",\n")
