"""Where a specification comes from: a git revision, a folder with the sources, a checkpoint, a result, or a file.

Sources are described by their own `contracts/specification.py`, in a process of its own: what is read is what that
revision wrote into its manifests.
"""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contracts.difference import checked_specification
from contracts.errors import InputError

_DESCRIBE = """
import os, sys
folder = sys.argv[1]
sys.path.insert(0, folder)
import contracts.specification
from contracts.specification import canonical_json, digest, specification
place = contracts.specification.__file__
if os.path.commonpath([folder, os.path.realpath(place)]) != folder:
    sys.exit("contracts is no package there")
found = specification()
print(canonical_json({"contracts_sha256": digest(found), "specification": found}))
"""


@dataclass(frozen=True)
class Source:
    """A specification, or only its digest where nothing else was kept."""

    name: str
    sha256: str
    specification: Mapping[str, Any] | None


def read_source(name: str) -> Source:
    """The specification called `name`: `.` or another folder of sources, a folder or file that embeds one, or a
    git revision of the repository that we are in.

    Raises:
        InputError: for what is none of these, and for a revision whose specs can't be imported.
    """
    path = Path(name)
    if name == "." and not (path / "contracts").is_dir():
        path = _repository(name)
    if (path / "contracts" / "specification.py").is_file():
        return _described(path, name)
    if path.is_dir():
        return _embedded(_manifest_of(path), name)
    return _embedded(path, name) if path.is_file() else _revision(name)


def _manifest_of(folder: Path) -> Path:
    for name in ("specification.json", "manifest.json"):
        if (folder / name).is_file():
            return folder / name
    raise InputError(
        "specification", expected="a folder with contracts/, specification.json or manifest.json", got=str(folder)
    )


def _embedded(path: Path, name: str) -> Source:
    """The specification in a JSON file: the whole of it, the entry that is one, or at least its digest."""
    from contracts.specification import digest

    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError("specification", expected="a JSON file", got=str(error), where=str(path)) from None
    entries = [data, *data.values()] if isinstance(data, dict) else []
    found = next((entry for entry in entries if _looks_like_one(entry)), None)
    stated = data.get("contracts_sha256") if isinstance(data, dict) else None
    if found is None:
        if isinstance(stated, str):
            return Source(name, stated, None)
        raise InputError("specification", expected="one, or contracts_sha256", got="neither", where=str(path))
    if stated not in (None, digest(found)):
        hint = "one of the two was edited"
        raise InputError("contracts_sha256", expected=digest(found), got=stated, where=str(path), hint=hint)
    return Source(name, digest(found), checked_specification(found, str(path)))


def _looks_like_one(data: Any) -> bool:
    return isinstance(data, dict) and bool(data) and all(str(key).startswith("contracts.") for key in data)


def _revision(name: str) -> Source:
    root = _repository(name)
    commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if commit is None:
        expected = "a git revision, a folder, or a file that embeds a specification"
        raise InputError("specification", expected=expected, got=repr(name))
    archive = _git(root, "archive", "--format=tar", commit.decode().strip(), "contracts")
    if archive is None:
        raise InputError("specification", expected="a revision with contracts/", got=repr(name))
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
            packed.extractall(folder, filter="data")
        return _described(Path(folder), name)


def _described(folder: Path, name: str) -> Source:
    """The specification of the sources in `folder`, by an interpreter that has imported nothing of ours."""
    command = [sys.executable, "-c", _DESCRIBE, os.path.realpath(folder)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1", "CONTRACTS": "on"}
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment, check=False)
    if run.returncode:
        problem = (run.stderr.strip().splitlines() or ["nothing was said"])[-1]
        raise InputError("specification", expected="specs that can be imported", got=problem, where=name)
    found = json.loads(run.stdout)
    specification = found["specification"]
    return Source(name, found["contracts_sha256"], checked_specification(specification, name))


def _repository(name: str) -> Path:
    root = _git(Path.cwd(), "rev-parse", "--show-toplevel")
    if root is None:
        hint = "or name a folder or a file"
        raise InputError("specification", expected="to be inside a git repository", got=repr(name), hint=hint)
    return Path(root.decode().strip())


def _git(folder: Path, *arguments: str) -> bytes | None:
    """What git prints; `None` if it refuses or isn't there."""
    try:
        run = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return None if run.returncode else run.stdout
