"""What a cell does: train, stop at the steps that are named, score the held-out texts there, and go on."""

import time
from collections.abc import Iterator

import numpy as np

from contracts.decoder import LanguageModel
from contracts.evaluation import Evaluation
from experiments.ablation.cell import Cell
from experiments.ablation.outcome import Outcome, Score
from research.evaluate import certificate, evaluate
from research.stream import Rows
from research.train.loop import Training

#: Rows in which documents are asked whether they know of each other; two would do.
_PROBED_ROWS = 4


def train_cell(cell: Cell) -> Outcome:
    """The outcome of a cell: a function of its description alone, but for the seconds that it took."""
    begun = time.monotonic()
    training = Training(cell.config, cell.material.train, cell.material.tokenizer)
    text_bytes = np.cumsum([_text_bytes(cell, training.rows, step) for step in range(cell.config.steps)]).tolist()
    loss: list[float] = []
    scores: list[Score] = []
    for done in training.dispatches():
        loss += done.metrics.loss.tolist()
        if done.stop in cell.evaluations:
            scores += _scores(cell, training.decoder, done.stop, text_bytes[done.stop - 1])
    return Outcome(
        loss=tuple(loss),
        text_bytes=tuple(text_bytes),
        step_flops=cell.step_flops,
        parameters=cell.parameters,
        scores=tuple(scores),
        leakage={name: _leakage(cell, training.decoder, name) for name in cell.leakage},
        seconds=time.monotonic() - begun,
    )


def _text_bytes(cell: Cell, rows: Rows, step: int) -> int:
    """Bytes of the targets that a step is trained on."""
    batch = rows(cell.config.seed, step)
    return int(cell.material.tokenizer.token_byte_lengths[batch.targets[batch.weights > 0]].sum())


def _scores(cell: Cell, decoder: LanguageModel, step: int, text_bytes: int) -> Iterator[Score]:
    """Every held-out text in the first context, and from the middle of the training on in the others too.

    What arms have all read lies there, and is read from these curves as from the first.
    """
    contexts = dict(cell.contexts) if 2 * step >= cell.config.steps else dict(list(cell.contexts.items())[:1])
    for context, policy in contexts.items():
        for text, stream in cell.material.held_out.items():
            found = evaluate(decoder, stream, cell.material.tokenizer, policy)
            nats, tokens = _by_position(found, cell)
            yield Score(
                step=step,
                text_bytes=text_bytes,
                flops=step * cell.step_flops,
                context=context,
                text=text,
                nats_text=tuple(found.ledger.nats_text.tolist()),
                nats_protocol=tuple(found.ledger.nats_protocol.tolist()),
                bytes=int(found.ledger.bytes.sum()),
                position_nats=nats,
                position_tokens=tokens,
            )


def _by_position(found: Evaluation, cell: Cell) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """By how many text tokens of the document stand before it; the boundary that opens it is none."""
    opening = int(cell.material.tokenizer.start_id is not None)
    nats, tokens = found.by_position(cell.positions + opening)
    return tuple(nats[opening:].tolist()), tuple(tokens[opening:].tolist())


def _leakage(cell: Cell, decoder: LanguageModel, name: str) -> dict[str, float]:
    policy = cell.leakage[name]
    rows = Rows(cell.material.train, cell.material.tokenizer, policy, _PROBED_ROWS, cell.config.length)
    found = certificate(decoder, rows)
    return {"logits": found.logits, "gradient": found.gradient, "positions": float(found.compared)}
