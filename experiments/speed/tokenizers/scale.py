"""Scale: one thread against two, and ten megabytes against a thousand."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from experiments.speed.tokenizers.clock import Job, interleaved
from experiments.speed.tokenizers.jobs import Witnesses, digest_of_ids
from experiments.speed.tokenizers.question import TokenizerSpeed
from experiments.speed.tokenizers.texts import Text, repeated
from research.tokenizers import PATTERNS, BPETokenizer, engine

ONE, TWO = "one thread", "two threads"
_STEP = 10


def on_threads(text: Text, tokenizer: BPETokenizer, asked: TokenizerSpeed, witnesses: Witnesses) -> list[Job]:
    """Training and encoding, on one thread and on two; what they make is equal."""
    pattern, size = str(tokenizer.pattern), tokenizer.text_vocab_size

    def train(threads: int) -> BPETokenizer:
        with ThreadPoolExecutor(threads) as executor:
            return BPETokenizer.train_files([text.path], size, pattern, executor=executor)

    def encode(threads: int) -> Any:
        return tokenizer.encode_bytes(text.data, threads=threads)

    def job(task: str, call: Callable[[int], Any], digest: Callable[[str, Any], str]) -> Job:
        calls = {ONE: lambda: partial(call, 1), TWO: lambda: partial(call, 2)}
        look = witnesses.watch(f"{task} of {text.name}", digest)
        seconds = interleaved(f"{task}, {text.name}", calls, asked.repeats, asked.seed, look=look)
        return Job(task, text.name, pattern, text.size, seconds)

    return [
        job("training on threads", train, lambda name, made: made.identity.vocab_sha256),
        job("encoding on threads", encode, lambda name, ids: digest_of_ids(ids)),
    ]


def at_sizes(text: Text, tokenizer: BPETokenizer, asked: TokenizerSpeed) -> list[Job]:
    """Counting and encoding of the same text once, ten times over, and so on up to `asked.longest_bytes`."""
    pattern, jobs, times = str(tokenizer.pattern), [], 1
    while times == 1 or times * text.size <= asked.longest_bytes:
        with TemporaryDirectory() as folder:
            long = repeated(text, times, Path(folder))
            calls = {
                "counting": lambda long=long: partial(_count, long, pattern),
                "encoding": lambda long=long: partial(tokenizer.encode_bytes, long.data),
            }
            seconds = interleaved(f"time a byte, {long.name}", calls, asked.repeats, asked.seed)
            jobs.append(Job("time a byte", long.name, pattern, long.size, seconds))
        times *= _STEP
    return jobs


def _count(text: Text, pattern: str) -> Any:
    with ThreadPoolExecutor(1) as executor:
        return engine.count_files([text.path], PATTERNS[pattern], executor=executor)
