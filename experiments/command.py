"""How an experiment becomes a command: typed arguments, one-line errors, a folder of results, a summary.

The same `Command` serves `python -m experiments.NAME` and `bytebound`; a person's mistake ends with exit code 2 and
never with a traceback, Ctrl-C with 130 and nothing half-written.
"""

import dataclasses
import importlib
import inspect
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import tyro

from contracts.errors import InputError
from contracts.results import Question
from experiments.finding import Finding

Arguments = TypeVar("Arguments")


@dataclass(frozen=True)
class Output:
    """Where results go; shared by every experiment."""

    out: str = ""
    """folder for the results (default: runs/<experiment>-<time>)"""
    update_results: bool = False
    """write into results/<experiment>, the committed results, instead"""
    json: bool = False
    """print the rows as JSON lines instead of the tables"""

    def folder(self, name: str) -> Path:
        """The folder that a run of the experiment `name` writes."""
        if self.update_results and self.out:
            raise InputError("--update-results", expected="no --out beside it", got=f"--out {self.out}")
        if self.update_results:
            return Path("results") / name
        return Path(self.out) if self.out else Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"


def run(question: Question, arguments: Any, measure: Callable[[Any], Finding], output: Output) -> Finding:
    """Measure, write the folder, and show tables and verdict (or rows as JSON)."""
    from experiments.recording import recording  # brings in the contract engine, which help does not need

    folder = output.folder(question.name)
    with recording(question, arguments, folder) as record:
        finding = measure(arguments)
        record.finish(finding)
    if output.json:
        for row in finding.rows:
            print(row.to_json())
    else:
        for table in finding.tables:
            print(table.plain())
        for line in finding.highlights:
            print(f"* {line}")
        print(f"\nverdict: {finding.verdict}")
        print(f"written: {folder / 'table.md'}")
    return finding


def experiment_main(module: str, arguments_class: type[Any], argv: Sequence[str] | None = None) -> None:
    """`python -m experiments.NAME`: parse, run, leave with the right exit code."""

    def action() -> None:
        arguments, output = parse(arguments_class, argv, prog=f"python -m {module}")
        experiment = importlib.import_module(module)
        run(experiment.QUESTION, arguments, experiment.measure, output)

    guarded(action)


def parse(arguments_class: type[Arguments], argv: Sequence[str] | None, prog: str) -> tuple[Arguments, Output]:
    """The experiment's own arguments and the shared ones, from one command line."""

    flat = tyro.conf.arg(name="")
    members: list[tuple[str, Any]] = [
        ("arguments", Annotated[arguments_class, flat]),
        ("output", Annotated[Output, flat]),
    ]
    both = dataclasses.make_dataclass("both", members)
    parsed: Any = tyro.cli(both, args=argv, prog=prog, description=inspect.getdoc(arguments_class))
    return parsed.arguments, parsed.output


def guarded(action: Callable[[], None]) -> None:
    """Run `action`; end the process with 2 on bad input, 130 on Ctrl-C, quietly when a pipe closes."""
    try:
        action()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted; nothing half-written was left", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
