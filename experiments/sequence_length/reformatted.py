"""The same JSON written in other ways: what the tokens of indentation and escapes are, next to compact."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from contracts.results import Row
from experiments.sequence_length.columns import Column
from experiments.sequence_length.lengths import named
from experiments.sequence_length.texts import Text
from research.measures import pretokens
from research.progress import progress
from research.tokenizers.pretokenize import pretokenizer

COMPACT = "compact"
#: How `json.dumps` writes each form.
FORMS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        COMPACT: {"separators": (",", ":")},
        "indent 2": {"indent": 2},
        "indent 8": {"indent": 8},
        "tabs": {"indent": "\t"},
        "compact, ASCII escapes": {"separators": (",", ":"), "ensure_ascii": True},
    }
)
#: Of a text with more characters, the documents up to there are rewritten, the first one in any case.
_MOST_CHARACTERS = 1_000_000


@dataclass(frozen=True)
class Reformatted:
    """One text in one form over the same text in compact form, by column."""

    text: Text
    form: str
    ratios: dict[str, float]


def in_form(content: Any, form: str) -> str:
    """`content` as JSON in one of `FORMS`."""
    return json.dumps(content, **{"ensure_ascii": False, **FORMS[form]})


def reformatted(texts: Sequence[Text], columns: Sequence[Column]) -> list[Reformatted]:
    """Every text whose documents are all JSON, in every form but compact; of texts with the same content the first.

    Of a learned pair the vocabulary that did not learn from a document measures it; a text of a single document,
    whose lines alternate, is measured by the one that its odd lines taught.
    """
    some: list[tuple[Text, list[Any]]] = []
    for text in texts:
        contents = _contents(text)
        if contents and all(contents != other for _, other in some):
            some.append((text, contents))
    found = []
    with progress("rewriting JSON", total=len(some), unit="slices") as bar:
        for text, contents in some:
            compact = _tokens(contents, COMPACT, columns)
            for form in FORMS:
                if form != COMPACT:
                    tokens = _tokens(contents, form, columns)
                    ratios = {name: tokens[name] / compact[name] for name in tokens}
                    found.append(Reformatted(text, form, ratios))
            bar.advance()
    return found


def _contents(text: Text) -> list[Any]:
    """The first documents as JSON; none if one of them is no object or array."""
    contents, characters = [], 0
    for document in text.cut.documents:
        if characters >= _MOST_CHARACTERS:
            break
        if not document.lstrip().startswith(("{", "[")):
            return []
        try:
            contents.append(json.loads(document))
        except (ValueError, RecursionError):
            return []
        characters += len(document)
    return contents


def _tokens(contents: Sequence[Any], form: str, columns: Sequence[Column]) -> dict[str, int]:
    written = [in_form(content, form) for content in contents]
    return {
        column.name: sum(_length(written[half::2], column, half) for half in (0, 1) if written[half::2])
        for column in columns
    }


def _length(documents: Sequence[str], column: Column, half: int) -> int:
    tokenizer = column.by_half[half]
    cut = pretokens(documents, "", pretokenizer(tokenizer.pattern or "words"))
    return int(cut.tokens(tokenizer, [column.vocabulary]).sum())


def reformatted_rows(found: Sequence[Reformatted]) -> list[Row]:
    """Tokens in a form over tokens in compact form."""
    return [
        Row(
            "tokens_over_compact",
            ratio,
            "ratio",
            "exact",
            "count",
            {**named(one.text), "form": one.form, "tokenizer": name},
        )
        for one in found
        for name, ratio in one.ratios.items()
    ]
