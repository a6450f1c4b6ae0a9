"""`contracts list`: every protocol with its place, its words and what conforms; without any it is marked."""

import importlib
import json
import sys
import textwrap
from pathlib import Path

import pytest

import research
from contracts import core
from contracts.errors import InputError
from contracts.specification import SPEC_MODULES
from experiments.contracts.listing import ListContracts, entries, project_classes

pytestmark = pytest.mark.needs_contracts

SPEC = '''
"""A spec."""

from dataclasses import dataclass
from typing import Annotated, Protocol

from jaxtyping import Array, Float

from contracts.dims import Dim

B = Dim("B", "rows")
D = Dim("D", "width")

Hidden = Float[Array, "B D"]
Unused = Float[Array, "D"]


@dataclass(frozen=True)
class Config:
    width: Annotated[int, D] = 4


class Layer(Protocol):
    """Changes a state.

    In any way.
    """

    config: Config

    @property
    def name(self) -> str: ...

    def __call__(self, x: Hidden, scale: float = 1.0) -> Hidden: ...
'''

IMPLEMENTATIONS = """
from tiny_spec import Hidden, Unused


class Fits:
    name = "a"

    def __call__(self, x: Hidden, scale: float = 1.0) -> Hidden: ...


class FitsWithMore:
    name = "b"

    def __call__(self, x: Hidden, scale: float = 1.0, *, more: int = 3) -> Hidden: ...


class OtherShape:
    name = "c"

    def __call__(self, x: Unused, scale: float = 1.0) -> Hidden: ...


class OtherNames:
    name = "d"

    def __call__(self, y: Hidden) -> Hidden: ...


class Nameless:
    def __call__(self, x: Hidden, scale: float = 1.0) -> Hidden: ...
"""

GOLDEN = """
Layer   tiny_spec.py:23
  Changes a state.
  members   config: Config
            name: str
            __call__(x: Hidden, scale: float = 1.0) -> Hidden
  aliases   Hidden = Float["B D"]
  dims      B  rows
            D  width (Config.width)
  conforms  tiny_implementations.Fits
            tiny_implementations.FitsWithMore
  almost    OtherShape does not conform to Layer: parameter 'x' is Float["D"], not Float["B D"]
"""


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A spec with one protocol, and a module of classes that do and do not fit it."""
    (tmp_path / "tiny_spec.py").write_text(SPEC)
    (tmp_path / "tiny_implementations.py").write_text(IMPLEMENTATIONS)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("tiny_spec"), importlib.import_module("tiny_implementations")
    for name in ("tiny_spec", "tiny_implementations"):
        del sys.modules[name]


def classes_of(module):
    return [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]


def test_the_listing_of_a_small_spec(tiny):
    spec, implementations = tiny
    (entry,) = entries([spec], classes_of(implementations))
    assert str(entry) == textwrap.dedent(GOLDEN).lstrip()


def test_a_protocol_that_nothing_implements_is_marked(tiny):
    (entry,) = entries([tiny[0]], [])
    assert "  conforms  NOTHING in the project implements it" in str(entry)


@pytest.fixture(scope="module")
def project():
    classes = project_classes(research)[0]
    return {entry.name: entry for entry in entries([importlib.import_module(name) for name in SPEC_MODULES], classes)}


@pytest.mark.parametrize(
    ("protocol", "implementation"),
    [
        ("Tokenizer", "research.tokenizers.byte.ByteTokenizer"),
        ("Tokenizer", "research.tokenizers.bpe.BPETokenizer"),
        ("Mixer", "research.model.attention.Attention"),
        ("FeedForward", "research.model.feed_forward.SwiGLU"),
        ("LanguageModel", "research.model.decoder.Decoder"),
    ],
)
def test_the_classes_of_the_project_are_found(project, protocol, implementation):
    assert implementation in project[protocol].conforming


def test_every_protocol_stands_where_the_listing_says(project):
    for entry in project.values():
        file, line = entry.place.split(":")
        source = (Path(research.__file__).parents[1] / file).read_text().splitlines()
        assert source[int(line) - 1].startswith(f"class {entry.name}(")


def test_json_holds_what_the_text_holds(capsys):
    ListContracts(json=True).run()
    data = json.loads(capsys.readouterr().out)
    mixer = next(each for each in data["protocols"] if each["name"] == "Mixer")
    assert mixer["aliases"]["Hidden"] == 'Float["B T D"]'
    assert mixer["dims"]["D"] == "model width (DecoderConfig.d_model)"
    ListContracts().run()
    assert f"Mixer   {mixer['place']}" in capsys.readouterr().out


def test_with_contracts_off_nothing_can_be_compared(monkeypatch):
    monkeypatch.setattr(core, "ENABLED", False)
    with pytest.raises(InputError, match="CONTRACTS"):
        ListContracts().run()


def test_a_module_that_cant_be_imported_is_named(tmp_path, monkeypatch):
    package = tmp_path / "half_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "good.py").write_text("class Good: ...\n")
    (package / "bad.py").write_text("import no_such_module_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    classes, unread = project_classes(importlib.import_module("half_package"))
    assert [each.__name__ for each in classes] == ["Good"]
    assert unread == ["half_package.bad: No module named 'no_such_module_at_all'"]
