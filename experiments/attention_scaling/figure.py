"""The picture: cost against length with its crossings, exponents beside their predictions, and bytes in other units."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.attention_scaling.findings import Findings
from experiments.attention_scaling.question import WORST_CASE
from experiments.attention_scaling.tables import TITLES
from experiments.attention_scaling.texts import TextCost
from experiments.figures import COLOURS, MARKERS, panels, save, say

_MOST_BARS = 14

#: Colour and marker of each part.
_LOOK = {name: (COLOURS[i], MARKERS[i]) for i, name in enumerate(("core", "rest", "decoder", "attention"))}


def draw(folder: Path, found: Findings) -> list[str]:
    """Write the figure into `folder`."""
    with panels(3, width=4.9, height=4.7) as (figure, axes):
        _costs(axes[0], found)
        _exponents(axes[1], found)
        _texts(axes[2], found)
        return save(figure, folder)


def _costs(axes: Any, found: Findings) -> None:
    """Time on the left axis, FLOPs on the right one, which is the left at one rate: the rest's at the last length."""
    rate = found.growth["rest"].rates[-1]
    for name in ("core", "rest", "decoder"):
        colour, marker = _LOOK[name]
        part, seconds = found.growth[name], found.timings.seconds(name)
        median = np.asarray(part.seconds)
        spread = np.abs(np.stack([seconds.min(axis=0), seconds.max(axis=0)]) - median)
        axes.errorbar(
            part.lengths, median, spread, color=colour, marker=marker, ms=5, lw=1.6, capsize=2, label=TITLES[name]
        )
        axes.plot(part.lengths, np.asarray(part.flops) / rate, color=colour, ls="--", lw=1.1)
    axes.set(xscale="log", yscale="log", xlabel="T, positions (tokens)", ylabel="seconds (markers; min to max)")
    _length_ticks(axes, found.lengths)
    right = axes.secondary_yaxis("right", functions=(lambda s: s * rate, lambda f: f / rate))
    right.set_ylabel("FLOPs (dashed)")
    _mark(axes, found.crossings[0].full, "by FLOPs", "--")
    if found.clock_crossing.seen is not None:
        seen = found.clock_crossing.seen
        _mark(axes, seen.value, "by the clock", "-")
        end = 4 * axes.get_xlim()[1]  # an interval of a far extrapolation would squeeze the sweep
        axes.axvspan(min(seen.low, end), min(seen.high, end), color="#444444", alpha=0.1, lw=0)
    axes.legend(loc="upper left", fontsize=8.5)
    say(axes, "Cost against length", "Lines: where attention overtakes the rest (shaded: 95 % interval).")


def _mark(axes: Any, length: float, text: str, style: str) -> None:
    """A vertical line, unless it lies too far beyond the sweep to be drawn."""
    start, end = axes.get_xlim()
    if not start / 4 <= length <= end * 4:
        return
    axes.axvline(length, color="#444444", ls=style, lw=1)
    place = axes.get_xaxis_transform()
    label = f"{text}\nT = {length:,.0f}"
    axes.text(length, 0.02, label, transform=place, fontsize=8, ha="right", va="bottom", rotation=90, color="#444444")


def _exponents(axes: Any, found: Findings) -> None:
    middles = np.sqrt(np.asarray(found.lengths[:-1]) * np.asarray(found.lengths[1:]))
    for i, name in enumerate(("core", "attention", "decoder")):
        part, (colour, marker) = found.growth[name], _LOOK[name]
        value, low, high = (np.asarray([getattr(seen, at) for seen in part.local]) for at in ("value", "low", "high"))
        shifted = middles * 1.05 ** (i - 1)
        bars = np.stack([value - low, high - value])
        axes.errorbar(
            shifted, value, bars, color=colour, marker=marker, ms=5, lw=0, elinewidth=1.3, capsize=2.5,
            label=TITLES[name],
        )  # fmt: skip
        axes.plot(middles, part.predicted_local, color=colour, ls="--", lw=1.3)
    axes.set(xscale="log", xlabel="T, positions (tokens)", ylabel="local exponent, d log / d log T")
    _length_ticks(axes, found.lengths)
    axes.legend(loc="best", fontsize=8.5)
    say(axes, "Growth", "Markers: time, with 95 % intervals. Dashed: what FLOPs predict.")


def _texts(axes: Any, found: Findings) -> None:
    texts, bpe = _shown(found.texts, found.units.bpe), found.units.bpe
    places = np.arange(len(texts))[::-1]
    of_characters = [text.attention_ratio("characters") for text in texts]
    axes.barh(places + 0.2, of_characters, 0.38, color=COLOURS[0], label="characters")
    tokens = [
        (place, text.attention_ratio(bpe)) for place, text in zip(places, texts, strict=True) if text.held_out_tokens
    ]
    axes.barh(
        [p - 0.2 for p, _ in tokens], [ratio for _, ratio in tokens], 0.38, color=COLOURS[4], label=f"{bpe} tokens"
    )
    axes.axvline(WORST_CASE, color="#444444", ls="--", lw=1)
    largest = max(WORST_CASE, *(ratio for _, ratio in tokens))
    ticks = [tick for tick in (1, 2, 4, 9, 16, 32, 64, 128, 256) if tick <= largest]
    axes.set(xscale="log", xlim=(0.93, 1.2 * largest), xlabel="query-key pairs as bytes, over those in")
    axes.set_xticks(ticks, [f"{tick}x" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(places, [text.name for text in texts], fontsize=8.5)
    axes.grid(axis="y", visible=False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, fontsize=8.5)
    all_or_some = "" if len(texts) == len(found.texts) else f" {len(texts)} of {len(found.texts)} texts shown."
    sentence = f"Dashed: all characters 4 bytes.{all_or_some}"
    say(axes, "The same text in bytes", sentence)


def _shown(texts: Sequence[TextCost], bpe: str) -> list[TextCost]:
    """All constructed texts; of more real ones than fit English, the dearest, and others over the whole range."""
    real = [text for text in texts if not text.is_constructed]
    constructed = [text for text in texts if text.is_constructed]
    room = _MOST_BARS - len(constructed)
    if len(real) <= room:
        return real + constructed
    real = sorted(real, key=lambda text: text.attention_ratio("characters"))
    kept = {real[-1], max(real, key=lambda text: text.attention_ratio(bpe))}
    kept.update([text for text in real if text.is_english][:1])
    others = [text for text in real if text not in kept]
    kept.update(others[round(place)] for place in np.linspace(0, len(others) - 1, room - len(kept)))
    return [text for text in real if text in kept] + constructed


def _length_ticks(axes: Any, lengths: tuple[int, ...]) -> None:
    axes.set_xticks(lengths, [f"{length:,}" for length in lengths])
    axes.minorticks_off()
