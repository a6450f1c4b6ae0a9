"""`contracts diff` between versions: revisions, folders, manifests; what breaks decides the exit code."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import contracts
from contracts.errors import InputError
from contracts.specification import digest, specification
from experiments.contracts.diff import DiffContracts
from experiments.contracts.sources import read_source

ROOT = Path(contracts.__file__).parents[1]


def git(folder, *arguments):
    names = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
    subprocess.run(["git", "-C", folder, *names, *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository with three revisions of the specs: `first`, a comment and a new dim, a changed alias."""
    folder = tmp_path_factory.mktemp("repository")
    shutil.copytree(ROOT / "contracts", folder / "contracts", ignore=shutil.ignore_patterns("__pycache__", "laws"))
    decoder = folder / "contracts" / "decoder.py"
    git(folder, "init", "--initial-branch", "trunk")
    for tag, old, new in (
        ("first", "", ""),
        ("dim", 'V = Dim("V"', '# what the head answers with\nE = Dim("E", "experts")\nV = Dim("V"'),
        ("alias", 'Hidden = Float[Array, "B T D"]', 'Hidden = Float[Array, "T B D"]'),
    ):
        source = decoder.read_text()
        assert old in source
        decoder.write_text(source.replace(old, new, 1) if old else source)
        git(folder, "add", ".")
        git(folder, "commit", "--allow-empty", "-m", tag)
        git(folder, "tag", tag)
    return folder


@pytest.fixture
def inside(repository, monkeypatch):
    monkeypatch.chdir(repository)
    return repository


def exit_code(arguments):
    try:
        arguments.run()
    except SystemExit as stop:
        return stop.code
    return 0


@pytest.fixture(scope="module")
def embedded(repository, tmp_path_factory):
    """The three specifications, each described by its own sources once, as files: `embedded["dim"]`."""
    folder, paths = tmp_path_factory.mktemp("embedded"), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(repository)
        for name in ("first", "dim", "alias"):
            source = read_source(name)
            paths[name] = str(folder / f"{name}.json")
            data = {"step": 3, "contracts_sha256": source.sha256, "specification": source.specification}
            Path(paths[name]).write_text(json.dumps(data))
    return paths


@pytest.mark.slow
def test_a_revision_is_described_by_its_own_sources(embedded):
    found = {name: read_source(path).sha256 for name, path in embedded.items()}
    assert found["first"] == digest(specification())
    assert len(set(found.values())) == 3


def test_two_revisions_are_compared(inside, capsys):
    assert exit_code(DiffContracts("dim", json=True)) == 1
    data = json.loads(capsys.readouterr().out)
    assert set(data["versions"]) == {"dim", "."}
    assert {change["breaks"] for change in data["changes"]} == {"calls"}
    assert all(change["consequence"] for change in data["changes"])


def test_the_working_tree_is_found_from_a_folder_below(repository, embedded, monkeypatch):
    monkeypatch.chdir(repository / "contracts")
    assert read_source(".").sha256 == read_source(embedded["alias"]).sha256


def test_a_dim_that_is_added_breaks_nothing(embedded, capsys):
    assert exit_code(DiffContracts(embedded["first"], embedded["dim"])) == 0
    output = capsys.readouterr().out
    assert "nothing  DIM_ADDED  contracts.decoder.E" in output
    assert output.endswith("nothing 1\n")


def test_a_changed_alias_breaks_calls_wherever_it_is_used(embedded, capsys):
    assert exit_code(DiffContracts(embedded["dim"], embedded["alias"])) == 1
    output = capsys.readouterr().out
    assert "calls    ALIAS_CHANGED  contracts.decoder.Hidden" in output
    assert 'Float["B T D"] -> Float["T B D"]' in output
    assert "calls    ARGUMENT_TYPE  contracts.decoder.Mixer.__call__(x)" in output
    assert "calls    RETURN_TYPE  contracts.decoder.FeedForward.__call__(...)" in output


def test_a_class_that_is_allowed_does_not_count(embedded):
    old, new = embedded["dim"], embedded["alias"]
    assert exit_code(DiffContracts(old, new, allow=("calls",))) == 0
    assert exit_code(DiffContracts(old, new, allow=("weights", "tokens"))) == 1


def test_a_checkpoint_folder_and_a_bare_specification_are_read(embedded, tmp_path):
    shutil.copy(embedded["first"], tmp_path / "manifest.json")
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(specification()))
    assert exit_code(DiffContracts(str(tmp_path), str(bare))) == 0
    assert exit_code(DiffContracts(str(tmp_path), embedded["alias"])) == 1


def test_a_manifest_with_only_the_digest_is_equal_or_can_say_no_more(embedded, tmp_path):
    (tmp_path / "manifest.json").write_text(json.dumps({"contracts_sha256": digest(specification())}))
    assert exit_code(DiffContracts(str(tmp_path), embedded["first"])) == 0
    with pytest.raises(InputError, match=r"only its digest, which is not that of .*alias.*name the git revision"):
        DiffContracts(str(tmp_path), embedded["alias"]).run()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"contracts_sha256": "0", "x": {"contracts.decoder": {}}}', "one of the two was edited"),
        ('{"contracts.decoder": {"dims": []}}', "another form"),
        ('{"a": 1}', "expected one, or contracts_sha256, got neither"),
        ("[1]", "got neither"),
        ("{", "expected a JSON file"),
    ],
)
def test_a_file_that_embeds_none_is_refused(tmp_path, content, complaint):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(InputError, match=complaint):
        read_source(str(tmp_path / "a.json"))


def test_a_revision_that_is_unknown_or_has_no_contracts_is_refused(inside):
    with pytest.raises(InputError, match="expected a git revision, a folder, or a file"):
        read_source("no-such-revision")
    with pytest.raises(InputError, match="expected a git revision"):
        read_source("--all")
    git(inside, "checkout", "--orphan", "empty")
    git(inside, "rm", "-r", "--cached", ".")
    git(inside, "commit", "--allow-empty", "-m", "empty")
    git(inside, "tag", "empty-tag")
    git(inside, "symbolic-ref", "HEAD", "refs/heads/trunk")
    git(inside, "reset", ".")
    with pytest.raises(InputError, match="expected a revision with contracts/"):
        read_source("empty-tag")


def test_specs_that_cant_be_imported_are_refused_with_the_reason(tmp_path):
    (tmp_path / "contracts").mkdir()
    (tmp_path / "contracts" / "__init__.py").write_text("")
    (tmp_path / "contracts" / "specification.py").write_text("import no_such_module_at_all\n")
    with pytest.raises(InputError, match="No module named 'no_such_module_at_all'"):
        read_source(str(tmp_path))


def test_a_folder_that_is_no_package_is_not_mistaken_for_the_installed_one(tmp_path):
    (tmp_path / "contracts").mkdir()
    shutil.copy(ROOT / "contracts" / "specification.py", tmp_path / "contracts")
    with pytest.raises(InputError, match="contracts is no package there"):
        read_source(str(tmp_path))


def test_outside_a_repository_a_revision_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(InputError, match="to be inside a git repository"):
        read_source("HEAD")
    with pytest.raises(InputError, match="expected a folder with contracts/"):
        read_source(str(tmp_path))


@pytest.mark.parametrize(
    "arguments",
    [
        {"corpus": ("x",)},
        {"old": "main", "boundary": ("shared", "none")},
        {"boundary": ("shared",)},
        {"boundary": ("shared", "bos", "eos")},
        {"tokenizer": ("bytes", "nowhere.json")},
        {"config": ("tiny", "gpt5")},
        {"config": ("tiny", "head_dim=7")},
    ],
)
def test_arguments_that_make_no_sense_together_are_bad_input(arguments):
    with pytest.raises(InputError):
        DiffContracts(**arguments).run()
