"""Writing what an experiment said: `rows.jsonl`, `manifest.json`, `table.md` and figures, all of them or none.

The manifest is written first, with question, hypothesis and decision rule, and completed with the verdict.
"""

import dataclasses
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contracts import core
from contracts.results import Manifest, Question
from contracts.specification import canonical_json, digest, specification
from experiments.finding import Finding
from experiments.folders import replacing
from experiments.names import printable
from experiments.tables import sentences

_VERSIONED = ("jax", "jaxlib", "flax", "jaxtyping", "beartype", "numpy", "numba", "regex")


@dataclass
class Recording:
    """An open result folder; `finish` fills it."""

    folder: Path
    manifest: Manifest
    figures: list[str] = field(default_factory=list)

    def finish(self, finding: Finding) -> None:
        """Write everything that `finding` holds."""
        if not finding.rows:
            raise ValueError(f"{self.manifest.name}: a finding without rows is no result")
        with open(self.folder / "rows.jsonl", "w", encoding="utf-8") as out:
            out.writelines(row.to_json() + "\n" for row in finding.rows)
        self.figures = [name for draw in finding.draw for name in draw(self.folder)]
        self.manifest = dataclasses.replace(
            self.manifest, verdict=finding.verdict, corpora=tuple(finding.corpora), device=device()
        )
        (self.folder / "manifest.json").write_text(self.manifest.to_json(), encoding="utf-8")
        (self.folder / "table.md").write_text(page(self.manifest, finding, self.figures), encoding="utf-8")


@contextmanager
def recording(question: Question, arguments: Any, folder: Path) -> Iterator[Recording]:
    """Open a result for `question`; the folder appears, or is replaced, only when the block ends without an error."""
    with replacing(folder) as partial:
        manifest = new_manifest(question, arguments)
        (partial / "manifest.json").write_text(manifest.to_json(), encoding="utf-8")
        # the digest alone can't say what changed since; `bytebound contracts diff` reads this
        (partial / "specification.json").write_text(canonical_json(specification()) + "\n", encoding="utf-8")
        yield Recording(partial, manifest)


def new_manifest(question: Question, arguments: Any) -> Manifest:
    """The manifest before the run: everything but corpora, device and verdict."""
    values = plain(arguments)
    return Manifest(
        name=question.name,
        question=question.question,
        hypothesis=question.hypothesis,
        decision_rule=question.decision_rule,
        verdict=None,
        arguments=values,
        arguments_sha256=digest(values),
        corpora=(),
        versions=versions(),
        device="not yet known",
        contracts_sha256=digest(specification()),
        contracts="on" if core.ENABLED else "off",
    )


#: Where a run reads and writes, and how it shows itself: not part of what it measures.
_PLACES = ("output", "out", "update_results", "json", "dry_run", "cache", "processes")


def plain(arguments: Any) -> dict[str, Any]:
    """Arguments as JSON; folders become their last name, so that no machine's path is kept."""
    values = dataclasses.asdict(arguments)
    kept = {name: value for name, value in values.items() if name not in _PLACES}
    for name in ("corpus", "threads_corpus", "train", "test", "tokenizer", "decoder"):
        if name in kept:
            kept[name] = _named(kept[name])
    return json.loads(json.dumps(kept, default=str))


def _named(paths: Any) -> Any:
    if isinstance(paths, list | tuple):
        return [_named(path) for path in paths]
    return paths if paths is None else printable(Path(paths).name if os.sep in str(paths) else paths)


def versions() -> dict[str, str]:
    """Python and the packages that can change a number."""
    found = {"python": platform.python_version()}
    for name in _VERSIONED:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "absent"
    return found


def device() -> str:
    """Machine kind, cores, and the JAX devices if JAX was used."""
    text = f"{platform.machine()}, {os.cpu_count()} cores"
    if "jax" in sys.modules:
        import jax

        kinds = sorted({d.device_kind for d in jax.devices()})
        text += f"; jax on {len(jax.devices())} x {', '.join(kinds)}"
    return text


def page(manifest: Manifest, finding: Finding, figures: Sequence[str]) -> str:
    """`table.md`: question, verdict, what to take home, figures and tables, readable without running anything."""
    parts = [
        f"# {manifest.name}\n",
        f"**Question.** {manifest.question}\n",
        f"**Hypothesis.** {manifest.hypothesis}\n",
        f"**Decision rule.** {manifest.decision_rule}\n",
        f"**Verdict.** {manifest.verdict}\n",
        sentences(finding.highlights),
        "".join(f"![{name}]({name})\n\n" for name in figures if name.endswith(".png")),
        *(table.markdown() for table in finding.tables),
    ]
    return "\n".join(part for part in parts if part)
