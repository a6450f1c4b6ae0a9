"""The same ids on every Python: of the texts, and of every code point alone, between letters, digits and spaces."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import ids_of_everything
import pytest
from ids_of_everything import ALONE, BETWEEN, NAMES, digest

ROOT = Path(__file__).parents[3]

#: What must come out on any interpreter, any engine, any machine.
EVERYTHING = {
    "words": "f98dbd7068b915d94a278015d48a046828ab3c7be8e76faf1492ae6c008d962a",
    "gpt2": "3b74c936b7a0aa188c010435d2a81db9edd9a4f0ffe750cd51591a04213bb100",
    "cl100k": "ae280d334926479d405db66211d99fa1a0d1d55aeed8fd0ce63b984bb72b2c98",
}
A_PART = {
    "words": "f7e6a72fa71278a886c6bae8f6d94c921b20b8925f249aa2762a487315b87ca2",
    "gpt2": "35bf3b50d1a558bca5bbcc20dac1b75d29eda734b37c9444eddc6e1f635e26f6",
    "cl100k": "f6be4ea773040d89d6ef026fe7c99e569fdb488c129060d6534b1d50f2ef8a2e",
}
PART = (*range(0x3000), *range(0x3000, 0x110000, 251))

engines = pytest.mark.parametrize("engine", ["python", "numba"])
names = pytest.mark.parametrize("name", NAMES)


@engines
@names
def test_the_ids_of_some_code_points_are_those_of_the_stored_digest(name, engine, monkeypatch):
    monkeypatch.setenv("BYTEBOUND_ENGINE", engine)
    assert digest(name, BETWEEN, PART) == A_PART[name]


#: In plain Python every code point takes half a minute a pattern.
full = pytest.mark.parametrize(("engine", "names"), [("numba", NAMES), ("python", ("gpt2",))])


@pytest.mark.slow
@full
def test_the_ids_of_every_code_point_are_those_of_the_stored_digest(names, engine, monkeypatch):
    monkeypatch.setenv("BYTEBOUND_ENGINE", engine)
    for name in names:
        assert digest(name, (ALONE, *BETWEEN)) == EVERYTHING[name]


def other_interpreters() -> list[str]:
    """One of each version that is found on PATH or under ~/.pyenv, with all that the tokenizers import."""
    names = [f"python3.{minor}" for minor in range(11, 20)]
    found = [path for name in names if (path := shutil.which(name))]
    found += map(str, sorted(Path.home().glob(".pyenv/versions/*/bin/python3")))
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    return [path for version, path in {_version(path): path for path in found}.items() if version not in ("", own)]


def _version(path: str) -> str:
    """Empty for an interpreter that lacks something."""
    code = "import sys, numba, regex, research.tokenizers; print('%d.%d' % sys.version_info[:2])"
    run = subprocess.run([path, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    return run.stdout.strip() if run.returncode == 0 else ""


@pytest.mark.slow
@full
def test_every_other_interpreter_gives_the_same_ids(names, engine):
    others = other_interpreters()
    if not others:
        pytest.skip("no other Python with numba, regex, jaxtyping and beartype on PATH or under ~/.pyenv")
    for python in others:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "BYTEBOUND_ENGINE": engine}
        command = [python, ids_of_everything.__file__, *names]
        run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        assert json.loads(run.stdout) == {name: EVERYTHING[name] for name in names}, python
