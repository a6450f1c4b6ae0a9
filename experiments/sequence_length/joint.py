"""Two vocabularies of one size and as many training bytes: English alone, or half English and half another language."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contracts.measures import CountsBySize
from contracts.results import Factor, Row
from experiments.corpora import english_of
from experiments.sequence_length.columns import VIEWS, Taught, View, swapped, teach, vocabulary_rows
from experiments.sequence_length.parity import aligned, ratio_row
from experiments.sequence_length.question import SequenceLength
from experiments.sequence_length.texts import HALVES, Text
from research.measures import Ratio, paired_ratios

#: A vocabulary learned from less says nothing about a language.
LEAST_BYTES = 1_000
_KOREAN = ("ko", "kor", "korean")


@dataclass(frozen=True, eq=False)
class Joint:
    """What both vocabularies make of both languages, at every size that all trainings reached."""

    english: Text
    other: Text
    sizes: tuple[int, ...]
    vocabularies: dict[str, Taught]
    """`english-only` and `joint`"""
    counts: dict[tuple[str, str, View], CountsBySize]
    """by vocabulary, name of the text, and view"""
    ratios: dict[tuple[str, View], list[Ratio]]
    """joint over English-only, size by size, for each text and for `both`"""

    def bytes_per_token(self, vocabulary: str, text: Text, view: View) -> list[float]:
        """Size by size."""
        return [text.bytes / int(tokens.sum()) for tokens in self.counts[vocabulary, text.name, view]]

    def ratio(self, text: str, view: View = "unseen") -> Ratio:
        """Joint over English-only at the largest size."""
        return self.ratios[text, view][-1]

    @property
    def judgement(self) -> str:
        """The decision rule: `better`, `worse` or `undecided`."""
        both = self.ratio("both")
        return "better" if both.below(1) else "worse" if both.above(1) else "undecided"


def partner(texts: Sequence[Text]) -> tuple[Text, Text] | str:
    """English and the language to join it with: Korean, else the largest aligned one; or why there is none."""
    reason = "no group of the corpus has an English text (by its name: en, eng, english)"
    for group in dict.fromkeys(text.group for text in texts):
        members = [text for text in texts if text.group == group]
        cut = english_of([text.cut for text in members])
        if cut is None:
            continue
        english = next(text for text in members if text.cut is cut)
        others = [text for text in members if text is not english and aligned(text, english)]
        if others:
            korean = [text for text in others if set(_KOREAN) & set(words_of(text.name))]
            return english, (korean or sorted(others, key=lambda text: text.bytes, reverse=True))[0]
        reason = f"no text is aligned line by line with {english.name}"
    return reason


def words_of(name: str) -> list[str]:
    """The letters of a slice's name, word by word: `pydocs.ko` gives `pydocs` and `ko`."""
    return "".join(character if character.isalpha() else " " for character in name.lower()).split()


def compare(texts: Sequence[Text], arguments: SequenceLength) -> Joint | str:
    """Train both vocabularies on each half and count both languages under them; or why that can't be done.

    Both learn from the same number of bytes: all that the smaller of the two languages has in a half. English-only
    takes them from English, the joint one half from each.
    """
    pair = partner(texts)
    if isinstance(pair, str):
        return pair
    english, other = pair
    pattern, wanted = arguments.pattern, max(arguments.vocab_sizes)
    limit = min(
        arguments.train_bytes,
        *(int(text.pretokens(pattern).bytes[text.half == half].sum()) for text in pair for half in HALVES),
    )
    if limit < LEAST_BYTES:
        return f"{english.name} and {other.name} have fewer than {LEAST_BYTES:,} bytes to learn from in each half"
    vocabularies = {
        "english-only": teach([(english, limit)], wanted, pattern),
        "joint": teach([(english, limit // 2), (other, limit // 2)], wanted, pattern),
    }
    reached = min(taught.reached for taught in vocabularies.values())
    sizes = sorted({size for size in arguments.vocab_sizes if size <= reached} or {reached})
    counts = {
        (name, text.name, view): count
        for name, taught in vocabularies.items()
        for text in (english, other)
        for view, count in swapped(text, taught, sizes, pattern).items()
    }
    return Joint(english, other, tuple(sizes), vocabularies, counts, _ratios(english, other, counts, arguments))


def _ratios(
    english: Text, other: Text, counts: dict[tuple[str, str, View], CountsBySize], arguments: SequenceLength
) -> dict[tuple[str, View], list[Ratio]]:
    ratios = {}
    for view in VIEWS:
        totals = {
            name: [counts[name, english.name, view], counts[name, other.name, view]]
            for name in ("english-only", "joint")
        }
        for parts in totals.values():
            parts.append(parts[0] + parts[1])
        stacked = {name: np.concatenate(parts) for name, parts in totals.items()}
        found = paired_ratios(stacked["joint"], stacked["english-only"], arguments.resamples, arguments.seed)
        step = len(found) // 3
        for index, name in enumerate((english.name, other.name, "both")):
            ratios[name, view] = found[index * step : (index + 1) * step]
    return ratios


def joint_rows(joint: Joint, arguments: SequenceLength) -> list[Row]:
    """Vocabularies, tokens, bytes a token, and the ratios with their intervals."""
    rows = []
    for name, taught in joint.vocabularies.items():
        rows += vocabulary_rows(taught, max(arguments.vocab_sizes), arguments.pattern, of=name)
        for text in (joint.english, joint.other):
            for view in VIEWS:
                tokens = joint.counts[name, text.name, view].sum(axis=1)
                for size, count in zip(joint.sizes, tokens.tolist(), strict=True):
                    factors: dict[str, Factor] = {
                        "slice": text.name,
                        "vocabulary_of": name,
                        "vocabulary": size,
                        "text": view,
                    }
                    share = text.bytes / count
                    rows.append(Row("tokens", count, "tokens", "exact", "count", factors))
                    rows.append(Row("bytes_per_token", share, "bytes/token", "exact", "count", factors))
    for (name, view), ratios in joint.ratios.items():
        for size, ratio in zip(joint.sizes, ratios, strict=True):
            rows.append(ratio_row("joint_over_english_only", ratio, {"slice": name, "vocabulary": size, "text": view}))
    return rows
