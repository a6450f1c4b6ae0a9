"""The question, the rule by which its answer is judged, and what may be varied."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from contracts.errors import InputError
from contracts.results import Question
from experiments.corpora import DEFAULT_READING, Reading

#: Decoders closer than this, in bits a byte, are taken as equal.
MARGIN = 0.02

QUESTION = Question(
    name="bits_per_byte",
    question="Does a small decoder predict text better in bytes or in BPE tokens, and with one shared boundary token "
    "or with two, in bits a byte of held-out text, at equal bytes read, equal training FLOPs and equal parameters?",
    hypothesis="At equal bytes read and at equal FLOPs BPE is better for decoders this small, for a token brings more "
    "context to a position and more bytes to a FLOP; at equal parameters less of that is left. One boundary token or "
    "two makes no difference that can be seen: it is one id in hundreds and one position a document.",
    decision_rule="Judged is bpb_total of all texts together, all nats over all bytes, lower is better, as the mean "
    "difference over seeds with its paired 95 % t-interval. Equivalent if the whole interval lies within "
    f"{MARGIN} on both sides of 0; otherwise better or worse if it lies wholly below or above 0; otherwise "
    "inconclusive, with the number of seeds that would show, with 80 % power each at the spread that was found, a "
    "difference of that margin and, if there is none, equivalence. BPE is compared with bytes at the bytes that all "
    "trainings have read, at the FLOPs that both have reached, unless one of them was not yet scored there, and at "
    "equal parameters with a byte decoder between two widths; separate with shared boundaries at equal bytes. "
    "Intervals are not widened for their number: of twenty comparisons without a difference one is expected to be "
    "called wrongly.",
)


@dataclass(frozen=True)
class BitsPerByte:
    """Bytes against BPE, shared against separate boundary: small decoders trained under several seeds.

    Every text of --corpus (English and Korean of the embedded corpus without it) has an equal share of the training
    text, and one document in eight held out. All decoders have the same layers, see the same mean number of bytes and
    read the same bytes of text. Each training runs in a process of one core; what is done is kept in --cache, so that
    a run that was stopped goes on.
    """

    corpus: tuple[str, ...] = ()
    """text files or folders (UTF-8; .gz, .jsonl and .parquet too), one text a file, such as one a language"""
    reading: Annotated[Reading, tyro.conf.arg(name="")] = DEFAULT_READING
    """how files become documents, and whether they are taken as translations of each other"""
    vocab_sizes: tuple[int, ...] = (512, 1024, 2048)
    """text tokens of the BPE vocabularies, all cut from one training on the training text; upper bounds"""
    pattern: str = "words"
    """how text is cut before merging: words, gpt2, gpt2-digits, cl100k, none, or a regular expression"""
    seeds: int = 3
    """trainings of each arm, with the seeds 0, 1, ..."""
    text_bytes: int = 1_000_000
    """bytes of text that each training reads; a text read twice counts twice"""
    train_bytes: int = 2_000_000
    """at most so many bytes are there to be read, of all texts together"""
    held_out_bytes: int = 48_000
    """about so many bytes are held out, of all texts together"""
    context_bytes: int = 256
    """mean bytes of a row, for every tokenizer: rows have as many tokens as that takes"""
    batch_size: int = 8
    """rows of a step"""
    d_model: int = 64
    """model width"""
    n_layers: int = 2
    """layers"""
    head_dim: int = 32
    """head width; the model's width is a multiple of it"""
    peak_learning_rate: float = 3e-3
    """of AdamW, constant after a short warm-up"""
    assumed_spread: float = 0.01
    """standard deviation of differences between seeds, in bits a byte, that is expected before the run; says what the
    seeds can see"""
    processes: int = 0
    """trainings side by side, each on a core of its own; 0 for as many as there are cores"""
    cache: str = "runs/cells"
    """folder of finished trainings"""

    def __post_init__(self) -> None:
        if not self.vocab_sizes or min(self.vocab_sizes) < 257 or len(set(self.vocab_sizes)) < len(self.vocab_sizes):
            expected = "at least one size, each at least 257 and named once"
            raise InputError("--vocab-sizes", expected=expected, got=self.vocab_sizes)
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise InputError("--" + name.replace("_", "-"), expected=f"at least {least}", got=getattr(self, name))
        if self.d_model % self.head_dim:
            raise InputError("--d-model", expected=f"a multiple of --head-dim {self.head_dim}", got=self.d_model)
        for name in ("assumed_spread", "peak_learning_rate"):
            if not getattr(self, name) > 0:
                raise InputError("--" + name.replace("_", "-"), expected="more than 0", got=getattr(self, name))


_LEAST = {
    "seeds": 2,
    "text_bytes": 1000,
    "train_bytes": 1000,
    "held_out_bytes": 100,
    "context_bytes": 16,
    "batch_size": 1,
    "d_model": 2,
    "n_layers": 1,
    "head_dim": 2,
    "processes": 0,
}


def for_study(corpus: tuple[str, ...], tokenizer: tuple[str, ...], reading: Reading = DEFAULT_READING) -> BitsPerByte:
    """The small version that `bytebound study` runs; a ready tokenizer has not learned from the training text alone."""
    return BitsPerByte(
        corpus=corpus,
        reading=reading,
        vocab_sizes=(512,),
        seeds=3,
        text_bytes=120_000,
        train_bytes=400_000,
        held_out_bytes=12_000,
        context_bytes=128,
        batch_size=4,
        d_model=32,
        head_dim=16,
        peak_learning_rate=6e-3,
        assumed_spread=0.03,
    )


def plan(arguments: BitsPerByte) -> list[str]:
    """What a run would do and about how long it takes."""
    from experiments.ablation.budget import announce
    from experiments.ablation.statistics import foreseen
    from experiments.bits_per_byte.arms import prepare
    from experiments.bits_per_byte.compare import out_of_reach, planned_spans

    prepared = prepare(arguments)
    arms = "; ".join(map(", ".join, prepared.ablation.arms))
    return [
        f"{len(prepared.ablation.arms)} arms under {arguments.seeds} seeds: {arms}",
        *(f"{one.arm} at equal {one.held} will be {one}" for one in out_of_reach(planned_spans(prepared))),
        *announce(prepared.cells, arguments.cache, arguments.processes),
        foreseen(arguments.seeds, arguments.assumed_spread, MARGIN),
    ]
