"""`bytebound study`, the main job: the questions, on the embedded corpus or a person's text, in one report."""

import importlib
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from contracts.errors import InputError
from experiments.corpora import DEFAULT_READING, Reading, slices
from experiments.finding import Finding
from experiments.tables import Table

QUESTIONS = ("boundary_cost", "sequence_length", "attention_scaling", "bits_per_byte", "document_isolation")


@dataclass(frozen=True)
class Study:
    """Answer all questions on one corpus and write one report.

    Without --corpus it runs on the embedded corpus: original parallel text in English, Korean and German, and the same
    content as JSON, log lines, a table and chat. Takes a few minutes on two cores; finished trainings are kept in
    runs/cells, so that a run that was stopped goes on.
    """

    corpus: tuple[str, ...] = ()
    """text files or folders (UTF-8; .gz, .jsonl and .parquet too)"""
    tokenizer: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """a saved vocabulary or a tokenizer.json to compare with; repeatable"""
    reading: Reading = DEFAULT_READING
    out: Annotated[str, tyro.conf.arg(help_behavior_hint="(default: runs/study-<time>)")] = ""
    """folder for the report"""
    update_results: bool = False
    """write each question's result into results/ instead"""
    only: tuple[str, ...] = ()
    """run these questions alone"""
    dry_run: bool = False
    """say what would be run and how long it takes, and stop"""
    json: bool = False
    """print the rows as JSON lines instead of the summary"""

    def run(self) -> None:
        """Run, write, print the summary and where the report is."""
        names = self._names()
        self._check_input()
        if self.dry_run:
            self._plan(names)
        elif self.update_results:
            self._update(names)
        else:
            self._report(names)

    def _names(self) -> Sequence[str]:
        for name in self.only:
            if name not in QUESTIONS:
                raise InputError("--only", expected=f"some of {', '.join(QUESTIONS)}", got=name)
        return self.only or QUESTIONS

    def _check_input(self) -> None:
        """Read every file and tokenizer once, so that a bad one is refused before anything has run."""
        from experiments.vocabularies import tokenizers_beside_learned

        slices(self.corpus, self.reading)
        tokenizers_beside_learned(self.tokenizer)

    def _plan(self, names: Sequence[str]) -> None:
        for name in names:
            experiment = importlib.import_module(f"experiments.{name}")
            print(f"{name}: {experiment.QUESTION.question}")
            for line in experiment.plan(experiment.for_study(self.corpus, self.tokenizer, self.reading)):
                print(f"  {line}")

    def _report(self, names: Sequence[str]) -> None:
        from experiments.folders import replacing

        folder = Path(self.out) if self.out else Path("runs") / time.strftime("study-%Y%m%d-%H%M%S")
        with replacing(folder) as partial:
            answers = self._answers(names, partial)
            (partial / "report.md").write_text(_report_page(partial, answers), encoding="utf-8")
        self._show(answers)
        if not self.json:
            print(f"report: {folder / 'report.md'}")

    def _update(self, names: Sequence[str]) -> None:
        if self.out:
            raise InputError("--update-results", expected="no --out beside it", got=f"--out {self.out}")
        self._show(self._answers(names, Path("results")))

    def _answers(self, names: Sequence[str], folder: Path) -> "Answers":
        """Each question's finding, or why it can't be asked of this text; `InputError` if none of them can."""
        answers = {name: self._answer(name, folder / name) for name in names}
        refusals = [answer for answer in answers.values() if isinstance(answer, InputError)]
        if len(refusals) == len(answers):
            raise refusals[0]
        return answers

    def _answer(self, name: str, folder: Path) -> Finding | InputError:
        from experiments.recording import recording

        print(f"{name} ...", file=sys.stderr, flush=True)
        begun = time.monotonic()
        experiment = importlib.import_module(f"experiments.{name}")
        try:
            arguments = experiment.for_study(self.corpus, self.tokenizer, self.reading)
            with recording(experiment.QUESTION, arguments, folder) as record:
                finding: Finding = experiment.measure(arguments)
                record.finish(finding)
        except InputError as error:
            print(f"{name} can't be asked of this text: {error}", file=sys.stderr, flush=True)
            return error
        print(f"{name} took {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
        return finding

    def _show(self, answers: "Answers") -> None:
        if self.json:
            for finding in _findings(answers).values():
                for row in finding.rows:
                    print(row.to_json())
        else:
            print(_summary(answers))


Answers = dict[str, Finding | InputError]


def _findings(answers: Answers) -> dict[str, Finding]:
    return {name: answer for name, answer in answers.items() if isinstance(answer, Finding)}


def _summary(answers: Answers) -> str:
    parts = []
    for name, answer in answers.items():
        if isinstance(answer, InputError):
            parts.append(f"{name}\n  not answered: {answer}\n")
            continue
        parts.append(f"{name}\n  {answer.verdict}\n" + "".join(f"  * {line}\n" for line in answer.highlights))
        if answer.tables:
            parts.append(answer.tables[0].plain())
    return "\n".join(parts)


def _report_page(folder: Path, answers: Answers) -> str:
    """The report: verdicts first, then each question with its figures, its tables and where its rows are."""
    findings = _findings(answers)
    manifests: dict[str, Any] = {
        name: json.loads((folder / name / "manifest.json").read_text(encoding="utf-8")) for name in findings
    }
    corpora = {corpus["name"]: corpus for manifest in manifests.values() for corpus in manifest["corpora"]}
    parts = ["# What a token, a boundary and a shape cost\n"]
    parts += [
        f"- **{name}** was not answered: {answer}"
        if isinstance(answer, InputError)
        else f"- **{name}**: {answer.verdict}"
        for name, answer in answers.items()
    ]
    parts.append("")
    rows = tuple((c["name"], f"{c['documents']:,}", f"{c['bytes']:,}", c["sha256"][:12]) for c in corpora.values())
    parts.append(Table("The text", ("corpus", "documents", "bytes", "sha256"), rows).markdown())
    for name, finding in findings.items():
        manifest = manifests[name]
        parts.append(f"## {name}\n\n{manifest['question']}\n")
        parts.append(f"Hypothesis: {manifest['hypothesis']}\n\nRule: {manifest['decision_rule']}\n")
        parts.append(f"**{finding.verdict}**\n")
        parts += [f"- {line}" for line in finding.highlights]
        parts.append("")
        figures = sorted(path.name for path in (folder / name).glob("figure*.png"))
        parts += [f"![{name}]({name}/{figure})\n" for figure in figures]
        parts += [table.markdown() for table in finding.tables]
        parts.append(
            f"Rows: [rows.jsonl]({name}/rows.jsonl). How they came to be: [manifest.json]({name}/manifest.json).\n"
        )
    return "\n".join(parts)
