"""The question, the goals by which its answer is judged, and what may be varied."""

from dataclasses import dataclass
from typing import Literal

from contracts.errors import InputError
from contracts.results import Question

Pattern = Literal["words", "gpt2", "cl100k"]

#: A regex without a name here: o200k's, which tells upper from lower case.
REGEX = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@dataclass(frozen=True)
class Goal:
    """What a job has to reach: how many times faster than a peer, or at most so much."""

    least: float | None = None
    """peer's time over ours"""
    most: float | None = None
    """of a quantity that should be small"""

    def judge(self, value: float) -> str:
        """`met` or `missed`, by the median."""
        reached = (self.least is None or value >= self.least) and (self.most is None or value <= self.most)
        return "met" if reached else "missed"

    def __str__(self) -> str:
        return f"at least {self.least:g}" if self.least is not None else f"at most {self.most:g}"


TRAINING = Goal(least=1.5)
"""against the fastest peer that can do it, on each corpus, from file to merges"""
MEMORY = Goal(most=2.0)
"""of training above the imports, over the leanest peer's above its imports"""
ENCODING_WORDS = Goal(least=8.0)
"""against the fastest peer that can do it, one thread"""
ENCODING_TIKTOKEN = Goal(least=10.0)
ENCODING_HUGGINGFACE = Goal(least=60.0)
LEVEL = Goal(least=1.0)
"""gigatoken cold; an arbitrary regex beside tiktoken"""
DECODING = Goal(least=3.0)
BYTES = Goal(most=1.5)
"""the byte tokenizer over writing its int32 output"""
FIRST_START = Goal(most=30.0)
"""seconds until all kernels are compiled, on a machine that never did"""
LATER_START = Goal(most=1.5)
"""seconds until all kernels are loaded, in any later process"""
TWO_THREADS = Goal(least=1.5)
"""one thread's time over two threads'"""
FLAT = Goal(most=1.25)
"""time a byte of the longest text over that of the shortest"""

LEAST_BYTES = 2_000_000
"""A smaller text is over so soon that what is measured is the clock: nothing is judged by it."""

QUESTION = Question(
    name="tokenizer_speed",
    question="How fast are training, encoding and decoding beside tokenizers, tiktoken, rustbpe, gigabpe, gigatoken "
    "and bpeasy; what do memory, starting up and threads cost; and what would a terabyte cost?",
    hypothesis="Kernels compiled from Python train faster than every peer, and encode ten times as fast as tiktoken; "
    "gigatoken, hand-written for its processor, encodes faster where its cache is warm.",
    decision_rule="Every call of a job is timed once in each repeat, in a new order each time. A ratio is the median "
    "over the repeats of the peer's time over ours within one repeat; its spread is the smallest and the largest. A "
    f"goal is met if the median reaches it. Goals: training {TRAINING} times the fastest peer; memory of training "
    f"{MEMORY} times the leanest peer's; encoding to an array with one thread, words {ENCODING_WORDS} times the "
    f"fastest peer, gpt2 and cl100k {ENCODING_TIKTOKEN} times tiktoken and {ENCODING_HUGGINGFACE} times tokenizers, "
    f"{LEVEL} times gigatoken where both are cold; another regex {LEVEL} times tiktoken; decoding {DECODING} times the "
    f"fastest peer; the byte tokenizer {BYTES} times writing its output; start-up {FIRST_START} s on a new machine and "
    f"{LATER_START} s later; two threads {TWO_THREADS} times one; time a byte of the longest text {FLAT} times that of "
    f"the shortest. No goal is judged by a text below {LEAST_BYTES / 1e6:g} MB. The run fails where "
    "ids or merges differ that have to be equal.",
)


@dataclass(frozen=True)
class TokenizerSpeed:
    """Training, encoding and decoding beside every peer that is installed (extra `peers`), with memory and start-up.

    Give whole corpora of different sizes and scripts; vocabularies are learned from the first one. A peer that takes
    more than --patience times as long as the fastest one is timed once and not again.
    """

    corpus: tuple[str, ...]
    """text files (UTF-8, or .gz of it)"""
    threads_corpus: str | None = None
    """a larger text for two threads against one, which no peer has to read (default: the largest corpus)"""
    patterns: tuple[Pattern, ...] = ("words", "gpt2", "cl100k")
    """how text is cut before merging"""
    sizes: tuple[int, ...] = (4096, 32_768)
    """vocabularies to train; the last one encodes"""
    repeats: int = 5
    """timings of every call"""
    patience: float = 3.0
    """a peer this many times slower than the fastest one is timed once"""
    longest: float | None = None
    """megabytes of the longest text, for time a byte; the first corpus, repeated
    (default: 1000, or no more than --megabytes)"""
    megabytes: float | None = None
    """take only so much of each corpus: for trying; texts below 2 MB are not judged"""
    seed: int = 0
    """seed of the order of timing"""

    def __post_init__(self) -> None:
        for name in ("repeats", "patience", "longest"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"--{name}", expected="at least 1", got=value)
        if not self.corpus:
            raise InputError("--corpus", expected="at least one text file", got="none")
        if not self.sizes or min(self.sizes) < 256:
            raise InputError("--sizes", expected="vocabularies of at least 256", got=self.sizes)
        if not self.patterns:
            raise InputError("--patterns", expected="at least one pattern", got="none")
        if self.megabytes is not None and self.megabytes <= 0:
            raise InputError("--megabytes", expected="more than 0", got=self.megabytes)

    @property
    def longest_bytes(self) -> float:
        """Of the longest text."""
        return 1e6 * (self.longest or self.megabytes or 1000)
