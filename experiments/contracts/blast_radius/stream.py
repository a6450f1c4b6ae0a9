"""What the model is trained on: positions of the stream, and which kind of token has to predict which."""

from collections.abc import Iterator

import numpy as np

from experiments.contracts.blast_radius.choices import Choice
from experiments.contracts.blast_radius.consequence import Consequence, change, consequence
from research.stream import build_stream

Transition = tuple[str, str]


def positions(old: Choice, new: Choice) -> Iterator[Consequence]:
    """The length of the stream, and how much of it are boundaries."""
    counts = [choice.stream.counts.tokens for choice in (old, new)]
    held = [int(np.count_nonzero(_kinds(choice))) for choice in (old, new)]
    amount = f"{change(*counts)} positions; {held[0]:,} boundaries, then {held[1]:,}"
    yield consequence("stream positions", "data", (f"{count:,}" for count in counts), amount, build_stream)


def targets(old: Choice, new: Choice) -> Iterator[Consequence]:
    """Which kind of token predicts which, over all next-token predictions of the stream."""
    before, after = transitions(old), transitions(new)
    totals = [max(1, sum(counts.values())) for counts in (before, after)]
    for here, following in dict.fromkeys([*before, *after]):
        counts = [side.get((here, following), 0) for side in (before, after)]
        shares = [f"{100 * count / total:.3g} %" for count, total in zip(counts, totals, strict=True)]
        amount = f"{shares[0]} of the targets, then {shares[1]}"
        yield consequence(
            f"targets: {here} predicts {following}",
            "data",
            (f"{count:,}" for count in counts),
            amount,
            build_stream,
        )


def transitions(choice: Choice) -> dict[Transition, int]:
    """How often a token of one kind (`text`, `doc`, `bos`, `eos`) stands before one of another, as counted."""
    names, kinds = ("text", *choice.tokenizer.protocol), _kinds(choice)
    pairs = np.bincount(kinds[:-1] * len(names) + kinds[1:], minlength=len(names) ** 2)
    found = {(names[index // len(names)], names[index % len(names)]): int(n) for index, n in enumerate(pairs)}
    return {transition: count for transition, count in found.items() if count}


def _kinds(choice: Choice) -> np.ndarray:
    """0 for a text token, 1, 2, ... for the protocol tokens in order, at each position of the stream."""
    return np.maximum(choice.stream.tokens - (choice.tokenizer.text_vocab_size - 1), 0)
