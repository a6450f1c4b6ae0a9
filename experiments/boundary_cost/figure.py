"""The figure: what an id costs against the size of the model, what a position costs against the length of the
document, and where the two meet in FLOPs and in memory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from contracts.tokenizer import Boundary
from experiments.boundary_cost.consequences import CACHE_DTYPE, Bill, cache_bytes_per_position
from experiments.boundary_cost.parameters import Model
from experiments.boundary_cost.positions import Encoded
from experiments.boundary_cost.question import PARAMETER_SHARE, POSITION_SHARE, REAL_MODEL
from experiments.figures import COLOURS, MARKERS, panels, save, say
from research.costs import boundary_parameters, decoder_parameters
from research.costs.memory import dtype_bytes

_BLUE, _ORANGE = COLOURS[:2]
_SMALL = 8.5


def draw(folder: Path, models: Sequence[Model], parts: Sequence[Encoded], bills: Sequence[Bill]) -> list[str]:
    """Write `figure.png` and `figure.svg` into `folder`."""
    with panels(2, 2, width=5.0, height=4.0) as (figure, axes):
        _parameters(axes[0], models)
        _positions(axes[1], parts)
        _break_even(axes[2], bills)
        _memory(axes[3], bills)
        return save(figure, folder)


def _parameters(axes: Any, models: Sequence[Model]) -> None:
    say(axes, "Parameters, once a model", "The larger the model, the less one id is of it.")
    for colour, tied in ((_ORANGE, False), (_BLUE, True)):
        for style, over_bytes in (("-", True), (":", False)):
            chosen = [m for m in models if m.tied == tied and (m.text_vocab_size == 256) == over_bytes]
            axes.plot(
                [m.parameters("separate") for m in chosen],
                [m.share_saved for m in chosen],
                color=colour,
                linestyle=style,
                marker="o" if over_bytes else "s",
                fillstyle="full" if over_bytes else "none",
                label=f"{'tied' if tied else 'untied'} head, {'bytes' if over_bytes else 'BPE'}",
            )
    axes.hlines(PARAMETER_SHARE, REAL_MODEL, 2e10, color="black", linestyle="--", linewidth=1)
    axes.text(REAL_MODEL, PARAMETER_SHARE * 1.3, "sharing matters above", fontsize=_SMALL)
    axes.set(xscale="log", yscale="log", xlabel="parameters of the model", ylabel="saved by sharing, of all parameters")
    axes.yaxis.set_major_formatter(_percent)
    axes.legend(fontsize=_SMALL, loc="lower left")


def _positions(axes: Any, parts: Sequence[Encoded]) -> None:
    say(axes, "Positions, once a document", "Short documents fill the stream with boundaries.")
    longest = 10 * max(part.mean_length for part in parts)
    lengths = np.geomspace(8, longest, 100)
    curves: tuple[tuple[str, Boundary, int, str], ...] = (
        (_ORANGE, "separate", 2, "separate"),
        (_BLUE, "shared", 1, "shared, bos, eos"),
    )
    for colour, policy, each, label in curves:
        axes.plot(lengths, each / (lengths + each), color=colour, label=label)
        for marker, tokenizer in zip(MARKERS, dict.fromkeys(part.tokenizer for part in parts), strict=False):
            chosen = [part for part in parts if part.tokenizer == tokenizer]
            axes.scatter(
                [part.mean_length for part in chosen],
                [part.boundary_share(policy) for part in chosen],
                marker=marker,
                s=28,
                facecolors=colour if tokenizer == "bytes" else "white",
                edgecolors=colour,
                zorder=3,
                label=f"counted, {tokenizer}" if policy == "shared" else None,
            )
    axes.axhline(POSITION_SHARE, color="black", linestyle="--", linewidth=1)
    axes.text(longest, POSITION_SHARE * 1.15, "sharing matters where blue is above", ha="right", fontsize=_SMALL)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="tokens of a document (mean of a slice)",
        ylabel="boundaries, of all positions",
    )
    axes.yaxis.set_major_formatter(_percent)
    axes.legend(fontsize=_SMALL, loc="lower left")


def _break_even(axes: Any, bills: Sequence[Bill]) -> None:
    say(axes, "Training FLOPs", "The position is dearer until documents reach the marked length.")
    chosen = [bill for bill in bills if bill.corpus.tokenizer == bills[0].corpus.tokenizer]
    longest = max(bill.break_even_length for bill in chosen)
    lengths = np.geomspace(8, 3 * longest, 100)
    axes.plot(lengths, 1 / (lengths + 2), color=_BLUE)
    axes.text(100, 0.03, "one more position a document", color=_BLUE, fontsize=_SMALL)
    for bill in chosen:
        meets = bill.break_even_length
        share = 1 / (meets + 2)
        axes.plot([8, meets], [share, share], color=_ORANGE, marker="o", markevery=[1])
        name = f"{bill.shape.name}: {meets:,.0f}"
        axes.annotate(name, (meets, share), (7, 2), textcoords="offset points", fontsize=_SMALL)
    axes.text(10, 0.4 / longest, "one more id, in each shape", color=_ORANGE, fontsize=_SMALL)
    tokenizer = chosen[0].corpus.tokenizer
    axes.set(xscale="log", yscale="log", xlabel=f"tokens of a document ({tokenizer})", ylabel="of the training FLOPs")
    axes.set_xlim(5, 60 * longest)
    axes.yaxis.set_major_formatter(_percent)


def _memory(axes: Any, bills: Sequence[Bill]) -> None:
    say(axes, "Memory while generating", "Blue above orange: one boundary in the cache outweighs an id.")
    shapes = list(dict.fromkeys(bill.shape for bill in bills))
    sizes = [decoder_parameters(shape).total for shape in shapes]
    width = dtype_bytes(CACHE_DTYPE)
    cached = [cache_bytes_per_position(shape) for shape in shapes]
    axes.plot(sizes, cached, color=_BLUE, marker="o", markersize=4, zorder=3, label="a position, cached")
    for tied, style in ((False, "-"), (True, ":")):
        weights = [boundary_parameters(1, shape.d_model, tied) * width for shape in shapes]
        label = f"an id, {'tied' if tied else 'untied'}"
        axes.plot(sizes, weights, color=_ORANGE, linestyle=style, marker="s", label=label)
    axes.set(
        xscale="log", yscale="log", xlabel="parameters of the model (bytes, untied)", ylabel=f"bytes in {CACHE_DTYPE}"
    )
    axes.legend(fontsize=_SMALL, loc="upper left")


def _percent(share: float, _: int) -> str:
    """A tick of a logarithmic axis, such as `0.001 %`."""
    return f"{100 * share:.10f}".rstrip("0").rstrip(".") + " %"
