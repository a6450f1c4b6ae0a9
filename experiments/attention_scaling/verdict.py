"""The answer in sentences, judged by the rule that stood before the run; each claim is read off the findings."""

from collections.abc import Sequence

from experiments.attention_scaling.findings import LARGE, Findings
from experiments.attention_scaling.question import CROSSING_FACTOR, NEAR_SHARE, WORST_CASE
from experiments.attention_scaling.tables import TITLES, interval, share
from experiments.attention_scaling.texts import CONTENTS, TextCost
from experiments.tables import si
from research.costs import causal_pairs, full_pairs

_JUDGED = ("attention", "decoder")


def verdict(found: Findings) -> str:
    """Counts, growth, crossing and worst case, in this order."""
    grown = "; ".join(
        f"{TITLES[name]} {interval(part.fitted)} against {part.predicted:.2f}: {part.judgement}"
        for name, part in ((name, found.growth[name]) for name in _JUDGED)
    )
    return (
        "FLOPs by formula and by trace are equal in every term up to "
        f"T = {max(count.length for count in found.counted):,}. Exponent of time against that of FLOPs: {grown}. "
        f"{_crossing(found)} {_worst_case(found)}"
    )


def highlights(found: Findings) -> list[str]:
    """What a reader should take home; causes only where they were measured."""
    return [_textbook(found), *_causes(found), *_real_text(found)]


def _crossing(found: Findings) -> str:
    crossing, form = found.clock_crossing, f"{found.crossings[0].full:,.0f}"
    if crossing.seen is None:
        return f"Crossing: {crossing.judgement}, the clock saw none; the closed form says T = {form}."
    beyond = ", extrapolated," if crossing.extrapolated else ""
    return (
        f"Attention overtakes the rest of a layer at T = {form} by FLOPs and at "
        f"{interval(crossing.seen, 0)}{beyond} by the clock: {crossing.judgement} (by the rule of a factor of "
        f"{CROSSING_FACTOR:g})."
    )


def _worst_case(found: Findings) -> str:
    dearest = max(_natural(found), key=lambda text: text.attention_ratio("characters"))
    ratio = dearest.attention_ratio("characters")
    near = "comes near it" if ratio >= NEAR_SHARE * WORST_CASE else "does not come near it"
    return (
        f"Real text {near}: the worst case of bytes is {WORST_CASE} times the attention of characters, the dearest "
        f"text here, {dearest.name}, takes {ratio:.2f} times ({dearest.bytes_per_character:.2f} bytes a character)."
    )


def _textbook(found: Findings) -> str:
    swept, textbook = found.crossings[:2]
    known = ", ".join(f"{crossing.causal:,.0f} for {crossing.shape}" for crossing in found.crossings[2:])
    return (
        f"At D = {found.config.d_model} the textbook's layer crosses at {textbook.full:,.0f} with all pairs (6 D) and "
        f"at {textbook.causal:,.0f} with causal ones (12 D - 1), the swept one at {swept.full:,.0f} and "
        f"{swept.causal:,.0f}. With causal pairs it is {known}."
    )


def _causes(found: Findings) -> list[str]:
    length = found.lengths[-1]
    useful = causal_pairs(length) / full_pairs(length)
    masked = (
        f"A dense program computes all T x T pairs and masks almost half: {useful:.1%} of the core's FLOPs at "
        f"T = {length:,} are for pairs that count."
    )
    in_blocks = found.growth["core in blocks"].flops[-1] / found.growth["core"].flops[-1]
    if in_blocks < 1:
        masked += (
            f" In blocks of queries {in_blocks:.1%} of all pairs are computed, and the dense core takes "
            f"{interval(found.gain_of_blocks[-1], 1)} times as long."
        )
    return [masked, *_rates(found), *_fresh_memory(found)]


def _rates(found: Findings) -> list[str]:
    core, rest = found.growth["core"], found.growth["rest"]
    first, last, softmax = found.dearer[0], found.dearer[-1], found.softmax_shares[-1]
    if last.low <= 1:
        return []
    sentence = (
        f"A FLOP of the core takes {interval(first, 1)} times as long as one of the rest at "
        f"T = {found.lengths[0]:,} and {interval(last, 1)} times at {found.lengths[-1]:,} "
        f"({si(core.rates[-1])}FLOP/s against {si(rest.rates[-1])}FLOP/s). Without mask and softmax, which no matmul "
        f"count holds, the core would take {share(softmax)} less time there."
    )
    return [sentence]


def _fresh_memory(found: Findings) -> list[str]:
    fresh, system = found.timings.fresh_bytes("core"), found.timings.system_share("core")[-1]
    anew = [i for i in range(len(found.lengths)) if fresh[i].low >= found.score_bytes(i)]
    if not anew:
        return []
    first, copies = anew[0], fresh[-1].value / found.score_bytes(-1)
    sentence = (
        f"From T = {found.lengths[first]:,} on each call of the core gets memory anew from the operating system, at "
        f"T = {found.lengths[-1]:,} {si(fresh[-1].value, 'B')} or {copies:.1f} arrays of T x T scores, and spends "
        f"{share(system)} of its processor time there."
    )
    if first:
        step = found.growth["core"].local[first - 1]
        sentence += (
            f" On the way there, from T = {found.lengths[first - 1]:,}, its time grows with the exponent "
            f"{interval(step)}, its FLOPs with 2."
        )
    return [sentence]


def _real_text(found: Findings) -> list[str]:
    bpe, texts, shape = found.units.bpe, _natural(found), found.decoders[LARGE]
    scale = ", ".join(
        f"{text.name} {text.attention_ratio('characters'):.0f}" for text in found.texts if text.is_constructed
    )
    dearest = max(texts, key=lambda text: text.attention_ratio("characters"))
    ratios = [dearest.decoder_ratio("characters", size, shape, found.units) for size in CONTENTS]
    climb = ", ".join(f"{ratio:.2f} times at {size:,}" for ratio, size in zip(ratios, CONTENTS, strict=True))
    longest = max(texts, key=lambda text: text.attention_ratio(bpe))
    ratio = longest.decoder_ratio(bpe, CONTENTS[-1], shape, found.units)
    against_bpe = (
        f"Against BPE: over {bpe}, on unseen text, {longest.name} takes "
        f"{longest.attention_ratio(bpe):.1f} times the pairs ({longest.bytes_per(bpe):.2f} bytes a token) and, at "
        f"{CONTENTS[-1]:,} characters, {ratio:.1f} times the FLOPs of {LARGE}."
    )
    return [
        f"Constructed texts mark the scale of bytes over characters: {scale} times the pairs.",
        f"A whole decoder sees less of it: {dearest.name} through {LARGE} costs {climb} characters.",
        against_bpe,
    ]


def _natural(found: Findings) -> Sequence[TextCost]:
    return [text for text in found.texts if not text.is_constructed]
