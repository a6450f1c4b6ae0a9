"""The tables, the summary first: bytes a token under the three vocabularies, then ratios, and what merges are worth."""

from experiments.sequence_length.cells import spelled
from experiments.tables import Table, number, percent
from experiments.vocabulary_language.compare import Comparison, alone
from experiments.vocabulary_language.worth import Worth


def tables(found: Comparison, worths: list[Worth]) -> list[Table]:
    """Every table that has something to show, the summary first."""
    some = [_density(found), _ratios(found), _worths(found, worths)]
    if found.parities:
        some.append(_parities(found))
    return [*some, _vocabularies(found)]


def _density(found: Comparison) -> Table:
    columns = [(one.name, language) for one in found.vocabularies for language in found.languages]
    rows = tuple(
        (number(size), *(number(found.bytes_per_token(name, language)[index], 3) for name, language in columns))
        for index, size in enumerate(found.sizes)
    )
    texts = " and ".join(f"{number(language.bytes)} bytes of {language.name}" for language in found.languages)
    return Table(
        "Bytes a token under three vocabularies",
        ("vocabulary", *(f"{name}: {language.name}" for name, language in columns)),
        rows,
        f"On unseen text, {texts}. Every vocabulary learned from the same number of bytes, the joint one half of them "
        "from each language.",
    )


def _ratios(found: Comparison) -> Table:
    rows = tuple(
        (number(size), *(spelled(ratios[index]) for ratios in found.over_alone.values()))
        for index, size in enumerate(found.sizes)
    )
    return Table(
        "Tokens under the joint vocabulary, relative to one language's alone",
        ("vocabulary", *(f"{name}, over {vocabulary}" for vocabulary, name in found.over_alone)),
        rows,
        f"With the 95 % interval of a paired bootstrap over {_units(found)} ({found.arguments.resamples:,} draws).",
    )


def _units(found: Comparison) -> str:
    counts = dict.fromkeys(int(language.held_out.sum()) for language in found.languages)
    return " and ".join(f"{count:,}" for count in counts) + " units"


def _worths(found: Comparison, worths: list[Worth]) -> Table:
    def cell(size: int, name: str) -> str:
        worth = next((one for one in worths if one.size == size and one.language.name == name), None)
        return "more than it has" if worth is None else f"{number(worth.merges)} ({percent(worth.share)})"

    rows = tuple(
        (number(size), number(size - 256), *(cell(size, language.name) for language in found.languages))
        for size in found.sizes
    )
    return Table(
        "What joint merges are worth",
        ("vocabulary", "joint merges", *(f"in merges of {alone(language)}" for language in found.languages)),
        rows,
        "The fewest merges of a language's own vocabulary that cut its text into no more tokens than the joint one; "
        "in brackets the share of the joint merges. Shares that sum to more than 100 % say that merges are shared.",
    )


def _parities(found: Comparison) -> Table:
    rows = tuple(
        (number(size), *(spelled(ratios[index]) for ratios in found.parities.values()))
        for index, size in enumerate(found.sizes)
    )
    return Table(
        f"Tokens of {found.other.name}, relative to the same content in {found.english.name}",
        ("vocabulary", *found.parities),
        rows,
        f"In bytes: {number(found.other.bytes / found.english.bytes, 3)}.",
    )


def _vocabularies(found: Comparison) -> Table:
    rows = tuple(
        (
            one.name,
            number(one.bytes),
            number(max(found.arguments.vocab_sizes)),
            number(one.tokenizer.text_vocab_size),
            str(one.tokenizer.stop_reason),
        )
        for one in found.vocabularies
    )
    return Table(
        "Vocabularies: requested and reached",
        ("vocabulary", "training bytes", "requested", "reached", "why training stopped"),
        rows,
        "A size is an upper bound; only sizes that all three reached are compared.",
    )
