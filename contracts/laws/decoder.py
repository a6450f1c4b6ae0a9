"""The laws of decoders: what any function from tokens to next-token logits must keep, whatever is inside.

What one position may know of another is tried by changing tokens and comparing logits bit for bit, and asked of the
gradient where the embedding table is among the parameters.
"""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st

from contracts.laws.decoder_examples import Change, changes, changes_before, documents, moved, one_row, rows, rows_of
from contracts.laws.decoder_gradient import influence
from contracts.laws.decoder_isolation import TAKES_NO_SEGMENTS, control, row_isolation, segment_gradient
from contracts.laws.decoder_run import DecoderRun
from contracts.laws.law import Law, NotApplicable
from contracts.laws.search import Search, raised


def shape(run: DecoderRun, search: Search) -> str:
    """Tokens B x T give logits B x T x V, with one V, for every B and T."""

    def complaint(size: tuple[int, int]) -> str:
        given = f"tokens int32{list(size)}"
        try:
            logits = run.form(size)
        except Exception as error:
            return f"{given} raise {raised(error)}"
        if not hasattr(logits, "shape"):
            return f"{given} give a {type(logits).__name__}: wrap it in a function that returns the logits alone"
        if logits.ndim != 3 or run.vocab_size < 2 or logits.shape != (*size, run.vocab_size):
            return f"{given} give {logits.dtype}{list(logits.shape)}, not [{size[0]}, {size[1]}, V]"
        return ""

    found = search.first(run.sizes, complaint)
    if not found:
        search.notes.append(f"logits [B, T, {run.vocab_size}]")
    return found


def symbolic_shape(run: DecoderRun, search: Search) -> str:
    """The same for symbolic B and T, that is for all of them at once, with no number computed."""
    if run.problem:
        raise NotApplicable(f"it can't be traced: {run.problem}")
    bound = [] if run.view.max_length is None else [f"T <= {run.view.max_length}"]
    rows, length = jax.export.symbolic_shape("B, T", constraints=bound)
    try:
        logits = run.form((rows, length))
    except Exception as error:
        raise NotApplicable(f"tracing it with symbols for sizes raises {raised(error)}") from None
    expected = (rows, length, run.vocab_size)
    search.notes.append("all B and T at once")
    said = "" if logits.shape == expected else f"tokens int32[B, T] give {list(logits.shape)}"
    return search.first([expected], lambda _: said)


def deterministic(run: DecoderRun, search: Search) -> str:
    """The same tokens give the same logits, bit for bit."""

    def complaint(tokens: np.ndarray) -> str:
        once, again = (np.asarray(run.as_given(tokens).astype(jnp.float32)) for _ in range(2))
        by = moved(once, again)
        return f"two calls with {tokens[0].tolist()} differ by up to {by.max():.3g}; is dropout on?" if by.any() else ""

    return search.first([run.spread(run.short)], complaint)


def float32_logits(run: DecoderRun, search: Search) -> str:
    """Logits are float32, whatever is computed with inside."""
    dtype = run.form((1, run.short)).dtype
    return search.first([dtype], lambda dtype: "" if dtype == jnp.float32 else f"the logits are {dtype}")


def finite_logits(run: DecoderRun, search: Search) -> str:
    """No logit is infinite or not a number, whatever the tokens."""

    def complaint(row: list[int]) -> str:
        logits = run.logits(one_row(row))[0]
        bad = np.argwhere(~np.isfinite(logits))
        return f"{row} has logits[{bad[0][0]}, {bad[0][1]}] = {logits[tuple(bad[0])]}" if bad.size else ""

    every_id = (ids.tolist() for ids in run.whole_vocabulary())
    return search.smallest(rows(run), complaint, first=every_id)


def own_token(run: DecoderRun, search: Search) -> str:
    """A position's logits depend on its own token."""

    def complaint(change: Change) -> str:
        before = run.logits(change.before)[0, change.at]
        for step in range(1, min(run.vocab_size, 9)):
            other = Change(change.row, change.at, (change.row[change.at] + step) % run.vocab_size)
            if moved(before, run.logits(other.after)[0, change.at]).any():
                return ""
        return f"position {change.at} of {change.row} has the same logits whatever its token is"

    return search.smallest(changes(run), complaint)


def causality(run: DecoderRun, search: Search) -> str:
    """A position's logits depend on no later token."""
    reached = False

    def complaint(change: Change) -> str:
        nonlocal reached
        by = moved(run.logits(change.before)[0], run.logits(change.after)[0])
        reached |= bool(by[change.at + 1 :].any())
        return change.complaint(by[: change.at], first=0, leak=run.view.leak)

    found = search.smallest(changes(run), complaint)
    if not reached:
        search.notes.append("no position sees another one at all")
    later = np.triu(np.ones((run.short, run.short), bool), k=1)
    return found or _gradient_complaint(run, search, forbidden=later)


def padding(run: DecoderRun, search: Search) -> str:
    """Tokens appended to a row leave the logits before them as they are."""
    if run.short == run.long:
        raise NotApplicable(f"its rows have at most {run.long} tokens")

    def complaint(row: list[int]) -> str:
        alone, padded = run.logits(one_row(row[: run.short]))[0], run.logits(one_row(row))[0, : run.short]
        return _difference(run, f"{row[: run.short]} followed by {row[run.short :]}", padded, alone)

    return search.smallest(rows_of(run, run.long), complaint)


def batch(run: DecoderRun, search: Search) -> str:
    """A row has the same logits alone as among others."""

    def complaint(together: list[list[int]]) -> str:
        logits = run.logits(np.array(together, np.int32))
        said = (
            _difference(run, f"row {index} of {together}", logits[index], run.logits(one_row(row))[0])
            for index, row in enumerate(together)
        )
        return next(filter(None, said), "")

    return search.smallest(st.lists(rows_of(run, run.short), min_size=3, max_size=3), complaint)


def segment_isolation(run: DecoderRun, search: Search) -> str:
    """Where segments tell two documents of a row apart, the second one's logits know nothing of the first."""
    if not run.view.segments:
        raise NotApplicable(TAKES_NO_SEGMENTS)

    def complaint(example: tuple[Change, int]) -> str:
        change, cut = example
        segments = documents(len(change.row), cut)
        by = moved(run.logits(change.before, segments)[0], run.logits(change.after, segments)[0])
        said = change.complaint(by[cut:], first=cut, leak=run.view.leak)
        return f"with the documents cut at {cut}, {said}" if said else ""

    found = search.smallest(changes_before(run), complaint)
    search.notes.append(control(run))
    segments = documents(run.short, run.short // 2)
    return found or _gradient_complaint(run, search, forbidden=segments < segments.T, segments=segments)


def cache(run: DecoderRun, search: Search) -> str:
    """Logits read from a cache, after any number of tokens at once and then one by one, are those of the whole row."""
    init_cache, step = run.view.init_cache, run.view.step
    if init_cache is None or step is None:
        raise NotApplicable("it has no cache: from_apply takes init_cache and step")
    params = run.rebuilt(run.arrays)

    def complaint(example: tuple[list[int], int]) -> str:
        row, prefill = example
        state, parts = init_cache(1, len(row)), []
        for chunk in [row[:prefill], *([token] for token in row[prefill:])]:
            logits, state = step(params, jnp.asarray(one_row(chunk)), state)
            parts.append(np.asarray(logits.astype(jnp.float32)))
        got, whole = np.concatenate(parts, axis=1)[0], run.logits(one_row(row))[0]
        return _difference(run, f"{row}, the first {prefill} at once,", got, whole)

    return search.smallest(st.tuples(rows_of(run, run.short), st.integers(1, run.short)), complaint)


_A_FUNCTION = ("shape", "deterministic")

LAWS = (
    Law(shape),
    Law(symbolic_shape, needs=("shape",)),
    Law(deterministic, needs=("shape",)),
    Law(float32_logits, needs=("shape",)),
    Law(finite_logits, needs=_A_FUNCTION),
    Law(own_token, needs=(*_A_FUNCTION, "finite-logits")),
    Law(causality, needs=_A_FUNCTION),
    Law(padding, needs=(*_A_FUNCTION, "causality")),
    Law(batch, needs=_A_FUNCTION),
    Law(row_isolation, needs=(*_A_FUNCTION, "batch")),
    Law(segment_isolation, needs=_A_FUNCTION),
    Law(segment_gradient, needs=(*_A_FUNCTION, "segment-isolation")),
    Law(cache, needs=(*_A_FUNCTION, "causality")),
)


def _difference(run: DecoderRun, what: str, got: np.ndarray, expected: np.ndarray) -> str:
    """That two computations of the same logits T x V differ by more than another order of summation explains."""
    largest = max(float(np.abs(expected).max()), np.finfo(np.float32).tiny)
    error = moved(expected, got).max(axis=-1) / largest
    if not (error > run.tolerance).any():
        return ""
    position = int((error > run.tolerance).argmax())
    return f"{what} differs at position {position} by {error[position]:.2g} of the largest logit"


def _gradient_complaint(
    run: DecoderRun, search: Search, forbidden: np.ndarray, segments: np.ndarray | None = None
) -> str:
    """That the gradient of a position's logits reaches a token, where `forbidden[position, token]`."""
    try:
        reach = influence(run, segments)
    except Exception as error:
        search.notes.append(f"no gradient ({raised(error)})")
        return ""
    if reach is None:
        return ""
    search.notes.append("the gradient of every position")
    reached = np.argwhere((reach > run.view.leak) & forbidden)
    if not reached.size:
        return ""
    position, token = reached[0]
    return f"the gradient of the logits of position {position} reaches token {token}: {reach[position, token]:.3g}"
