"""The tables, the summary first: what every decoder is worth beside the baselines, then the comparisons."""

from statistics import fmean, stdev

from experiments.ablation import Arm
from experiments.ablation.statistics import foreseen
from experiments.bits_per_byte.arms import BASE, EQUAL_BYTES, EQUAL_TOKENS, WIDE
from experiments.bits_per_byte.compare import ALL, BASELINES, Comparison, Results
from experiments.bits_per_byte.question import MARGIN
from experiments.tables import Table, number, si


def tables(results: Results) -> list[Table]:
    """Every table, the summary first."""
    return [_worths(results), _comparisons(results), _boundaries(results), _contexts(results), _arms(results)]


def _worths(results: Results) -> Table:
    rows = [(_name(arm), *(_mean(results.values(arm, text)) for text in results.judged)) for arm in results.outcomes]
    rows += [(name, *(f"{results.baselines[name, text]:.3f}" for text in results.judged)) for name in BASELINES]
    texts = results.prepared.texts
    held_out = sum(len(document.encode()) for documents in texts.held_out.values() for document in documents)
    seeds = results.prepared.arguments.seeds
    return Table(
        "Bits a byte of held-out text (bpb_total)",
        ("decoder", *results.judged),
        tuple(rows),
        f"Mean +- standard deviation of {seeds} seeds, each read when {number(results.text_bytes)} bytes of text were "
        f"trained on, on {number(held_out)} bytes held out. Windows of equal mean bytes over the mixed text, not over "
        "each text alone, for all; each repeats half of the one before it. The "
        f"5-gram and xz know the whole training text ({si(texts.train_bytes, 'B')}).",
    )


def _comparisons(results: Results) -> Table:
    return Table(
        "BPE against bytes, in bits a byte (below 0 BPE is better)",
        ("vocabulary", "equal", "both read at", "text", "difference [95 %]", "verdict"),
        (
            *(_row(one) for one in results.comparisons if one.factor == "tokenizer"),
            *((one.arm, one.held, si(one.at, "FLOPs"), "every text", "", str(one)) for one in results.incomparable),
        ),
        f"{_power(results)} Read from the stored curves, by a line in the logarithm of bytes or FLOPs. At equal "
        "parameters the byte decoder is read at equal bytes between two widths, by a line in the logarithm of "
        "parameters.",
    )


def _boundaries(results: Results) -> Table:
    return Table(
        "Separate against shared boundary, in bits a byte (below 0 separate is better)",
        ("arm", "equal", "both read at", "text", "difference [95 %]", "verdict"),
        tuple(_row(one) for one in results.comparisons if one.factor == "boundary"),
        "bpb_total, which alone sees what predicting the end of a document costs.",
    )


def _row(one: Comparison) -> tuple[str, ...]:
    unit = {"text bytes": "B", "training FLOPs": "FLOPs", "parameters": ""}[one.held]
    return one.arm, one.held, si(one.at, unit), one.text, str(one.difference), str(one.verdict)


def _contexts(results: Results) -> Table:
    arms: list[Arm] = [(name, "shared", BASE) for name in results.names]
    rows = []
    for arm in arms:
        cell = results.prepared.by_arm[arm][0]
        per_token = cell.material.train.counts.bytes / len(cell.material.train.tokens)
        cells = []
        for context in (EQUAL_BYTES, EQUAL_TOKENS):
            length = cell.contexts[context].length
            cells += [f"{length} ({length * per_token:.0f} B)", _mean(results.values(arm, ALL, context))]
        held_out = cell.material.held_out.values()
        of_texts = [cell.config.length * stream.counts.bytes / len(stream.tokens) for stream in held_out]
        rows.append((arm[0], *cells, *(f"{value:.0f} B" for value in of_texts)))
    return Table(
        "What the window does: equal bytes and equal tokens",
        (
            "decoder",
            "window, equal bytes",
            "bpb_total",
            "window, equal tokens",
            "bpb_total ",
            *(f"equal bytes, on {text}" for text in results.prepared.texts.names),
        ),
        tuple(rows),
        f"After {number(results.text_bytes)} bytes of text. The same decoders, scored again in windows of equally many "
        "tokens: those of the largest vocabulary then see "
        "the most text. A context in tokens is no equal context. Equal bytes are "
        "equal over the mixed training text: on a text that a vocabulary serves worse its windows hold fewer.",
    )


def _arms(results: Results) -> Table:
    rows = []
    for arm, cells in results.prepared.by_arm.items():
        cell, outcomes = cells[0], results.outcomes[arm]
        read, unique = fmean(one.reached("text_bytes") for one in outcomes), cell.material.train.counts.bytes
        rows.append(
            (
                _name(arm),
                str(cell.config.decoder.vocab_size),
                number(cell.parameters),
                str(cell.config.decoder.d_model),
                str(cell.config.length),
                str(cell.config.steps),
                number(read, 0),
                number(unique),
                number(read / unique, 1),
                si(cell.flops, "FLOPs"),
            )
        )
    return Table(
        "What was trained",
        ("decoder", "ids", "parameters", "width", "row", "steps", "bytes read", "unique", "epochs", "training"),
        tuple(rows),
        "All have the same layers, so that parameters differ by embedding and head alone, but for the wide one. FLOPs "
        "are matmuls of forward and backward pass with exactly causal attention. The learning rate is constant after "
        "the warm-up, so that each point of a curve is a training that ended there. One learning rate, "
        f"{results.prepared.arguments.peak_learning_rate:g}, serves all decoders and was tuned for none: another may "
        "favour another one. Unique bytes are those of the training text, of which an epoch reads each once.",
    )


def _power(results: Results) -> str:
    arguments = results.prepared.arguments
    return f"Said before the run: {foreseen(arguments.seeds, arguments.assumed_spread, MARGIN)}."


def _mean(values: list[float]) -> str:
    return f"{fmean(values):.3f} +- {stdev(values):.3f}"


def _name(arm: Arm) -> str:
    return f"{arm[0]}, {arm[1]}" + (", wide" if arm[2] == WIDE else "")
