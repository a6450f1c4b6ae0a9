"""How an experiment becomes a command: typed arguments, one-line errors, a folder of results, a summary.

The same `Command` serves `python -m experiments.NAME` and `bytebound`; a person's mistake ends with exit code 2 and
never with a traceback, Ctrl-C with 130 and nothing half-written.
"""

import contextlib
import dataclasses
import importlib
import inspect
import io
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn

import tyro

from contracts.errors import InputError
from contracts.results import Question
from experiments.finding import Finding
from experiments.interrupts import Terminated, orderly_interrupts


@dataclass(frozen=True)
class Output:
    """Where results go; shared by every experiment."""

    out: Annotated[str, tyro.conf.arg(help_behavior_hint="(default: runs/<experiment>-<time>)")] = ""
    """folder for the results"""
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
        flat = tyro.conf.arg(name="")
        members: list[tuple[str, Any]] = [
            ("arguments", Annotated[arguments_class, flat]),
            ("output", Annotated[Output, flat]),
        ]
        both: Any = dataclasses.make_dataclass("both", members)
        description = inspect.getdoc(arguments_class) or ""
        parsed = parse(both, argv, prog=f"python -m {module}", description=description)
        experiment = importlib.import_module(module)
        run(experiment.QUESTION, parsed.arguments, experiment.measure, parsed.output)

    guarded(action)


#: Options that take one value or several, and none by mistake: an unset shell variable.
_LISTS = ("--corpus", "--train", "--test", "--only", "--text")


def parse(form: Any, argv: Sequence[str] | None, prog: str, description: str) -> Any:
    """The command line as an instance of `form`. Raises `InputError`, one line, for what does not fit."""
    given = sys.argv[1:] if argv is None else list(argv)
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            parsed = tyro.cli(form, args=given, prog=prog, description=description, config=(tyro.conf.OmitArgPrefixes,))
    except SystemExit as exit_:
        if exit_.code in (0, None):
            raise
        raise UsageError(_one_line(complaint.getvalue())) from None
    for position, argument in enumerate(given):
        following = given[position + 1 : position + 2]
        if argument == "" or (argument in _LISTS and (not following or following[0].startswith("--"))):
            option = given[position - 1] if argument == "" and position else argument
            raise InputError(option or "argument", expected="a value", got="none" if argument else "an empty one")
    return parsed


class UsageError(InputError):
    """The command line itself does not fit; the message is the parser's, in one line."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)


_BOX_TITLES = ("Parsing error", "Unrecognized options", "Required options", "Value error", "Invalid choice")


def _one_line(box: str) -> str:
    """The parser's box without its frame: `Unrecognized options: --nosuch; for full helptext, run ...`."""
    lines = [re.sub(r"[─━╭╮╰╯│┃┌┐└┘├┤]+", " ", line).strip() for line in box.splitlines()]
    kept = [
        line for line in lines if line and line not in ("Parsing error", "Unrecognized options", "Required options")
    ]
    return re.sub(r"\s+", " ", "; ".join(kept)) or "the command line does not fit; see --help"


def guarded(action: Callable[[], None]) -> None:
    """Run `action`; end the process with 2 on bad input, 130 on Ctrl-C, 143 on SIGTERM, quietly when a pipe closes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without Hangul still shows the rest
    try:
        with orderly_interrupts():
            action()
            if sys.stdout is not None:
                sys.stdout.flush()
    except InputError as error:
        _leave(f"error: {error}", 2)
    except Terminated:
        _leave("terminated; nothing half-written was left", 143)
    except KeyboardInterrupt:
        _leave("interrupted; nothing half-written was left", 130)
    except BrokenPipeError:
        _leave("", 1)
    except MemoryError:
        _leave("error: memory ran out; what was there before is as it was. Raise the limit or give smaller files", 2)
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        _leave(f"error: {error.strerror or error}{place}", 2)


def _leave(message: str, code: int) -> NoReturn:
    """Exit; what standard output can no longer take is dropped instead of being complained about once more."""
    if message:
        print(message, file=sys.stderr)
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.exit(code)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)
