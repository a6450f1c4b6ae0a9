"""The command `bytebound`: one door to everything, whose help answers without importing JAX."""

from collections.abc import Sequence
from typing import Annotated

import tyro

from experiments.command import guarded, parse
from experiments.contracts.command import Contracts
from experiments.corpus import Corpus
from experiments.evaluate import Evaluate
from experiments.generate import Generate
from experiments.study import Study
from experiments.tokens import Tokens
from experiments.train import Train
from experiments.train_tokenizer import TrainTokenizer

_ABOUT = """What a token costs, what a document boundary costs, and what a shape promises.

Examples:
  bytebound study                                     everything on the embedded corpus, in a few minutes
  bytebound study --corpus my_texts/ --out my_study   the same for your own text
  bytebound tokens "안녕, world" --tokenizer bytes --tokenizer gpt2/tokenizer.json
  bytebound tokenizer my_texts/ --vocab-size 8192 --out my_vocabulary.json
  bytebound corpus build my_texts/ --out my_corpus
  bytebound train --corpus my_corpus --out my_run     a decoder on your own text, in seconds to begin with
  bytebound evaluate my_run                           its bits per byte, beside xz and a 5-gram
  bytebound generate my_run --prompt "Once upon"      text as it comes
  bytebound contracts verify my_package:make_decoder  the laws of a decoder, run on yours
  python -m experiments.boundary_cost --help          one question alone
"""

Action = (
    Annotated[Study, tyro.conf.subcommand("study")]
    | Annotated[Tokens, tyro.conf.subcommand("tokens")]
    | Annotated[TrainTokenizer, tyro.conf.subcommand("tokenizer")]
    | Annotated[Corpus, tyro.conf.subcommand("corpus")]
    | Annotated[Train, tyro.conf.subcommand("train")]
    | Annotated[Evaluate, tyro.conf.subcommand("evaluate")]
    | Annotated[Generate, tyro.conf.subcommand("generate")]
    | Annotated[Contracts, tyro.conf.subcommand("contracts")]
)


def main(argv: Sequence[str] | None = None) -> None:
    """Parse the command line, run the subcommand, exit with 0, 2 (bad input) or 130 (Ctrl-C)."""

    def parse_and_run() -> None:
        parse(Action, argv, prog="bytebound", description=_ABOUT).run()

    guarded(parse_and_run)


if __name__ == "__main__":
    main()
