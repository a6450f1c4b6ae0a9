"""The figure: the curves over bytes and over FLOPs, the differences with what is held equal, each text's baselines."""

from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from experiments.ablation.outcome import Axis
from experiments.bits_per_byte.arms import BASE, BYTES, EQUAL_BYTES, WIDE
from experiments.bits_per_byte.compare import ALL, BASELINES, Results
from experiments.bits_per_byte.question import MARGIN
from experiments.figures import COLOURS, MARKERS, panels, save, say

_SMALL = 8.5
_STYLES = ("--", ":", "-.")


def draw(folder: Path, found: Results) -> list[str]:
    """Write `figure.png` and `figure.svg` into `folder`."""
    with panels(2, 2, width=5.6, height=4.1) as (figure, axes):
        _curves(axes[0], found, "text_bytes", "Equal bytes read", "bytes of text read")
        _curves(axes[1], found, "flops", "Equal training FLOPs", "training FLOPs")
        _differences(axes[2], found)
        _texts(axes[3], found)
        return save(figure, folder)


def _curves(axes: Any, found: Results, axis: Axis, title: str, label: str) -> None:
    say(axes, title, "All texts, one shared boundary. Bands: lowest to highest seed. Lower is better.")
    arms = [(name, "shared", BASE) for name in found.names] + [(BYTES, "shared", WIDE)]
    for arm, colour, marker in zip(arms, COLOURS, MARKERS, strict=False):
        outcomes = found.outcomes[arm]
        points = [
            score for score in outcomes[0].scores if score.context == EQUAL_BYTES and score.text == found.judged[1]
        ]
        xs = [getattr(score, axis) for score in points]
        values = np.array(
            [[one.at(axis, x, EQUAL_BYTES, found.texts(ALL)) for x in _within(one, axis, xs)] for one in outcomes]
        )
        name = arm[0] + (", wide" if arm[2] == WIDE else "")
        axes.plot(xs, values.mean(axis=0), color=colour, marker=marker, markersize=4, label=name)
        axes.fill_between(xs, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.2, linewidth=0)
    axes.set(xscale="log", xlabel=label, ylabel="bits a byte (bpb_total)")
    axes.legend(fontsize=_SMALL)


def _within(outcome: Any, axis: Axis, xs: list[float]) -> list[float]:
    """Seeds read a few bytes more or less by the same step: each curve is read within its own ends."""
    own = [getattr(score, axis) for score in outcome.scores if score.context == EQUAL_BYTES]
    return [min(max(x, min(own)), max(own)) for x in xs]


def _differences(axes: Any, found: Results) -> None:
    say(axes, "Differences, paired by seed", "Bars: 95 % intervals; grey: the margin. Left of 0 the first is better.")
    judged = [one for one in found.comparisons if one.text == ALL]
    labels = [
        f"{one.arm} / bytes, equal {one.held.removeprefix('training ')}"
        if one.factor == "tokenizer"
        else f"{one.arm.split(',')[0]}, separate / shared"
        for one in judged
    ]
    axes.axvspan(-MARGIN, MARGIN, color="#999999", alpha=0.25, linewidth=0)
    axes.axvline(0, color="#666666", linewidth=1)
    for place, one in enumerate(judged):
        of = one.difference
        colour = COLOURS[0] if one.factor == "tokenizer" else COLOURS[1]
        axes.errorbar(
            of.value, place, xerr=[[of.value - of.low], [of.high - of.value]], fmt="o", color=colour, capsize=3
        )
    axes.set_yticks(range(len(judged)), labels, fontsize=_SMALL)
    axes.invert_yaxis()
    widest = max(abs(one.difference.value) for one in judged)
    axes.set(xlabel="bits a byte", xlim=(-2.2 * max(widest, MARGIN), 2.2 * max(widest, MARGIN)))


def _texts(axes: Any, found: Results) -> None:
    say(axes, "Each text, and what counting knows", "After equal bytes, shared boundary. Lines: xz and a byte 5-gram.")
    texts = list(found.prepared.texts.names)
    arms = [(name, "shared", BASE) for name in found.names]
    width = 0.8 / len(arms)
    for index, (arm, colour) in enumerate(zip(arms, COLOURS, strict=False)):
        values = [fmean(found.final(arm, text)) for text in texts]
        places = np.arange(len(texts)) + (index - (len(arms) - 1) / 2) * width
        axes.bar(places, values, 0.9 * width, color=colour, label=arm[0])
    for baseline, style in zip(BASELINES, _STYLES, strict=True):
        for place, text in enumerate(texts):
            value = found.baselines[baseline, text]
            label = baseline if place == 0 else None
            axes.plot([place - 0.45, place + 0.45], [value, value], style, color="black", linewidth=1.3, label=label)
    axes.set_xticks(range(len(texts)), texts)
    top = axes.get_ylim()[1]
    axes.set(ylabel="bits a byte (bpb_total)", ylim=(0, 1.35 * top))
    axes.legend(fontsize=_SMALL, ncols=2, loc="upper center")
