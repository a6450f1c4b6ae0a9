"""The question, the rule by which its answer is judged, and what may be varied."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from contracts.errors import InputError
from contracts.results import Question
from experiments.corpora import DEFAULT_READING, Reading

#: A size is as good as the cheapest if it costs at most this much more.
AS_GOOD = 0.01

QUESTION = Question(
    name="vocabulary_curve",
    question="How large a vocabulary should a decoder of a given shape have: what does each size cost in tokens, "
    "parameters, forward FLOPs and cache bytes a character, and what does one more row save?",
    hypothesis="FLOPs a character are U-shaped: a larger vocabulary shortens text at a falling rate, while every row "
    "costs each token 2 D FLOPs. The bottom is flat and lies the further right the larger the decoder is, near 4,096 "
    "for D = 256 and 6 layers, beyond 8,192 for D = 768 and 12 layers.",
    decision_rule="On one text and for one decoder, the cheapest of the measured sizes is the optimum if it lies "
    "between bytes and the largest one (as asked, or as the text gives); if it is the largest one the curve is still "
    f"falling there, and if it is bytes a vocabulary does not pay. Sizes within {100 * AS_GOOD:g} % of the cheapest "
    "are as good. The verdict is on all held-out text together.",
)


@dataclass(frozen=True)
class VocabularyCurve:
    """What every vocabulary size costs decoders of given shapes, a character of held-out text.

    Trains one vocabulary and cuts it down to every size: tokens, bytes a token, share of the parameters, forward
    FLOPs and cache bytes a character, what one more row saves, and how many rows are used. Without --train it runs on
    the embedded corpus.
    """

    train: tuple[str, ...] = ()
    """text files or folders to learn from (UTF-8; .gz, .jsonl and .parquet too), one slice a file"""
    test: tuple[str, ...] = ()
    """text files or folders to measure on; without it, every second document of what --train names"""
    reading: Annotated[Reading, tyro.conf.arg(name="")] = DEFAULT_READING
    """how files become documents, and whether they are taken as translations of each other"""
    decoder: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME|FIELD=VALUE|FILE")] = ("tiny", "124M", "1.3B")
    """decoders to compare: origin, tiny, 124M, 350M, 1.3B, 7B, or a config as `bytebound contracts check` takes it
    (llama-3-8b, d_model=512,n_layers=8, a JSON or TOML file)"""
    vocab_size: int = 32_768
    """text tokens of the vocabulary to train; an upper bound"""
    steps: int = 4
    """sizes measured between one power of two and the next, evenly spread"""
    context: int = 1024
    """characters of a context: its tokens, and so its attention, follow from the vocabulary"""
    pattern: str = "words"
    """how text is cut before merging: words, gpt2, gpt2-digits, cl100k, none, or a regular expression"""
    train_bytes: int = 8_000_000
    """at most so many bytes of a slice teach the vocabulary, spread evenly over its documents"""

    def __post_init__(self) -> None:
        if not self.decoder:
            raise InputError("--decoder", expected="at least one decoder", got="none")
        for name, least in (("vocab_size", 257), ("steps", 1), ("context", 1), ("train_bytes", 1)):
            if getattr(self, name) < least:
                option = "--" + name.replace("_", "-")
                raise InputError(option, expected=f"at least {least}", got=getattr(self, name))


def for_study(
    corpus: tuple[str, ...], tokenizer: tuple[str, ...], reading: Reading = DEFAULT_READING
) -> VocabularyCurve:
    """The arguments that `bytebound study` runs with; a ready tokenizer has no training to cut down."""
    return VocabularyCurve(train=corpus, reading=reading)


def plan(arguments: VocabularyCurve) -> list[str]:
    """What a run would do and about how long it takes on two cores."""
    from experiments.sequence_length.texts import taught_and_held_out

    teaching, held_out = taught_and_held_out(arguments.train, arguments.test, arguments.reading)
    texts = dict.fromkeys((*teaching, *held_out))
    megabytes = sum(text.cut.corpus().bytes for text in texts) / 1e6
    return [
        f"1 vocabulary of up to {arguments.vocab_size:,} tokens, cut down to {arguments.steps} sizes an octave",
        f"{len(texts)} slices, {megabytes:.1f} MB; {'held-out files' if arguments.test else 'half of it held out'}",
        f"decoders by formula: {', '.join(arguments.decoder)}",
        f"about {4 + 6 * megabytes:.0f} s",
    ]
