"""What the decoder is: the fields of its config, its arrays, what attention sees, and what the corpus costs."""

import dataclasses
import inspect
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

from contracts.decoder import DecoderConfig
from contracts.difference import Breaks
from contracts.parameters import Parameter, expected_parameters, parameter_differences
from experiments.contracts.blast_radius.choices import Choice
from experiments.contracts.blast_radius.consequence import Consequence, change, consequence
from experiments.tables import si
from research.costs import causal_pairs, decoder_parameters, forward_flops, kv_cache_bytes_per_token, training_flops
from research.model import Decoder
from research.model.attention import causal_attention

#: What breaks with a field on which no parameter's path, shape or dtype depends; with any other, weights do.
#: Under another `rope_theta` the same arrays fit, and compute something else.
WITHOUT_PARAMETERS: dict[str, Breaks] = {
    "rope_theta": "weights",
    "context_length": "calls",
    "compute_dtype": "nothing",
    "remat": "nothing",
}

#: Differing arrays that are shown.
MOST_SHOWN = 3


def fields(old: Choice, new: Choice) -> Iterator[Consequence]:
    """Each field of the config."""
    for field in dataclasses.fields(DecoderConfig):
        before, after = (str(getattr(choice.config, field.name)) for choice in (old, new))
        breaks = WITHOUT_PARAMETERS.get(field.name, "weights")
        yield consequence(f"config.{field.name}", breaks, (before, after), "", DecoderConfig)


def parameters(old: Choice, new: Choice) -> Iterator[Consequence]:
    """How many parameters there are, under either kind of head unless that is what changes."""
    heads = (False, True) if old.config.tied == new.config.tied else (None,)
    for tied in heads:
        configs = [
            choice.config if tied is None else dataclasses.replace(choice.config, tied=tied) for choice in (old, new)
        ]
        counts = [decoder_parameters(config).total for config in configs]
        head = "" if tied is None else ", tied" if tied else ", untied"
        yield consequence(f"parameters{head}", "weights", (f"{n:,}" for n in counts), change(*counts), Decoder)


def arrays(old: Choice, new: Choice) -> Iterator[Consequence]:
    """Whether the arrays of a checkpoint of the old decoder fit into the new one."""
    held, wanted = expected_parameters(old.config), expected_parameters(new.config)
    fit = sum(_is_same(parameter, wanted.get(path)) for path, parameter in held.items())
    differences = parameter_differences(new.config, held)
    more = f"; and {len(differences) - MOST_SHOWN} more" if len(differences) > MOST_SHOWN else ""
    yield consequence(
        "arrays of an old checkpoint",
        "weights",
        (_fitting(len(held), 0, 0), _fitting(fit, len(held) - fit, len(wanted.keys() - held.keys()))),
        "; ".join(differences[:MOST_SHOWN]) + more,
        parameter_differences,
    )


def attention(old: Choice, new: Choice) -> Iterator[Consequence]:
    """What the mask is made of, whether it stops at a boundary, and the pairs that it lets see each other."""
    made_of = ", ".join(inspect.signature(causal_attention).parameters)
    yield consequence("attention is given", "nothing", (made_of, made_of), "", causal_attention)
    stops = f"{_stops_at(None)}, with segments {_stops_at(jnp.array([[0, 0, 1]], jnp.int32))}"
    yield consequence("attention stops at a boundary", "nothing", (stops, stops), "", causal_attention)
    pairs = [sum(map(causal_pairs, row_lengths(choice))) for choice in (old, new)]
    yield consequence("attended pairs", "nothing", (f"{count:,}" for count in pairs), change(*pairs), causal_pairs)
    crossing = [pairs_across_documents(choice) for choice in (old, new)]
    shares = [f"{100 * count / total:.3g} %" for count, total in zip(crossing, pairs, strict=True)]
    yield consequence(
        "attended pairs of text of two documents",
        "nothing",
        (f"{count:,}" for count in crossing),
        f"{shares[0]} of the pairs, then {shares[1]}",
        causal_attention,
    )


def costs(old: Choice, new: Choice) -> Iterator[Consequence]:
    """Training once on the corpus, and the cache of a position."""
    flops = [_training_flops(choice) for choice in (old, new)]
    yield consequence(
        "training on the corpus",
        "nothing",
        (f"{si(each, 'FLOPs')} ({each:,})" for each in flops),
        change(*flops),
        forward_flops,
    )
    cached = [kv_cache_bytes_per_token(choice.config, choice.config.compute_dtype) for choice in (old, new)]
    yield consequence(
        "cache of a position",
        "nothing",
        (f"{count:,} bytes" for count in cached),
        change(*cached),
        kv_cache_bytes_per_token,
    )


def row_lengths(choice: Choice) -> list[int]:
    """The rows of `context_length` positions that the stream is cut into, the last one shorter."""
    rows, rest = divmod(len(choice.stream.tokens), choice.config.context_length)
    return [choice.config.context_length] * rows + [rest] * bool(rest)


def pairs_across_documents(choice: Choice) -> int:
    """Pairs of text positions of one row, query and key, that stand in two documents."""
    tokens, starts = choice.stream.tokens, choice.stream.starts
    where = np.flatnonzero(tokens < choice.tokenizer.text_vocab_size)
    row, document = where // choice.config.context_length, np.searchsorted(starts, where, side="right")
    together = np.unique(row * (len(starts) + 1) + document, return_counts=True)[1]
    return _pairs(np.bincount(row)) - _pairs(together)


def _pairs(counts: np.ndarray) -> int:
    return sum(causal_pairs(int(count)) for count in counts)


def _training_flops(choice: Choice) -> int:
    lengths = row_lengths(choice)
    of_a_row = {length: forward_flops(choice.config, length, causal_pairs(length)).total for length in set(lengths)}
    return training_flops(sum(of_a_row[length] for length in lengths))


def _is_same(held: Parameter, wanted: Parameter | None) -> bool:
    return wanted is not None and (held.shape, held.dtype) == (wanted.shape, wanted.dtype)


def _fitting(fit: int, others: int, missing: int) -> str:
    parts = {"fit": fit, "do not": others, "are missing": missing}
    return ", ".join(f"{count:,} {verb}" for verb, count in parts.items() if count)


def _stops_at(segments: jax.Array | None) -> str:
    """Whether a position is kept from one two before it, across a boundary: asked of the attention itself."""
    ones = jnp.ones((1, 3, 1, 2))
    answers = [causal_attention(ones, ones, ones.at[0, 0].set(first), segments)[0, 2] for first in (0.0, 1.0)]
    return "yes" if bool((answers[0] == answers[1]).all()) else "no"
