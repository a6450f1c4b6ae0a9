"""`bytebound contracts diff`: what a change breaks, between two versions of the specs or between two choices."""

import json
import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import tyro

from contracts.difference import CLASSES, Breaks, differences
from contracts.errors import InputError

Pair = Annotated[tuple[str, ...], tyro.conf.arg(metavar="A [B]")]


@dataclass(frozen=True)
class DiffContracts:
    """Say what changes between two versions of the contracts, and what each change breaks.

    OLD and NEW are git revisions, folders of sources ('.' is the working tree), or what embeds a specification: a
    checkpoint folder, a results folder, a JSON file. Each change breaks weights, calls, tokens, data or nothing.

    With --boundary, --tokenizer or --config and two values, the versions are two choices instead, and everything that
    follows from choosing the other is listed, with its amount on a corpus and the file that owns it.

    Exit code 0: nothing breaks but what --allow names. 1: something does. 2: bad input.

    Examples:
      bytebound contracts diff main .
      bytebound contracts diff --boundary shared separate
      bytebound contracts diff --tokenizer bytes mine.json --config d_model=512,n_layers=8
      bytebound contracts diff --config tiny tiny,tied=true --corpus my_texts/
    """

    old: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="OLD")] = "HEAD"
    """the version before"""
    new: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NEW")] = "."
    """the version after"""
    boundary: Pair = ()
    """boundary policies: shared, separate, bos, eos, none"""
    tokenizer: Pair = ()
    """tokenizers: bytes, bpe-SIZE, a saved vocabulary or a tokenizer.json"""
    config: Pair = ()
    """decoders: a preset, a JSON or TOML file, FIELD=VALUE, or several of these joined by commas"""
    corpus: tuple[str, ...] = ()
    """text files or folders on which amounts are counted; in a folder whose files have equally many lines, each line
    is a document (default: the embedded corpus)"""
    allow: tuple[Breaks, ...] = ()
    """classes whose breaks do not count in the exit code"""
    json: bool = False
    """print the changes as JSON"""

    def run(self) -> None:
        """Compare, print, leave with the exit code."""
        changes = self._choices() if self.boundary or self.tokenizer or self.config else self._versions()
        if any(change.breaks not in ("nothing", *self.allow) for change in changes):
            sys.exit(1)

    def _versions(self) -> Sequence[Any]:
        from experiments.contracts.sources import read_source

        if self.corpus:
            raise InputError("--corpus", expected="--boundary, --tokenizer or --config beside it", got="--corpus alone")
        with ThreadPoolExecutor() as pool:
            old, new = pool.map(read_source, (self.old, self.new))
        if old.sha256 == new.sha256:
            changes = []
        elif old.specification is None or new.specification is None:
            silent = old if old.specification is None else new
            hint = "name the git revision that wrote it"
            got = f"only its digest, which is not that of {new.name if silent is old else old.name}"
            raise InputError("specification", expected="a specification", got=got, where=silent.name, hint=hint)
        else:
            changes = differences(old.specification, new.specification)
        if self.json:
            versions = {side.name: side.sha256 for side in (old, new)}
            print(json.dumps({"versions": versions, "changes": [_plain(change) for change in changes]}, indent=2))
        else:
            print("\n".join([f"{old.name} {old.sha256[:12]} -> {new.name} {new.sha256[:12]}", *map(_lines, changes)]))
            print(summary(changes))
        return changes

    def _choices(self) -> Sequence[Any]:
        from experiments.contracts.blast_radius import blast_radius, choices

        if self.old != "HEAD":
            raise InputError("OLD", expected="no revision beside --boundary, --tokenizer or --config", got=self.old)
        old, new = choices(self.tokenizer, self.boundary, self.config, self.corpus)
        changed, unchanged = blast_radius(old, new)
        if self.json:
            changes = {"changes": [asdict(each) for each in changed], "unchanged": [asdict(each) for each in unchanged]}
            print(json.dumps({"old": old.name, "new": new.name, "corpus": old.corpus, **changes}, indent=2))
        else:
            print(f"{old.name} -> {new.name}\non {old.corpus}\n")
            print("\n".join(map(str, changed)))
            print(textwrap.fill(f"unchanged: {'; '.join(f'{each.what}: {each.old}' for each in unchanged)}", 118))
            print(summary(changed))
        return changed


def summary(changes: Sequence[Any]) -> str:
    """How many changes there are of each class."""
    counts = Counter(change.breaks for change in changes)
    return ", ".join(f"{name} {counts[name]}" for name in CLASSES if counts[name]) or "no change"


def _plain(change: Any) -> dict[str, str]:
    return {**asdict(change), "consequence": change.consequence}


def _lines(change: Any) -> str:
    values = f"\n         {change.old or '(absent)'} -> {change.new or '(absent)'}" if change.old or change.new else ""
    return f"{change.breaks:8} {change.rule}  {change.what}{values}\n         {change.consequence}"
