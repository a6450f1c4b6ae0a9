"""What only a law sees: the laws of `verify`, run on the mutants that no checker and no check of data has refused."""

from typing import Any

import jax
import numpy as np

from contracts.laws import DecoderView, Effort, verify
from experiments.contract_faults.evaluate import evaluate
from experiments.contract_faults.mutants import Mutant
from experiments.contract_faults.programs import CACHE, DECODER, TRAINING, Sizes
from experiments.contract_faults.trial import Bench

#: Enough for leaks, which show at almost any change; a fault that needs luck is not called seen.
EFFORT = Effort(examples=3, seconds=60.0)

#: What a decoder can break whose shapes were found right at all sizes.
LAWS_OF_VALUES = ("float32-logits", "own-token", "causality", "padding", "batch", "segment-isolation")

NO_LAW_OF_TRAINING = "verify has no law of a training step: a test against a written-out loss would see it"
OTHER_START = "another start of training, in shape: no forward pass knows the right scale"
ANY_FLOAT = "an alias that allows any float, as mixed precision needs: the numbers are coarser, not wrong"
OTHER_DECODER = "another decoder, lawful in itself: only a comparison with a reference tells"


def broken_law(bench: Bench, mutant: Mutant, sizes: Sizes) -> str:
    """The first law that the mutant breaks, as the command line calls it; empty if none."""
    if bench.program not in (DECODER, CACHE):
        return ""
    with bench.copies["jax"].planted(*mutant.where):
        models = bench.models_of("jax", mutant, sizes)
        if bench.program is DECODER:
            report = verify(_decoder_view(models[0]), only=LAWS_OF_VALUES, effort=EFFORT)
        else:
            report = verify(_cache_view(bench, models), only=("cache",), effort=EFFORT)
    return report.broken[0].law if report.broken else ""


def reason(mutant: Mutant) -> str:
    """Why nothing saw a mutant that no law saw either."""
    if mutant.program == TRAINING.name:
        return NO_LAW_OF_TRAINING
    if mutant.builds_a_model:
        return OTHER_START
    return ANY_FLOAT if "bfloat16" in mutant.what else OTHER_DECODER


class _Evaluated:
    """A function of arrays, traced once for every shape and computed by NumPy."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.programs: dict[str, Any] = {}

    def __call__(self, *arguments: Any) -> Any:
        leaves, structure = jax.tree.flatten(arguments)
        leaves = [np.asarray(leaf) for leaf in leaves]
        key = f"{structure} {[(leaf.shape, str(leaf.dtype)) for leaf in leaves]}"
        if key not in self.programs:
            self.programs[key] = jax.make_jaxpr(lambda *given: self.function(*given), return_shape=True)(*arguments)
        program, form = self.programs[key]
        return jax.tree.unflatten(jax.tree.structure(form), evaluate(program, *leaves))


def _decoder_view(decoder: Any) -> DecoderView:
    run = _Evaluated(lambda tokens, segments: decoder(tokens, segments))
    return DecoderView(
        "decoder",
        lambda params, tokens, segments=None: run(tokens, segments),
        segments="segments",
        max_length=decoder.config.context_length,
    )


def _cache_view(bench: Bench, decoder: Any) -> DecoderView:
    caching = bench.copies["jax"]["experiments.contract_faults.subjects.cached_decoding"]
    cached = caching.CachedDecoder(decoder)

    def stored_step(tokens: Any, caches: Any, start: Any) -> Any:
        return cached.step(tokens, caching.in_order(caching.by_name(caches)), start)

    whole, step = _Evaluated(lambda tokens: decoder(tokens)), _Evaluated(stored_step)

    def next_step(params: Any, tokens: Any, state: Any) -> Any:
        caches, start = state
        logits, caches = step(tokens, caches, np.int32(start))
        return logits, (caches, start + tokens.shape[1])

    return DecoderView(
        "cached decoder",
        lambda params, tokens: whole(tokens),
        max_length=decoder.config.context_length,
        init_cache=lambda rows, slots: (cached.empty(np.zeros((rows, 1), np.int32), slots), 0),
        step=next_step,
    )
