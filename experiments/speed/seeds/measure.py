"""The run: every preset in turn; at each the ways take turns, in an order that changes."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from contracts.errors import InputError
from experiments.finding import Finding
from experiments.speed.seeds.findings import Findings, Measured, draw, highlights, rows, tables, verdict
from experiments.speed.seeds.question import AFTER, BESIDE, TOGETHER, SeedsSpeed
from research.progress import progress


def measure(arguments: SeedsSpeed) -> Finding:
    """Rows, a table, a figure and the verdict. Raises `InputError` for a job that can't train here."""
    import jax

    from research.train import preset

    platform = jax.default_backend()
    ways = (AFTER, BESIDE, TOGETHER) if platform == "cpu" else (AFTER, TOGETHER)
    configs = {name: cut_short(preset(name, 257), arguments.steps) for name in arguments.presets}
    order = np.random.default_rng(arguments.seed)
    total = len(configs) * len(ways) * arguments.rounds
    measured = []
    with stored_corpus() as corpus, progress("training seeds in turns", total=total, unit="jobs") as bar:
        for name, config in configs.items():
            seconds: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(arguments.rounds):
                for index in order.permutation(len(ways)):
                    described = json.dumps(config.to_json())
                    seconds[ways[index]].append(job_seconds(ways[index], corpus, arguments.seeds, described))
                    bar.advance()
            tokens = arguments.seeds * config.steps * config.batch_size * config.length
            measured.append(Measured(name, tokens, {way: np.array(taken) for way, taken in seconds.items()}))
    found = Findings(measured, platform, arguments.seeds, arguments.steps)
    return Finding(
        rows=rows(found),
        verdict=verdict(found),
        highlights=highlights(found),
        tables=tables(found),
        draw=[partial(draw, found=found)],
    )


def cut_short(config: Any, steps: int) -> Any:
    """The config with so many steps, its warm-up and its dispatches cut to fit, and one checkpoint at the end."""
    dispatch = min(config.steps_per_dispatch, steps)
    warmup = min(config.optimizer.warmup_steps, steps // 2)
    return replace(
        config,
        steps=steps,
        steps_per_dispatch=dispatch,
        checkpoint_interval=dispatch * -(-steps // dispatch),
        optimizer=replace(config.optimizer, warmup_steps=warmup),
    )


@contextmanager
def stored_corpus() -> Iterator[Path]:
    """The embedded corpus as bytes, on disk while the block runs; nothing is held out, so nothing is evaluated."""
    from research.stream import build_corpus
    from research.text import LANGUAGES, parallel_documents
    from research.tokenizers import ByteTokenizer

    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        documents = [document for language in LANGUAGES for document in parallel_documents(language)]
        text.write_text("\n".join(documents), encoding="utf-8")
        build_corpus([text], ByteTokenizer(), Path(folder) / "corpus", separator="\n", validation=0)
        yield Path(folder) / "corpus"


def job_seconds(way: str, corpus: Path, seeds: int, described: str) -> float:
    """Of one job, in a fresh process and a fresh folder."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [sys.executable, "-m", "experiments.speed.seeds.job", way, str(corpus), folder, str(seeds), described],
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=False,
        )
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["no message"])[-1]
        raise InputError(way, expected="seeds trained to their end", got=last)
    return float(json.loads(run.stdout.splitlines()[-1])["seconds"])
