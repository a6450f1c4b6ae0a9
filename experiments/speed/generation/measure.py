"""The run: the same texts, written by both in turns."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from contracts.results import Factor, Row
from experiments.figures import COLOURS, panels, save, say
from experiments.finding import Finding
from experiments.speed.generation.question import AIM, GenerationSpeed
from experiments.speed.timed import spread, timed_row
from experiments.tables import Table, number
from research.progress import progress

CACHED, WHOLE = "with a cache", "whole row for every token"

#: A later run on another machine counts as equal up to these relative differences.
_RATIO_TOLERANCE, _SPEED_TOLERANCE = 0.8, 4.0


@dataclass(frozen=True)
class Measured:
    """Tokens a second of both, one entry a round."""

    rows: int
    cached: np.ndarray
    whole: np.ndarray

    @property
    def speedup(self) -> np.ndarray:
        """Round by round."""
        return self.cached / self.whole

    @property
    def judgement(self) -> str:
        """By the rule that stood before the run."""
        if self.speedup.min() >= AIM:
            return "met"
        return "missed" if self.speedup.max() < AIM else "undecided"


def measure(arguments: GenerationSpeed) -> Finding:
    """Rows, a table, a figure and the verdict. Raises `AssertionError` if the two write different texts."""
    found = []
    with progress("writing in turns", total=2 * (arguments.rounds + 1) * len(arguments.rows), unit="turns") as bar:
        for rows in arguments.rows:
            taken: dict[str, list[float]] = {CACHED: [], WHOLE: []}
            for turn in range(arguments.rounds + 1):
                texts = {}
                for name, decoder in _decoders(arguments).items():
                    seconds, texts[name] = _write(decoder, arguments, rows)
                    if turn:  # the first one compiles
                        taken[name].append(rows * arguments.tokens / seconds)
                    bar.advance()
                if texts[CACHED] != texts[WHOLE]:
                    raise AssertionError(f"with and without a cache {rows} rows differ")
            found.append(Measured(rows, np.array(taken[CACHED]), np.array(taken[WHOLE])))
    return Finding(
        rows=[row for one in found for row in _rows(one, arguments)],
        verdict="; ".join(
            f"{number(one.rows)} row{'s' if one.rows > 1 else ''}: {spread(one.speedup, 1)} times as fast, aim "
            f"{AIM:g}: {one.judgement}"
            for one in found
        )
        + f". The texts of {arguments.tokens} tokens are equal.",
        tables=[_table(found, arguments)],
        draw=[partial(_draw, found=found)],
    )


def _decoders(arguments: GenerationSpeed) -> dict[str, Any]:
    """Equal weights; the second one's mixer shows no keys and values that could be kept."""
    from flax import nnx

    from contracts.decoder import DecoderConfig
    from research.model import Attention, Decoder

    class Forgetful(nnx.Module):
        def __init__(self, config: DecoderConfig, *, rngs: nnx.Rngs) -> None:
            self.attention = Attention(config, rngs=rngs)

        def __call__(self, x: Any, positions: Any, segments: Any) -> Any:
            return self.attention(x, positions, segments)

    forgetful: Any = Forgetful  # a Mixer by its call alone
    heads = arguments.d_model // 32
    config = DecoderConfig(
        d_model=arguments.d_model,
        n_layers=arguments.n_layers,
        n_heads=heads,
        n_kv_heads=heads,
        head_dim=32,
        d_ff=64 * -(-8 * arguments.d_model // (3 * 64)),
        context_length=arguments.tokens + 1,
    )
    return {
        CACHED: Decoder(config, rngs=nnx.Rngs(arguments.seed)),
        WHOLE: Decoder(config, rngs=nnx.Rngs(arguments.seed), mixer=forgetful),
    }


def _write(decoder: Any, arguments: GenerationSpeed, rows: int) -> tuple[float, list[tuple[int, ...]]]:
    """Seconds and texts; no row stops early, for the tokenizer has no stop id."""
    from contracts.generation import Sampling
    from research.generate import NoCacheWarning, generate
    from research.tokenizers import ByteTokenizer

    tokenizer = ByteTokenizer(boundary="bos")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoCacheWarning)
        begun = time.perf_counter()
        written = generate(
            decoder, tokenizer, [""] * rows, length=arguments.tokens, sampling=Sampling(), seed=arguments.seed
        )
        return time.perf_counter() - begun, [one.tokens for one in written]


def _rows(one: Measured, arguments: GenerationSpeed) -> list[Row]:
    shape: dict[str, Factor] = {"d_model": arguments.d_model, "n_layers": arguments.n_layers, "rows": one.rows}
    shape["tokens"] = arguments.tokens
    speeds = [
        timed_row("tokens_per_second", values, "tokens/s", {**shape, "way": name}, _SPEED_TOLERANCE)
        for name, values in ((CACHED, one.cached), (WHOLE, one.whole))
    ]
    return [*speeds, timed_row("speedup", one.speedup, "ratio", shape, _RATIO_TOLERANCE)]


def _table(found: Sequence[Measured], arguments: GenerationSpeed) -> Table:
    return Table(
        f"Writing {arguments.tokens} tokens",
        ("rows", f"tokens/s {CACHED}", f"tokens/s, {WHOLE}", "times as fast"),
        tuple((number(one.rows), spread(one.cached, 0), spread(one.whole, 0), spread(one.speedup, 1)) for one in found),
        "Medians, with least and most over the rounds, of programs that are compiled already. Without a cache a pass "
        "has as many positions as the row is long at its end.",
    )


def _draw(folder: Path, found: Sequence[Measured]) -> list[str]:
    with panels(1, width=6.0) as (figure, (axes,)):
        places = np.arange(len(found))
        for index, (name, values) in enumerate(
            ((CACHED, [one.cached for one in found]), (WHOLE, [one.whole for one in found]))
        ):
            medians = np.array([np.median(each) for each in values])
            ends = np.array([(np.median(each) - each.min(), each.max() - np.median(each)) for each in values]).T
            axes.errorbar(places, medians, ends, fmt="os"[index], capsize=3, color=COLOURS[index], label=name)
        axes.set_xticks(places, [f"{one.rows} row{'s' if one.rows > 1 else ''}" for one in found])
        axes.set(yscale="log", ylabel="tokens a second, all rows", xlim=(-0.6, len(found) - 0.4))
        axes.grid(axis="x", visible=False)
        axes.legend(fontsize=8.5, loc="center right")
        say(axes, "Writing", "Higher is faster. Bars: least and most over the rounds.")
        return save(figure, folder)
