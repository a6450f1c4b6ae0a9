"""What a run came to, at its end."""

import statistics
from pathlib import Path
from typing import Any

from experiments.tables import percent


def summarize(folder: Path, run: Any) -> None:
    """Print it."""
    from research.train.log import read_log
    from research.train.run import EVALUATIONS, METRICS

    config, lines, evaluations = run.config, read_log(folder / METRICS), read_log(folder / EVALUATIONS)
    rate, share = (statistics.median(line[name] for line in lines) for name in ("tokens_per_second", "peak_share"))
    tokens = config.steps * config.batch_size * config.length
    print(f"{config.steps:,} steps of {config.batch_size} x {config.length} positions: {tokens:,} tokens")
    print(f"speed: {rate:,.0f} tokens/s, {percent(share)} of the measured matmul peak (medians of the logged steps)")
    last = lines[-1]
    print(f"last step: loss {last['loss']:.4f} nats a token, {last['bits_per_byte']:.4f} bits per byte of its text")
    if evaluations:
        held_out = evaluations[-1]
        text, total = held_out["bpb_text"], held_out["bpb_total"]
        print(f"held-out text: {text:.4f} bits per byte, {total:.4f} with its boundaries")
    else:
        print("held-out text: none in this corpus, so nothing tells how the decoder does on new text")
    print(f"written: {folder}")
