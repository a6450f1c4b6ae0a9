"""The question, the rule by which its answer is judged, and what may be varied."""

from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from contracts.errors import InputError
from contracts.results import Question
from experiments.corpora import DEFAULT_READING, Reading

#: An exponent is as predicted if its whole interval lies this close to the prediction.
EXPONENT_MARGIN = 0.2
#: The closed form tells where the clock crosses if the whole interval lies within this factor of it.
CROSSING_FACTOR = 2.0
#: Every character 4 bytes, squared; a text comes near it from this share on.
WORST_CASE, NEAR_SHARE = 16, 0.9

#: Arguments by their bounds. Traces have 32-bit positions; what is timed is also allocated.
_BOUNDS = {
    "lengths": (1, 2**16),
    "count_to": (1, 2**30),
    "repeats": (5, 10_000),
    "vocab_size": (256, 2**24),
    "seed": (0, 2**63 - 1),
    **dict.fromkeys(("d_model", "n_layers", "n_heads", "n_kv_heads", "head_dim", "d_ff"), (1, 2**16)),
}

QUESTION = Question(
    name="attention_scaling",
    question="How do FLOPs and time of attention and of a whole decoder grow with length, at which length does "
    "attention cost as much as the rest of a layer, and what does the same text cost in bytes against characters and "
    "BPE tokens?",
    hypothesis="The formula's FLOPs are those of the traced program, term by term, and time grows with the exponent "
    "that they predict; the clock sees attention overtake the rest of a layer near the length that the closed form "
    "names. The 16 times of the worst case (4 bytes a character, squared) is a bound that no real text comes near.",
    decision_rule="Counts: the run fails unless formula and trace agree in every term at every length, and the traced "
    "crossing is the closed form rounded up. Growth: the exponent of a part's time, fitted over all lengths, is as "
    f"predicted if its whole 95 % interval lies within {EXPONENT_MARGIN} of the exponent fitted to its FLOPs; steeper "
    "or shallower if wholly outside; otherwise inconclusive. Crossing: the clock agrees with the closed form if the "
    f"whole interval lies within a factor {CROSSING_FACTOR:g}; earlier or later if wholly outside; otherwise "
    f"inconclusive. Worst case: real text comes near {WORST_CASE} times if any slice has at least {NEAR_SHARE:.0%} of "
    "it.",
)


@dataclass(frozen=True)
class AttentionScaling:
    """What length costs: FLOPs and time of attention and of a decoder, and of one text in different units.

    Counts every matmul by formula and in the traced program, times the same programs on this machine, and finds the
    length at which attention costs as much as the rest of a layer. Then counts each text as characters, bytes and
    tokens. Without --corpus it runs on the embedded corpus.
    """

    corpus: tuple[str, ...] = ()
    """text files or folders (UTF-8; .gz, .jsonl and .parquet too), one slice a file"""
    reading: Annotated[Reading, tyro.conf.arg(name="")] = DEFAULT_READING
    """how files become documents, and whether they are taken as translations of each other"""
    tokenizer: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="NAME|FILE")] = ()
    """a saved vocabulary or a tokenizer.json to count with as well; repeatable"""
    vocab_size: int = 4096
    """text tokens of the BPE learned from half of every slice; an upper bound"""
    d_model: int = 128
    """model width of the swept decoder"""
    n_layers: int = 2
    """layers"""
    n_heads: int = 4
    """query heads"""
    n_kv_heads: int = 2
    """key-value heads"""
    head_dim: int = 32
    """head width"""
    d_ff: int = 512
    """feed-forward width (SwiGLU, three matrices)"""
    lengths: tuple[int, ...] = (64, 128, 256, 512, 1024, 2048)
    """positions of a row that are timed and counted, ascending"""
    count_to: int = 131_072
    """the last length is doubled up to this one for counting alone; nothing that long is run"""
    repeats: int = 15
    """timings of every program at every length, interleaved"""
    seed: int = 0
    """seed of the order of timing and of the bootstrap"""

    def __post_init__(self) -> None:
        if len(self.lengths) < 2 or any(a >= b for a, b in zip(self.lengths, self.lengths[1:], strict=False)):
            raise InputError("--lengths", expected="at least two ascending lengths", got=self.lengths)
        for name, (least, most) in _BOUNDS.items():
            value = getattr(self, name)
            if not all(least <= each <= most for each in (value if isinstance(value, tuple) else (value,))):
                option = "--" + name.replace("_", "-")
                raise InputError(option, expected=f"{least:,} to {most:,}", got=value)

    @property
    def counted_lengths(self) -> tuple[int, ...]:
        """The timed lengths, and doublings of the last one up to `count_to`."""
        lengths = list(self.lengths)
        while lengths[-1] * 2 <= self.count_to:
            lengths.append(lengths[-1] * 2)
        return tuple(lengths)

    def config(self) -> Any:
        """The swept decoder, reading bytes. Raises `InputError` for a shape that does not fit together."""
        from contracts.decoder import DecoderConfig

        return DecoderConfig(
            d_model=self.d_model,
            n_layers=self.n_layers,
            n_heads=self.n_heads,
            n_kv_heads=self.n_kv_heads,
            head_dim=self.head_dim,
            d_ff=self.d_ff,
            context_length=max(self.counted_lengths),
        )


def for_study(
    corpus: tuple[str, ...], tokenizer: tuple[str, ...], reading: Reading = DEFAULT_READING
) -> AttentionScaling:
    """The arguments that `bytebound study` runs with."""
    return AttentionScaling(corpus=corpus, tokenizer=tokenizer, reading=reading, repeats=9)


def plan(arguments: AttentionScaling) -> list[str]:
    """What a run would do and about how long it takes on two cores."""
    from experiments.corpora import slices
    from research.costs import forward_flops, full_pairs

    config = arguments.config()
    flops = sum(forward_flops(config, length, full_pairs(length)).total for length in arguments.lengths)
    megabytes = sum(cut.corpus().bytes for cut in slices(arguments.corpus, arguments.reading)) / 1e6
    longest = arguments.counted_lengths[-1]
    programs = 6 * len(arguments.lengths)
    timing = arguments.repeats * 3 * flops / 10e9
    encoding = 2 * megabytes * (1 + len(arguments.tokenizer))
    return [
        f"FLOPs of 6 programs up to T = {longest:,}, by formula and by trace; nothing is run",
        f"{programs} programs compiled and timed {arguments.repeats} times each; about {programs + timing:.0f} s",
        f"{megabytes:.1f} MB as characters, bytes and tokens; about {1 + encoding:.0f} s",
    ]
