"""The answer in sentences: what the decision rule says, and what a reader should take home."""

from statistics import fmean

from experiments.bits_per_byte.arms import BASE
from experiments.bits_per_byte.compare import ALL, BASELINES, Comparison, Held, Results
from experiments.tables import number, si

_HELD: tuple[Held, ...] = ("text bytes", "training FLOPs", "parameters")


def verdict(results: Results) -> str:
    """BPE against bytes with each thing held equal, then the boundary, then the baselines."""
    parts = []
    for held in _HELD:
        some = [f"{one.arm} {_said(one)}" for one in _judged(results, "tokenizer") if one.held == held]
        some += [f"{one.arm} {one}" for one in results.incomparable if one.held == held]
        at = f" ({number(results.text_bytes)})" if held == "text bytes" else ""
        parts.append(f"Against bytes at equal {held}{at}: {'; '.join(some)}.")
    boundary = "; ".join(f"{one.arm.split(',')[0]} {_said(one)}" for one in _judged(results, "boundary"))
    return " ".join([*parts, f"Separate against shared boundary: {boundary}.", _on_baselines(results)])


def _said(one: Comparison) -> str:
    return f"{one.verdict} ({one.difference})"


def _judged(results: Results, factor: str) -> list[Comparison]:
    return [one for one in results.comparisons if one.text == ALL and one.factor == factor]


def _on_baselines(results: Results) -> str:
    """Which baselines the best decoder beats, text by text."""
    said = []
    for text in results.prepared.texts.names:
        arm = min(results.outcomes, key=lambda arm: fmean(results.values(arm, text)))
        best = fmean(results.values(arm, text))
        beaten = [name for name in BASELINES if best < results.baselines[name, text]]
        said.append(f"{text} {best:.3f} ({', '.join(arm)}), below {' and '.join(beaten) if beaten else 'no baseline'}")
    return f"The best decoder of each text, at equal text bytes: {'; '.join(said)}."


def highlights(results: Results) -> list[str]:
    """What flips with what is held equal, what pairing was worth, and each language."""
    return [*_flips(results), *_by_text(results), _on_pairs(results)]


def _flips(results: Results) -> list[str]:
    lines = []
    for name in results.names[1:]:
        words = {one.held: one.verdict.word for one in _judged(results, "tokenizer") if one.arm == name}
        if len(set(words.values())) > 1:
            said = ", ".join(f"{word} at equal {held}" for held, word in words.items())
            lines.append(f"{name} against bytes depends on what is equal: {said}.")
    return lines


def _by_text(results: Results) -> list[str]:
    lines = []
    for text in results.prepared.texts.names:
        means = {name: fmean(results.values((name, "shared", BASE), text)) for name in results.names}
        order = sorted(means, key=lambda name: means[name])
        said = ", ".join(f"{name} {means[name]:.3f}" for name in order)
        lines.append(f"{text}, after {si(results.text_bytes, 'B')} read by each: {said} bits a byte.")
    return lines


def _on_pairs(results: Results) -> str:
    judged = [one for one in results.comparisons if one.text == ALL]
    known = [one.difference.correlation for one in judged if one.difference.correlation is not None]
    spreads = [one.difference.spread for one in judged]
    paired = f", and pairs correlate by {fmean(known):+.2f} in the mean" if known else ""
    return (
        f"The spread of differences between seeds was {min(spreads):.3f} to {max(spreads):.3f} bits a "
        f"byte{paired}; all of this at {si(results.text_bytes, 'B')} of text and a decoder of width "
        f"{results.prepared.arguments.d_model}, far from where large decoders are trained."
    )
