"""The question, the rule by which its answer is judged, and what may be varied."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from contracts.errors import InputError
from contracts.results import Question
from experiments.corpora import DEFAULT_READING, Reading

#: A text is dearer than its yardstick if the whole interval lies above this ratio, cheaper below its inverse.
DEARER = 1.1
#: Order of the Rényi efficiency, the one that Zouhar et al. 2023 report.
ALPHA = 2.5

QUESTION = Question(
    name="sequence_length",
    question="How many tokens does the same content cost, by language and format, in bytes and under learned "
    "vocabularies; what does a joint vocabulary change against an English-only one; and what does one lose by "
    "guessing from characters?",
    hypothesis="In bytes Korean costs less than 1.5 times English, far from three bytes a letter; what makes it "
    "several times dearer is a vocabulary learned from English alone. A joint vocabulary of the same size takes a "
    "little from English and gives Korean much more.",
    decision_rule="A tokenizer makes a text dearer than its yardstick (English; for formats compact JSON) if the whole "
    f"95 % interval of its parity, tokens of all aligned units over those of the yardstick, lies above {DEARER}; "
    f"cheaper if below 1/{DEARER}; on a par if within the two; undecided otherwise. A joint vocabulary is better "
    "than an English-only one of the same size if on unseen text both languages together take fewer tokens, the whole "
    "interval of the ratio below 1, at the largest size that the corpus allows; worse if above 1.",
)


@dataclass(frozen=True)
class SequenceLength:
    """How many tokens the same content costs, by language, format and tokenizer.

    Counts bytes, learned vocabularies of several sizes and any tokenizer that you name; compares a joint vocabulary
    with an English-only one; shows what words, characters and guesses lose. Without --corpus it runs on the embedded
    corpus.
    """

    corpus: tuple[str, ...] = ()
    """text files or folders (UTF-8; .gz, .jsonl and .parquet too), one slice a file"""
    reading: Annotated[Reading, tyro.conf.arg(name="")] = DEFAULT_READING
    """how files become documents, and whether they are taken as translations of each other"""
    tokenizer: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="NAME|FILE")] = ()
    """a saved vocabulary or a tokenizer.json to measure as well; repeatable"""
    vocab_sizes: tuple[int, ...] = (512, 1024, 2048, 4096, 8192)
    """text tokens of the vocabularies learned from the corpus; upper bounds"""
    pattern: str = "words"
    """how text is cut before merging: words, gpt2, gpt2-digits, cl100k, none, or a regular expression"""
    train_bytes: int = 2_000_000
    """at most so many bytes of each half of a slice teach a vocabulary, spread evenly over its documents"""
    context: int = 1024
    """tokens of a context: how many characters does it hold, how many contexts does a text fill"""
    chunk_tokens: int = 256
    """token limit of the chunks that are cut by the English rule"""
    price_per_million: float | None = None
    """price of a million tokens, in any currency: adds the bill"""
    resamples: int = 2000
    """bootstrap draws for an interval"""
    seed: int = 0
    """seed of the draws"""

    def __post_init__(self) -> None:
        if not self.vocab_sizes or min(self.vocab_sizes) < 256:
            raise InputError("--vocab-sizes", expected="at least one size, each at least 256", got=self.vocab_sizes)
        for name, least in (("train_bytes", 1), ("context", 1), ("chunk_tokens", 1), ("resamples", 100), ("seed", 0)):
            if getattr(self, name) < least:
                option = "--" + name.replace("_", "-")
                raise InputError(option, expected=f"at least {least}", got=getattr(self, name))
        if self.price_per_million is not None and not 0 <= self.price_per_million < float("inf"):
            raise InputError("--price-per-million", expected="a price of at least 0", got=self.price_per_million)


def for_study(
    corpus: tuple[str, ...], tokenizer: tuple[str, ...], reading: Reading = DEFAULT_READING
) -> SequenceLength:
    """The arguments that `bytebound study` runs with."""
    return SequenceLength(corpus=corpus, tokenizer=tokenizer, reading=reading)


def plan(arguments: SequenceLength) -> list[str]:
    """What a run would do and about how long it takes on two cores."""
    from experiments.corpora import slices

    cuts = slices(arguments.corpus, arguments.reading)
    megabytes = sum(cut.corpus().bytes for cut in cuts) / 1e6
    columns = 1 + len(arguments.vocab_sizes) + len(arguments.tokenizer)
    largest, seconds = max(arguments.vocab_sizes), 5 + 12 * megabytes
    return [
        f"{len(cuts)} slices, {megabytes:.1f} MB x {columns} tokenizers, every document checked",
        f"2 vocabularies of up to {largest:,} tokens, one from each half of the documents",
        "4 more, joint against English-only, where the corpus has an aligned pair",
        f"about {seconds:.0f} s",
    ]
