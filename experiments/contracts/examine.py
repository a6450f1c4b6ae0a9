"""Is a decoder of this config what the specs say, for every batch and length? Asked of shapes: no weight exists.

Sizes of a config are often equal (H K = D, G = H), and an equality can hide two swapped axes. So the same structure
is traced a second time with sizes that are all different.
"""

import dataclasses
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx

from contracts.decoder import DecoderConfig
from contracts.errors import ContractError
from contracts.parameters import parameter_count, parameter_differences
from research.costs import decoder_parameters
from research.model import Decoder

MakeDecoder = Callable[..., Any]
"""`make(config, rngs=rngs)`"""

#: Deeper decoders than this are traced as one scanned layer and as a short loop, unless every layer is asked for.
LOOP_LAYERS = 8

#: B and T, the sizes below, H K and G K: no two are equal, and T is prime.
DISTINCT_BATCH = (5, 7)
DISTINCT = {"vocab_size": 257, "d_model": 44, "n_layers": 2, "n_heads": 6, "n_kv_heads": 3, "head_dim": 10, "d_ff": 52}


class Check(NamedTuple):
    """One thing that was looked at: kept, or the problems that were found."""

    what: str
    detail: str
    problems: tuple[str, ...] = ()


def examine(config: DecoderConfig, make: MakeDecoder = Decoder, every_layer: bool = False) -> list[Check]:
    """Shapes for every B and T, parameters against the table both ways, their count, and that none was allocated."""
    before, checks = _live_bytes(), []
    for number, (label, stand_in) in enumerate(stand_ins(config, every_layer)):
        try:
            model = nnx.eval_shape(lambda stand_in=stand_in: make(stand_in, rngs=nnx.Rngs(0)))
        except Exception as error:
            checks.append(Check(f"build, {label}", "", (_said(error),)))
            continue
        held = {".".join(map(str, path)): leaf for path, leaf in nnx.to_flat_state(nnx.state(model))}
        checks.append(_table_check(label, stand_in, held))
        checks += [_count_check(config, held)] if number == 0 else []
        checks += _shape_checks(label, stand_in, model)
    allocated = _live_bytes() - before
    checks.append(Check("memory", "no weight allocated", (f"{allocated:,} bytes allocated",) if allocated else ()))
    return checks


def stand_ins(config: DecoderConfig, every_layer: bool) -> Iterator[tuple[str, DecoderConfig]]:
    """What is traced for `config`, by name: first what has all of its parameters, last the distinct sizes."""
    depth = config.n_layers
    if config.scan_layers:
        yield "scanned layers", config
    elif every_layer or depth <= LOOP_LAYERS:
        yield "every layer", config
    else:
        yield f"{depth} layers scanned as one", dataclasses.replace(config, scan_layers=True)
        yield f"a loop of 2 of {depth} layers", dataclasses.replace(config, n_layers=2)
    yield "distinct sizes", dataclasses.replace(config, **DISTINCT, context_length=64)  # type: ignore[arg-type]


def _table_check(label: str, config: DecoderConfig, found: Mapping[str, Any]) -> Check:
    problems = tuple(parameter_differences(config, found))
    return Check(f"parameters, {label}", f"{len(found):,} arrays, each in the table and none missing", problems)


def _shape_checks(label: str, config: DecoderConfig, model: Any) -> Iterator[Check]:
    rows, length = jax.export.symbolic_shape("b, t", constraints=[f"t <= {config.context_length}"])
    yield _shape_check(f"any B and T, {label}", config, model, (rows, length))
    if label == "distinct sizes":
        yield _shape_check(f"B = {DISTINCT_BATCH[0]}, T = {DISTINCT_BATCH[1]}, {label}", config, model, DISTINCT_BATCH)


def _shape_check(what: str, config: DecoderConfig, model: Any, batch: tuple[Any, Any]) -> Check:
    tokens = jax.ShapeDtypeStruct(batch, jnp.int32)
    graph, state = nnx.split(model)
    try:
        logits = jax.eval_shape(lambda state, tokens: nnx.merge(graph, state)(tokens), state, tokens)
    except Exception as error:
        return Check(f"shapes, {what}", "", (_said(error),))
    detail = f"int32{_shape(batch)} -> {logits.dtype}{_shape(logits.shape)}"
    expected = (*batch, config.vocab_size)
    kept = tuple(logits.shape) == expected and logits.dtype == jnp.float32
    return Check(f"shapes, {what}", detail, () if kept else (f"{detail}, not float32{_shape(expected)}",))


def _count_check(config: DecoderConfig, held: Mapping[str, Any]) -> Check:
    traced = sum(math.prod(leaf.shape) for leaf in held.values())
    counts = {"formula": decoder_parameters(config).total, "table": parameter_count(config), "tracing": traced}
    if len(set(counts.values())) == 1:
        return Check("count", f"{traced:,} parameters by formula, by table and by tracing")
    return Check("count", "", (", ".join(f"{count:,} by {witness}" for witness, count in counts.items()),))


def _said(error: Exception) -> str:
    """What went wrong: all of a contract's error, the first line of any other."""
    if isinstance(error, ContractError):
        return str(error)
    return f"{type(error).__name__}: {next(iter(str(error).strip().splitlines()), '')}"


def _shape(shape: tuple[Any, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _live_bytes() -> int:
    return sum(array.nbytes for array in jax.live_arrays())


def peak_megabytes() -> float | None:
    """The most memory that this process has held so far, where the system says."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)
