"""The verdict, by the rule that stood before the run, and the sentences that a reader should take home."""

from collections.abc import Sequence

from experiments.boundary_cost.consequences import CACHE_DTYPE, Bill, cache_bytes_per_position
from experiments.boundary_cost.parameters import Model
from experiments.boundary_cost.positions import Encoded
from experiments.boundary_cost.question import PARAMETER_SHARE, POSITION_SHARE, REAL_MODEL
from experiments.tables import number, percent, si
from research.costs.memory import dtype_bytes


def verdict(compared: Sequence[Model], parts: Sequence[Encoded], costs: Sequence[Bill]) -> str:
    """The answer by the decision rule, with the numbers that it rests on."""
    return " ".join((_on_parameters(compared), _on_positions(parts), _on_flops(costs)))


def highlights(compared: Sequence[Model], parts: Sequence[Encoded], costs: Sequence[Bill]) -> list[str]:
    """What a reader should take home."""
    model = example(compared)
    bill = next(bill for bill in costs if bill.shape == model.base)
    smallest = next(each for each in compared if not each.tied)
    return [
        f"The id costs D parameters tied, 2D untied: {_saved(smallest)}; {_saved(model)}.",
        _position(max(parts, key=lambda part: part.documents)),
        _break_even(bill),
        _memory(bill),
    ]


def example(compared: Sequence[Model]) -> Model:
    """The model that sentences and the first table speak of: GPT-2's shape and vocabulary, or else the largest."""
    untied = [model for model in compared if not model.tied]
    return next((model for model in untied if model.base.name == "124M" and model.text_vocab_size > 256), untied[-1])


def longest_that_matters() -> int:
    """The longest documents at which sharing saves the share of positions that the rule asks.

    Of n documents of l tokens, n -> infinity, it saves 1 / (l + 2) of the stream.
    """
    return round(1 / POSITION_SHARE) - 2


def _on_parameters(compared: Sequence[Model]) -> str:
    real = [model for model in compared if model.parameters("separate") >= REAL_MODEL]
    if not real:
        return f"In parameters: not judged, no model here has {REAL_MODEL / 1e6:.0f}M."
    most = max(real, key=lambda model: model.share_saved)
    matters = "matters" if most.share_saved >= PARAMETER_SHARE else "does not matter"
    return (
        f"In parameters sharing one id {matters}: it saves at most {percent(most.share_saved)} of a model of "
        f"{REAL_MODEL / 1e6:.0f}M or more ({_model(most)})."
    )


def _on_positions(parts: Sequence[Encoded]) -> str:
    most, least = (choose(parts, key=lambda part: part.share_saved) for choose in (max, min))
    reached = sum(part.share_saved >= POSITION_SHARE for part in parts)
    matters = f"matters in {reached} of {len(parts)} streams" if reached else "does not matter on this text"
    return (
        f"In positions it {matters}: it saves {percent(least.share_saved)} ({_stream(least)}) to "
        f"{percent(most.share_saved)} ({_stream(most)}) of the stream; {100 * POSITION_SHARE:g} % takes documents "
        f"of at most {longest_that_matters()} tokens."
    )


def _on_flops(costs: Sequence[Bill]) -> str:
    dearer = [bill for bill in costs if bill.dearness > 1]
    said = f"In training FLOPs the positions are dearer than the id in {len(dearer)} of {len(costs)} cases"
    if not dearer:
        return f"{said}."
    low, high = min(bill.dearness for bill in dearer), max(bill.dearness for bill in dearer)
    others = [f"{bill.shape.name} over {bill.corpus.tokenizer}" for bill in costs if bill not in dearer]
    exception = f"; not in {', '.join(others)}" if 0 < len(others) <= 4 else ""
    return f"{said} (shape x tokenizer), {number(low, 1)} to {number(high, 1)} times as dear{exception}."


def _saved(model: Model) -> str:
    return (
        f"{number(model.one_id)} of {number(model.parameters('separate'))} in {_model(model)} "
        f"({percent(model.share_saved)})"
    )


def _position(part: Encoded) -> str:
    return (
        f"The position: n + 1 boundaries shared, 2n separate. {_stream(part)}: {number(part.documents)} documents of "
        f"{number(part.mean_length, 0)} tokens have {number(part.boundaries['shared'])} or "
        f"{number(part.boundaries['separate'])}."
    )


def _break_even(bill: Bill) -> str:
    return (
        f"Training {bill.shape.name} over {bill.corpus.tokenizer} on this text, sharing saves "
        f"{si(bill.positions_saved, 'FLOPs')} of positions and {si(bill.id_saved, 'FLOPs')} of logits; they would be "
        f"equal if documents had {number(round(bill.break_even_length))} tokens."
    )


def _memory(bill: Bill) -> str:
    id_bytes = 2 * bill.shape.d_model * dtype_bytes(CACHE_DTYPE)
    ids = cache_bytes_per_position(bill.shape) / id_bytes
    return f"While {bill.shape.name} generates, one boundary in the cache is as large as {number(ids, 0)} ids (untied)."


def _model(model: Model) -> str:
    name = f"D = {model.base.d_model}" if model.base.name == "origin" else model.base.name
    return f"{name} over {number(model.text_vocab_size)} text tokens, {'tied' if model.tied else 'untied'}"


def _stream(part: Encoded) -> str:
    return f"{part.slice} in {part.tokenizer}"
