"""The house rules that no type checker knows: direction of imports, what stays light, how long a file may be.

Each rule is a function from source to complaints, shown on a bad source before it is applied to the project.
"""

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = ("contracts", "research", "experiments")
# The rooms of research in the order in which data flows: a room imports itself and those before it.
# `research.progress` is a leaf: every room may use it, it uses none. A new room has to be given its place here.
ROOMS = ("progress", "text", "tokenizers", "stream", "model", "costs", "measures", "evaluate", "train", "generate")
WITHOUT_JAX = ("research.text", "research.tokenizers", "research.stream")
LONGEST_FILE = 320


@cache
def project_files() -> tuple[Path, ...]:
    return tuple(path for folder in (*LAYERS, "tests") for path in sorted((ROOT / folder).rglob("*.py")))


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(source: str, package: str = "") -> set[str]:
    """Every module that `source`, in `package`, imports anywhere; `from a import b` is both `a` and `a.b`."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*parents, *([node.module] if node.module else [])])
            found |= {origin} | {f"{origin}.{alias.name}" for alias in node.names}
    return found


def upward_imports(module: str, source: str, is_package: bool = False) -> list[str]:
    package = module if is_package else module.rpartition(".")[0]
    return sorted(name for name in imports(source, package) if _rank(name) > _rank(module))


def _rank(module: str) -> tuple[int, int]:
    """Position of a module in the order of imports; what is not of this project comes before everything."""
    layer, _, rest = module.partition(".")
    if layer not in LAYERS:
        return (-1, -1)
    room = rest.partition(".")[0]
    if layer != "research" or not room:
        return (LAYERS.index(layer), -1)
    return (LAYERS.index(layer), ROOMS.index(room))


def heavy_imports(source: str) -> list[str]:
    return sorted(name for name in imports(source) if name.partition(".")[0] in ("jax", "jaxlib", "flax"))


def turns_annotations_into_strings(source: str) -> bool:
    return "__future__.annotations" in imports(source)


def is_too_long(source: str) -> bool:
    return source.count("\n") > LONGEST_FILE


def modules_loaded_by(code: str) -> set[str]:
    """The top-level modules in `sys.modules` after a fresh interpreter ran `code`."""
    report = "\nimport sys\nprint(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run(
        [sys.executable, "-c", code + report], cwd=ROOT, env=os.environ, capture_output=True, text=True, check=True
    )
    return set(run.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("contracts.core", "import research.text", ["research.text"]),
        ("contracts.core", "from experiments import cli", ["experiments", "experiments.cli"]),
        ("research.text.documents", "def f():\n    from research import stream", ["research.stream"]),
        ("research.text.documents", "from ..stream import build", ["research.stream", "research.stream.build"]),
        ("research.model.decoder", "import research.costs.flops", ["research.costs.flops"]),
        ("research.progress", "from research.text import Document", ["research.text", "research.text.Document"]),
        ("research.costs.flops", "import research.model, contracts, jax, experiments.cli", ["experiments.cli"]),
        ("research.model.decoder", "from research.progress import progress\nfrom .attention import Attention", []),
    ],
)
def test_an_upward_import_is_noticed(module, source, complaint):
    assert upward_imports(module, source) == complaint


def test_a_package_resolves_its_relative_imports_from_itself():
    assert upward_imports("research.text", "from .documents import a\nfrom ..model import b", is_package=True) == [
        "research.model",
        "research.model.b",
    ]


def test_heavy_imports_future_annotations_and_long_files_are_noticed():
    assert heavy_imports("def f():\n    import jax.numpy as jnp\n    from flax import nnx") == [
        "flax",
        "flax.nnx",
        "jax.numpy",
    ]
    assert turns_annotations_into_strings("from __future__ import division, annotations")
    assert not turns_annotations_into_strings("from __future__ import division")
    assert is_too_long("\n" * (LONGEST_FILE + 1))
    assert not is_too_long("\n" * LONGEST_FILE)


def test_the_files_of_the_project_are_found():
    assert {"contracts.errors", "research.progress", "tests.test_house"} <= set(map(module_name, project_files()))


@pytest.mark.parametrize("path", project_files(), ids=module_name)
def test_a_file_keeps_the_house_rules(path):
    source, module = path.read_text(encoding="utf-8"), module_name(path)
    assert not turns_annotations_into_strings(source)
    assert not is_too_long(source), f"{source.count(chr(10))} lines, at most {LONGEST_FILE}"
    if module.partition(".")[0] in LAYERS:
        assert upward_imports(module, source, path.name == "__init__.py") == []
    if module.startswith(WITHOUT_JAX):
        assert heavy_imports(source) == []


def test_loading_jax_is_noticed():
    assert "jax" in modules_loaded_by("import jax")


@pytest.mark.parametrize("module", WITHOUT_JAX)
def test_importing_a_light_room_loads_neither_jax_nor_flax(module):
    assert not modules_loaded_by(f"import {module}") & {"jax", "jaxlib", "flax"}


def test_the_help_of_the_command_line_loads_no_jax():
    code = """
import runpy, sys
sys.argv = ["bytebound", "--help"]
try:
    runpy.run_module("experiments.cli", run_name="__main__")
except SystemExit as stop:
    assert not stop.code, stop.code
"""
    assert not modules_loaded_by(code) & {"jax", "jaxlib", "flax"}
