"""Tables of what kind of tokens a text gets, of fairness between languages, and of JSON written in other ways."""

from collections.abc import Callable

from experiments.sequence_length.cells import by_text, names
from experiments.sequence_length.columns import Column
from experiments.sequence_length.findings import Findings
from experiments.sequence_length.intrinsic import Intrinsic
from experiments.sequence_length.question import ALPHA
from experiments.sequence_length.texts import Text
from experiments.tables import Table, number, percent


def words_table(found: Findings) -> Table:
    def cell(one: Intrinsic) -> str:
        return f"{number(one.fertility)} ({percent(one.kept_whole)})" if one.words else "-"

    return _by_text(
        found,
        "Tokens a word",
        cell,
        "A word stands between white space, without punctuation and symbols at its ends (in scripts without spaces a "
        "clause); counted are the tokens that hold some of it. In brackets: words that a single token holds.",
    )


def kinds_table(found: Findings) -> Table:
    return _by_text(
        found,
        "Tokens of a single byte",
        lambda one: f"{percent(one.single_byte)} ({percent(one.broken)})",
        "Of all tokens: ASCII letters, digits, single spaces and what was never merged. In brackets: tokens of any "
        "length that are not valid UTF-8 alone, after which half a character has been written.",
    )


def evenness_table(found: Findings) -> Table:
    return _by_text(
        found,
        f"How evenly ids are used: Rényi efficiency, alpha = {ALPHA}",
        lambda one: number(one.evenness),
        "1 if every id of the vocabulary stood equally often, 0 if one alone.",
    )


def _by_text(found: Findings, title: str, cell: Callable[[Intrinsic], str], note: str) -> Table:
    cells = {(one.text, one.column.name): cell(one) for one in found.intrinsics}

    def of(text: Text, column: Column) -> str:
        return cells[text, column.name]

    return Table(title, ("text", *names(found.shown)), by_text(found, found.shown, of), note)


def fairness_table(found: Findings) -> Table:
    groups = dict.fromkeys((one.group, one.languages) for one in found.fairness)
    cells = {(one.column.name, one.group): one.gini for one in found.fairness}
    rows = []
    for column in found.columns:
        ginis = [cells[column.name, group] for group, _ in groups]
        rows.append((column.name, *(f"{gini.value:.3f} [{gini.low:.3f}, {gini.high:.3f}]" for gini in ginis)))
    return Table(
        "How unevenly languages are charged: Gini",
        ("tokenizer", *(f"{group} ({count})" for group, count in groups)),
        tuple(rows),
        "Of the tokens of the same content over all aligned languages of a group: 0 if all cost the same, towards 1 "
        "if one bears all.",
    )


def reformatted_table(found: Findings) -> Table:
    rows = tuple(
        (f"{one.text.name}, {one.form}", *(number(one.ratios[name]) for name in names(found.shown)))
        for one in found.reformatted
    )
    return Table(
        "The same JSON, relative to compact",
        ("text and form", *names(found.shown)),
        rows,
        "Tokens of every text that is JSON, written again in other ways.",
    )
