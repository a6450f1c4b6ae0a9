"""`bytebound contracts verify`: the laws of decoders and of tokenizers, run on anybody's object."""

import json
import sys
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:
    from contracts.laws import Report


@dataclass(frozen=True)
class Verify:
    """Run the laws of its protocol on your decoder or tokenizer, and show the smallest counterexample to each.

    TARGET is MODULE:NAME: an object, a class or function that makes one, a function from tokens to logits, or a pair
    (apply, params). What has `encode` is a tokenizer. A tokenizer's name or file will do as well.

      bytebound contracts verify my_models:make_decoder --config d_model=64 n_layers=2
      bytebound contracts verify my_tokenizers:MyTokenizer
      bytebound contracts verify gpt2/tokenizer.json

    Exit code 0: every law that applies is kept. 1: one is broken. 2: bad input.
    """

    target: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="TARGET")]
    config: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE|FILE")] = ()
    """what it is made with: settings, and JSON or TOML files; a seed is given where one is asked for"""
    only: Annotated[tuple[str, ...], tyro.conf.arg(metavar="LAW")] = ()
    """try these laws alone"""
    skip: Annotated[tuple[str, ...], tyro.conf.arg(metavar="LAW")] = ()
    """leave these laws out"""
    examples: int = 100
    """random examples a law, besides the ones it always tries"""
    seconds: float = 10.0
    """after this time a law keeps what it has found"""
    json: bool = False
    """print the report as JSON"""

    def run(self) -> None:
        """Load, judge, print, leave with the exit code."""
        report = self._judge()
        print(json.dumps(report.as_dict(), indent=2) if self.json else report.summary)
        if report.broken:
            sys.exit(1)

    def _judge(self) -> "Report":
        """Every verdict, each printed as soon as it is known."""
        from hypothesis.configuration import set_hypothesis_home_dir

        from contracts.laws import Effort, verify
        from experiments.contracts.target import load_target

        effort = Effort(examples=self.examples, seconds=self.seconds)
        subject = load_target(self.target, self.config)
        with tempfile.TemporaryDirectory() as folder:
            set_hypothesis_home_dir(folder)  # it would leave a folder where the command was called
            return verify(
                subject,
                name=self.target,
                only=self.only,
                skip=self.skip,
                effort=effort,
                watch=lambda outcome: None if self.json else print(outcome, flush=True),
            )
