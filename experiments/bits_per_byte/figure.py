"""The figure: the curves over bytes and over FLOPs, the differences with what is held equal, each text's baselines."""

import math
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from experiments.ablation.outcome import Axis
from experiments.bits_per_byte.arms import BASE, BYTES, EQUAL_BYTES, WIDE
from experiments.bits_per_byte.compare import ALL, BASELINES, Results
from experiments.bits_per_byte.question import MARGIN
from experiments.figures import COLOURS, MARKERS, panels, save, say
from experiments.tables import si

_SMALL = 8.5
#: Of a logarithmic axis, with numbers that don't touch.
_LEAST_TICKS, _MOST_TICKS = 3, 6
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
    say(axes, title, "All texts, shared boundary. Bands: lowest to highest seed.")
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
    ticks = _round_numbers(*axes.get_xlim())
    axes.set_xticks(ticks, [si(tick) for tick in ticks])
    axes.minorticks_off()
    axes.legend(fontsize=_SMALL)


def _round_numbers(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten that lie between; finer ones where those are fewer, at last the two ends."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for firsts in ((1, 2, 5), range(1, 10), np.arange(10, 100) / 10):
        ticks = [first * 10.0**power for power in powers for first in firsts]
        within = [tick for tick in ticks if low <= tick <= high]
        if len(within) >= _LEAST_TICKS:
            return within[:: math.ceil(len(within) / _MOST_TICKS)]
    return [low, high]


def _within(outcome: Any, axis: Axis, xs: list[float]) -> list[float]:
    """Seeds read a few bytes more or less by the same step: each curve is read within its own ends."""
    own = [getattr(score, axis) for score in outcome.scores if score.context == EQUAL_BYTES]
    return [min(max(x, min(own)), max(own)) for x in xs]


def _differences(axes: Any, found: Results) -> None:
    say(axes, "Differences, paired by seed", "95 % intervals; grey: the margin. Left of 0 is better.")
    judged = [one for one in found.comparisons if one.text == ALL]
    labels = [f"{one.arm}, equal {one.held.split()[-1]}" if one.factor == "tokenizer" else one.arm for one in judged]
    axes.axvspan(-MARGIN, MARGIN, color="#999999", alpha=0.25, linewidth=0)
    axes.axvline(0, color="#666666", linewidth=1)
    named = {"tokenizer": "against bytes", "boundary": "against a shared boundary"}
    for factor, colour in zip(named, COLOURS, strict=False):
        places = [place for place, one in enumerate(judged) if one.factor == factor]
        ofs = [judged[place].difference for place in places]
        values = np.array([of.value for of in ofs])
        ends = np.abs(np.array([(of.low, of.high) for of in ofs]).T - values)
        axes.errorbar(values, places, xerr=ends, fmt="o", color=colour, capsize=3, label=named[factor])
    axes.legend(fontsize=_SMALL, loc="upper right", ncols=2)
    axes.set_yticks(range(len(judged)), labels, fontsize=_SMALL)
    axes.set_ylim(len(judged) - 0.5, -0.5 - 0.15 * len(judged))  # from top to bottom, with room for the legend
    most = 2.2 * max(MARGIN, *(abs(one.difference.value) for one in judged))
    low, high = min(one.difference.low for one in judged), max(one.difference.high for one in judged)
    axes.set(xlabel="bits a byte", xlim=(1.1 * max(-most, min(low, -MARGIN)), 1.1 * min(most, max(high, MARGIN))))


def _texts(axes: Any, found: Results) -> None:
    say(
        axes,
        "Each text, and what counting knows",
        f"Shared boundary, {si(found.text_bytes, 'B')} of text read by all. Lower is better.",
    )
    texts = list(found.prepared.texts.names)
    arms = [(name, "shared", BASE) for name in found.names]
    width = 0.8 / len(arms)
    for index, (arm, colour) in enumerate(zip(arms, COLOURS, strict=False)):
        values = [fmean(found.values(arm, text)) for text in texts]
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
