"""The tables, the summary first: the same content against its yardstick, then lengths and what follows from them."""

from experiments.corpora import decisions
from experiments.sequence_length import intrinsic_tables, loss_tables
from experiments.sequence_length.cells import by_text, names, ranked, spelled
from experiments.sequence_length.columns import Column
from experiments.sequence_length.findings import Findings
from experiments.sequence_length.texts import Text
from experiments.tables import Table, number


def tables(found: Findings) -> list[Table]:
    """Every table that has something to show, the summary first."""
    some = [_parity(found)] if found.parities else []
    some += [_density(found), _text(found), _tokens(found), _attention(found), _context(found)]
    some += [intrinsic_tables.words_table(found), intrinsic_tables.kinds_table(found)]
    some.append(intrinsic_tables.evenness_table(found))
    if found.fairness:
        some.append(intrinsic_tables.fairness_table(found))
    if found.arguments.price_per_million is not None:
        some.append(_bill(found))
    some.append(loss_tables.vocabulary_table(found))
    if not isinstance(found.joint, str):
        some.append(loss_tables.joint_table(found.joint))
    some.append(loss_tables.baseline_table(found))
    if found.guesses:
        some.append(loss_tables.guess_table(found))
    some.append(loss_tables.emoji_table(found))
    others = [loss_tables.decomposed_table(found), intrinsic_tables.reformatted_table(found)]
    return [*some, *(table for table in others if table.rows)]


def _parity(found: Findings) -> Table:
    rows = []
    for text in ranked(found):
        first = found.parities[text, "bytes"]
        cells = [found.parities[text, column.name] for column in found.shown]
        rows.append(
            (
                text.name,
                first.yardstick.name,
                *(spelled(one.ratio) if one.ratio else number(one.value) for one in cells),
            )
        )
    return Table(
        "Tokens of the same content, relative to its yardstick",
        ("text", "yardstick", *names(found.shown)),
        tuple(rows),
        f"All units joined, sum over sum, with the 95 % interval of a paired bootstrap over "
        f"{_units(found)} ({found.arguments.resamples:,} draws). A ratio without interval is of whole texts that are "
        "not aligned: it holds only if they say the same. bpe-N is measured on the half of the documents that it did "
        "not learn from.",
    )


def _units(found: Findings) -> str:
    counts = {parity.ratio.n for parity in found.parities.values() if parity.ratio}
    return " or ".join(f"{count:,}" for count in sorted(counts)) + " aligned units" if counts else "aligned units"


def _density(found: Findings) -> Table:
    others = [column for column in found.columns if column.name != "bytes"]

    def cell(text: Text, column: Column) -> str:
        unseen = number(text.bytes / found.tokens(text, column))
        return f"{unseen} ({number(text.bytes / found.tokens(text, column, 'seen'))})" if column.learned else unseen

    return Table(
        "Bytes a token",
        ("text", *names(others)),
        by_text(found, others, cell),
        "On unseen text; in brackets on the half that taught the vocabulary. bpe-N learned from one half of all texts "
        "together and is counted on the other half; one training a half, truncated to N.",
    )


def _text(found: Findings) -> Table:
    rows = tuple(
        (
            text.name,
            number(len(text.cut.documents)),
            number(text.characters),
            number(text.bytes),
            number(text.bytes / text.characters),
            number((text.bytes / text.characters) ** 2, 1),
        )
        for text in found.texts
    )
    return Table(
        "The text",
        ("text", "documents", "characters N", "bytes T", "T / N", "(T / N)²"),
        rows,
        f"N <= T <= 4 N was checked on all {found.documents:,} documents; none breaks it. (T / N)² is what attention "
        "over bytes costs against attention over characters."
        + "".join(f" {sentence}." for sentence in decisions([text.cut for text in found.texts])),
    )


def _tokens(found: Findings) -> Table:
    return Table(
        "Tokens",
        ("text", *names(found.columns)),
        by_text(found, found.columns, lambda text, column: number(found.tokens(text, column))),
        "Of the whole text, unseen. Aligned lines are joined by a space, documents by what separates them.",
    )


def _attention(found: Findings) -> Table:
    def cell(text: Text, column: Column) -> str:
        against_bytes = (
            "1" if column.name == "bytes" else f"1/{number((text.bytes / found.tokens(text, column)) ** 2, 1)}"
        )
        parity = found.parities.get((text, column.name))
        return f"{against_bytes} ({number(parity.value**2, 1)})" if parity else against_bytes

    return Table(
        "Attention: T²",
        ("text", *names(found.shown)),
        by_text(found, found.shown, cell),
        "Scores and weighted sum over the same text, where bytes are 1. In brackets: relative to the yardstick under "
        "the same tokenizer.",
    )


def _context(found: Findings) -> Table:
    context = found.arguments.context

    def cell(text: Text, column: Column) -> str:
        tokens = found.tokens(text, column)
        return f"{number(round(context * text.characters / tokens))} ({number(tokens / context, 1)})"

    return Table(
        f"Characters in a context of {context:,} tokens",
        ("text", *names(found.shown)),
        by_text(found, found.shown, cell),
        "In brackets: how many such contexts the whole text fills.",
    )


def _bill(found: Findings) -> Table:
    price = found.arguments.price_per_million or 0

    def cell(text: Text, column: Column) -> str:
        parity = found.parities.get((text, column.name))
        relative = f" ({number(parity.value)}x)" if parity else ""
        return f"{found.tokens(text, column) / 1e6 * price:.4g}{relative}"

    return Table(
        f"The bill at {price:g} a million tokens",
        ("text", *names(found.shown)),
        by_text(found, found.shown, cell),
        "In brackets: relative to the same content in the yardstick.",
    )
