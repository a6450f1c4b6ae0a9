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
    name="document_isolation",
    question="Many documents are packed into a row. Does a document see those before it, how many of the attention "
    "pairs are then of use, and does a decoder predict documents better if it was trained with them apart?",
    hypothesis="Segments and rows of their own keep documents apart to the last bit, with or without restarted "
    "positions; restarted positions alone do not. With k documents a row about 2 / (k + 1) of the causal pairs lie "
    "within documents, and a dense kernel computes the rest for nothing. What isolation does to the loss is below what "
    "a few seeds can show.",
    decision_rule="Leakage: a policy isolates if changing the first document of a row moves no logit of the others and "
    "no gradient of their loss, bit for bit, in the trained decoders of all seeds; the run fails if "
    "segments or reset do not, or if cross does. Loss: judged is bpb_total of held-out documents, each read alone, at "
    "the bytes that all trainings have read, all texts together, as the difference from cross over seeds with its "
    f"paired 95 % t-interval. Equivalent if the whole interval lies within {MARGIN} bits a byte on both sides of 0; "
    "otherwise better or worse if wholly below or above 0; otherwise inconclusive, with the number of seeds that would "
    "show, with 80 % power each, a difference of that margin and, if there is none, equivalence.",
)


@dataclass(frozen=True)
class DocumentIsolation:
    """Documents of a row that see each other against documents that do not: small decoders under several seeds.

    Lines (or short documents) of every text of --corpus, English and Korean of the embedded corpus without it, are
    packed many to a row, one in eight held out. Each training runs in a process of one core; what is done is kept in
    --cache, so that a run that was stopped goes on.
    """

    corpus: tuple[str, ...] = ()
    """text files or folders (UTF-8; .gz, .jsonl and .parquet too), one text a file, such as one a language"""
    reading: Annotated[Reading, tyro.conf.arg(name="")] = DEFAULT_READING
    """how files become documents, and whether they are taken as translations of each other"""
    vocab_size: int = 1024
    """text tokens of the BPE vocabulary, learned from the training text; an upper bound"""
    pattern: str = "words"
    """how text is cut before merging: words, gpt2, gpt2-digits, cl100k, none, or a regular expression"""
    longest: int = 200
    """bytes of the longest document; longer ones are left out and counted"""
    length: int = 384
    """positions of a row"""
    batch_size: int = 4
    """rows of a step; where each document has a row of its own, as many short rows as hold equally many documents"""
    seeds: int = 6
    """trainings of each arm, with the seeds 0, 1, ..."""
    text_bytes: int = 1_000_000
    """bytes of text that each training reads; a text read twice counts twice"""
    train_bytes: int = 1_500_000
    """at most so many bytes are there to be read, of all texts together"""
    held_out_bytes: int = 40_000
    """about so many bytes are held out, of all texts together"""
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
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise InputError("--" + name.replace("_", "-"), expected=f"at least {least}", got=getattr(self, name))
        if self.d_model % self.head_dim:
            raise InputError("--d-model", expected=f"a multiple of --head-dim {self.head_dim}", got=self.d_model)
        for name in ("assumed_spread", "peak_learning_rate"):
            if not getattr(self, name) > 0:
                raise InputError("--" + name.replace("_", "-"), expected="more than 0", got=getattr(self, name))


_LEAST = {
    "vocab_size": 257,
    "longest": 8,
    "length": 16,
    "batch_size": 1,
    "seeds": 2,
    "text_bytes": 1000,
    "train_bytes": 1000,
    "held_out_bytes": 100,
    "d_model": 2,
    "n_layers": 1,
    "head_dim": 2,
    "processes": 0,
}


def for_study(
    corpus: tuple[str, ...], tokenizer: tuple[str, ...], reading: Reading = DEFAULT_READING
) -> DocumentIsolation:
    """The small version that `bytebound study` runs; a ready tokenizer has not learned from the training text alone."""
    return DocumentIsolation(
        corpus=corpus,
        reading=reading,
        vocab_size=512,
        length=320,
        batch_size=3,
        seeds=3,
        text_bytes=120_000,
        train_bytes=400_000,
        held_out_bytes=8_000,
        d_model=32,
        head_dim=16,
        peak_learning_rate=6e-3,
        assumed_spread=0.03,
    )


def plan(arguments: DocumentIsolation) -> list[str]:
    """What a run would do and about how long it takes."""
    from experiments.ablation.budget import announce
    from experiments.ablation.statistics import foreseen
    from experiments.document_isolation.arms import prepare

    prepared = prepare(arguments)
    arms = "; ".join(arm for (arm,) in prepared.ablation.arms)
    return [
        f"{len(prepared.ablation.arms)} arms under {arguments.seeds} seeds: {arms}",
        f"{prepared.documents_per_row:.1f} documents a row of {arguments.length} positions",
        *announce(prepared.cells, arguments.cache, arguments.processes),
        foreseen(arguments.seeds, arguments.assumed_spread, MARGIN),
    ]
