"""The answer in sentences: what the decision rule says, and what a reader should take home."""

from collections.abc import Sequence

from experiments.sequence_length.cells import spelled
from experiments.tables import number, percent
from experiments.vocabulary_language.compare import BOTH, JOINT, Comparison, alone
from experiments.vocabulary_language.question import IN_BYTES
from experiments.vocabulary_language.worth import Worth


def verdict(found: Comparison) -> str:
    """Order, what is left in bytes, cost and gain, and both languages together."""
    return " ".join([_on_order(found), _on_bytes(found), _on_cost(found), _on_both(found)])


def _on_order(found: Comparison) -> str:
    between = [found.lies_between(index) for index in range(len(found.sizes))]
    if all(between):
        return f"On both languages the joint vocabulary lies between the two at each of {len(between)} sizes."
    missed = ", ".join(number(size) for size, holds in zip(found.sizes, between, strict=True) if not holds)
    return f"The joint vocabulary lies between the two at {sum(between)} of {len(between)} sizes (not at {missed})."


def _on_bytes(found: Comparison) -> str:
    most = max(found.bytes_per_token(alone(found.english), found.other))
    left = "leaves" if most < IN_BYTES else "does not leave"
    return f"{alone(found.english)} {left} {found.other.name} in bytes (at most {number(most, 3)} bytes a token)."


def _on_cost(found: Comparison) -> str:
    english, other = (found.over_alone[alone(found.english), one.name][found.at] for one in found.languages)
    return (
        f"At {number(found.sizes[found.at])} joint takes {spelled(english)} of the tokens of {alone(found.english)} on "
        f"{found.english.name} and {spelled(other)} on {found.other.name}."
    )


def _on_both(found: Comparison) -> str:
    ratios = found.over_alone.get((alone(found.english), BOTH))
    if ratios is None:
        return "Both languages together: not judged, their units are not aligned."
    both = ratios[found.at]
    judgement = "better" if both.below(1) else "worse" if both.above(1) else "undecided"
    return f"For both together: {judgement} ({spelled(both)})."


def highlights(found: Comparison, worths: Sequence[Worth]) -> list[str]:
    """One sentence for each part of the question, with its number."""
    lines = [_on_own(found), *_on_worth(found, worths), _on_growth(found)]
    return [*lines, _on_parity(found)] if found.parities else lines


def _on_own(found: Comparison) -> str:
    own = ((language, found.over_alone[alone(language), language.name][found.at]) for language in found.languages)
    costs = " and ".join(f"{language.name} {100 * (ratio.value - 1):+.1f} %" for language, ratio in own)
    return f"Against a vocabulary of its own, a shared one of {number(found.sizes[found.at])} takes {costs} tokens."


def _on_worth(found: Comparison, worths: Sequence[Worth]) -> list[str]:
    size = found.sizes[found.at]
    shares = [
        f"{percent(one.share)} of as many of its own to {one.language.name}" for one in worths if one.size == size
    ]
    return [f"The {number(size - 256)} joint merges are worth {', '.join(shares)}."] if shares else []


def _on_growth(found: Comparison) -> str:
    vocabulary, language = alone(found.english), found.other
    first, last = (found.measured[vocabulary, language.name].tokens[index] for index in (0, -1))
    return (
        f"From {number(found.sizes[0])} to {number(found.sizes[-1])} tokens, {vocabulary} shortens {language.name} by "
        f"{percent(1 - last / first)}, while every token of it pays for all the rows."
    )


def _on_parity(found: Comparison) -> str:
    only, joint = (found.parities[name][found.at] for name in (alone(found.english), JOINT))
    return (
        f"For the same content {found.other.name} takes {number(found.other.bytes / found.english.bytes)} times the "
        f"bytes of {found.english.name}; at {number(found.sizes[found.at])} {spelled(only)} times the tokens of "
        f"{alone(found.english)}, and {spelled(joint)} times those of the joint vocabulary."
    )
