"""The question, the rule by which its answer is judged, and what may be varied."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from contracts.results import Question
from experiments.boundary_cost.shapes import SHAPES, ShapeName, shapes_named
from experiments.corpora import DEFAULT_READING, Reading

#: Sharing matters in parameters from this share of a model on, if the model has at least that many parameters.
PARAMETER_SHARE, REAL_MODEL = 0.001, 10_000_000
#: Sharing matters in positions from this share of a stream on.
POSITION_SHARE = 0.01

#: Measured beside those that a person names.
TOKENIZERS = ("bytes", "bpe-4096")

QUESTION = Question(
    name="boundary_cost",
    question="What does a document boundary cost under each policy (shared, separate, bos, eos, none): in parameters, "
    "in positions of the stream, and in the FLOPs and cache bytes that follow?",
    hypothesis="The parameters that one shared id saves against separate start and end ids (32 at D = 16) vanish in a "
    "real model. The position that it saves for each document does not shrink with the model, and costs more training "
    "FLOPs than the id unless documents are very long.",
    decision_rule=f"Sharing matters in parameters if it saves at least {PARAMETER_SHARE:.1%} of any model of at least "
    f"{REAL_MODEL / 1e6:.0f}M parameters measured here, and in positions if it saves at least {POSITION_SHARE:.0%} of "
    "the stream of any slice under any tokenizer measured here. Of the id and the positions, the dearer one is the one "
    "that adds more training FLOPs over the whole corpus.",
)


@dataclass(frozen=True)
class BoundaryCost:
    """What a document boundary costs under the policies shared, separate, bos, eos and none.

    Counts the streams that are built from your documents, and the parameters of decoders up to 7B without allocating
    one; each by formula and by a second witness. Without --corpus it runs on the embedded corpus.
    """

    corpus: tuple[str, ...] = ()
    """text files or folders (UTF-8; .gz, .jsonl and .parquet too), one slice a file"""
    reading: Annotated[Reading, tyro.conf.arg(name="")] = DEFAULT_READING
    """how files become documents, and whether they are taken as translations of each other"""
    tokenizer: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="NAME|FILE")] = ()
    """a saved vocabulary or a tokenizer.json to measure beside bytes and bpe-4096; repeatable"""
    shapes: tuple[ShapeName, ...] = tuple(SHAPES)
    """the decoders whose costs are compared"""

    @property
    def tokenizers(self) -> tuple[str, ...]:
        """Every tokenizer that is measured, each once."""
        return tuple(dict.fromkeys((*TOKENIZERS, *self.tokenizer)))


def for_study(corpus: tuple[str, ...], tokenizer: tuple[str, ...], reading: Reading = DEFAULT_READING) -> BoundaryCost:
    """The arguments that `bytebound study` runs with."""
    return BoundaryCost(corpus=corpus, tokenizer=tokenizer, reading=reading)


def plan(arguments: BoundaryCost) -> list[str]:
    """What a run would do and about how long it takes on two cores."""
    models = sum(len(shape.text_vocab_sizes) * 2 * 3 for shape in shapes_named(arguments.shapes))
    seconds = max(1, round(models / 10))
    names = ", ".join(arguments.tokenizers)
    return [
        f"parameters: {models} decoders traced, none allocated ({', '.join(arguments.shapes)}); about {seconds} s",
        f"positions: every slice as a stream under 5 policies x {names}; about 5 s for each MB",
        "FLOPs and cache bytes: arithmetic",
    ]
