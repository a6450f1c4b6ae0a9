"""The answer in sentences: what the decision rule says, and what a reader should take home."""

from collections import Counter
from collections.abc import Sequence

from experiments.sequence_length.cells import spelled
from experiments.sequence_length.findings import Findings
from experiments.sequence_length.joint import Joint
from experiments.sequence_length.parity import Parity
from experiments.sequence_length.texts import Text
from experiments.tables import number, percent

#: So many texts are judged one by one in a sentence; of more, each judgement is counted.
_FEW = 4


def verdict(found: Findings) -> str:
    """Each shown tokenizer by the rule of parity, then joint against English-only."""
    return f"{_on_parity(found)} {_on_joint(found.joint)}"


def named_texts(found: Findings) -> list[Text]:
    """The texts that the verdict on parity names, each once."""
    sets = [[parity for parity in _judged_parities(found) if parity.column is column] for column in found.shown]
    named = (few if len(few) <= _FEW else [_dearest(few)] for few in sets)
    return list(dict.fromkeys(parity.text for some in named for parity in some))


def _judged_parities(found: Findings) -> list[Parity]:
    """Those with an interval: against English where there is any."""
    judged = [parity for parity in found.parities.values() if parity.ratio is not None]
    return [parity for parity in judged if parity.yardstick.cut.is_english] or judged


def _dearest(parities: Sequence[Parity]) -> Parity:
    return max(parities, key=lambda parity: parity.value)


def _on_parity(found: Findings) -> str:
    judged = _judged_parities(found)
    if not judged:
        return "Parity: not judged, no text of the corpus is aligned with an English one."
    kind = "English" if judged[0].yardstick.cut.is_english else judged[0].yardstick.name
    sentences = [f"{column.name}: {_judged([p for p in judged if p.column is column])}" for column in found.shown]
    return f"Against {kind} (parity with 95 % interval) " + "; ".join(sentences) + "."


def _judged(parities: Sequence[Parity]) -> str:
    if len(parities) <= _FEW:
        return ", ".join(f"{p.text.name} {p.judgement} ({spelled(p.ratio)})" for p in parities if p.ratio)
    most = _dearest(parities)
    counts = Counter(parity.judgement for parity in parities).most_common()
    counted = ", ".join(f"{count} {judgement}" for judgement, count in counts)
    return f"of {len(parities)} texts {counted}, the dearest {most.text.name} ({spelled(most.ratio)})"


def _on_joint(joint: Joint | str) -> str:
    if isinstance(joint, str):
        return f"Joint against English-only: not judged, {joint}."
    english, other = joint.english.name, joint.other.name
    return (
        f"A joint vocabulary of {joint.sizes[-1]:,} against an English-only one: {joint.judgement}, on unseen text "
        f"{english} and {other} together take {spelled(joint.ratio('both'))} of the tokens ({english} "
        f"{spelled(joint.ratio(english))}, {other} {spelled(joint.ratio(other))})."
    )


def highlights(found: Findings) -> list[str]:
    """One sentence for each part of the question, with its number."""
    lines = [_on_length(found), _on_size(found), *_on_words(found), *_on_fairness(found)]
    formats = [p for p in found.parities.values() if not p.yardstick.cut.is_english and p.column in found.shown]
    if formats:
        dearest = max(formats, key=lambda parity: parity.value).text
        ratios = ", ".join(f"{p.value:.2f} {p.column.name}" for p in formats if p.text is dearest)
        lines.append(f"{dearest.name} over {formats[0].yardstick.name}, in tokens: {ratios}.")
    return [*lines, *_losses(found), *_signs(found)]


def _on_length(found: Findings) -> str:
    densest = max(found.texts, key=lambda text: text.bytes / text.characters)
    per_character = densest.bytes / densest.characters
    return (
        f"N <= T <= 4 N holds on all {found.documents:,} documents. Most bytes a character: {densest.name} with "
        f"{per_character:.2f}, so attention over its bytes costs {per_character**2:.1f} times attention over its "
        "characters; 16 times needs four bytes in every character."
    )


def _on_size(found: Findings) -> str:
    first, second = found.taught.tokenizers
    return (
        f"Of {found.requested:,} tokens asked for, the halves of the corpus gave {first.text_vocab_size:,} and "
        f"{second.text_vocab_size:,} ({first.stop_reason})."
    )


def _on_words(found: Findings) -> list[str]:
    """The languages whose words are cut least and most; of a corpus without aligned languages, the texts."""
    groups = {one.group for one in found.fairness} or {text.group for text in found.texts}
    last = [one for one in found.intrinsics if one.column is found.shown[-1] and one.words]
    some = sorted((one for one in last if one.text.group in groups), key=lambda one: one.fertility)
    if not some:
        return []
    words = ", ".join(
        f"one of {one.text.name} takes {number(one.fertility)} tokens ({percent(one.kept_whole)} kept whole)"
        for one in dict.fromkeys((some[0], some[-1]))
    )
    return [f"Words under {found.shown[-1].name}: {words}."]


def _on_fairness(found: Findings) -> list[str]:
    lines = []
    for group in dict.fromkeys(one.group for one in found.fairness):
        shown = [one for one in found.fairness if one.group == group and one.column in found.shown]
        ginis = ", ".join(f"{one.gini.value:.3f} {one.column.name}" for one in shown)
        lines.append(f"Gini of tokens over {shown[0].languages} languages ({group}): {ginis}.")
    return lines


def _losses(found: Findings) -> list[str]:
    lines = []
    unseen = [one for one in found.baselines if one.view == "unseen"]
    worst = max(unseen, key=lambda one: one.lost_words)
    lines.append(
        f"A word vocabulary of {found.taught.reached:,} turns up to {percent(worst.lost_words)} of unseen words into "
        f"<unk> ({worst.text.name}); bytes and BPE lose none. With characters, up to "
        f"{percent(max(one.fallback_share for one in unseen))} of the tokens come from the other space, bytes."
    )
    if not found.guesses:
        lines.append("Guessing by the English rule: not judged, the corpus has no English text.")
    else:
        low = min(found.guesses, key=lambda guess: guess.error)
        lines.append(
            f"The English rule guesses {percent(1 + low.error)} of the tokens that {low.text.name} takes under "
            f"{low.column.name}; {percent(low.overflow)} of the chunks cut by it, with a tenth to spare, overflow."
        )
    return lines


def _signs(found: Findings) -> list[str]:
    longest = max(found.emoji, key=lambda one: len(one.sign))
    tokens = ", ".join(f"{count} {name}" for name, count in longest.tokens.items())
    lines = [f"One emoji ({longest.kind}, {len(longest.sign)} code points) takes, in tokens: {tokens}."]
    if found.decomposed:
        most = max(found.decomposed, key=lambda one: one.ratios["bytes"])
        ratios = ", ".join(f"{number(ratio)} {name}" for name, ratio in most.ratios.items())
        lines.append(f"{most.text.name} in NFD over NFC, in tokens: {ratios}.")
    return lines
