"""A state on disk, whole or not there: a manifest that is held against what is expected before a weight is read.

    120/manifest.json   step, config, tokenizer, contracts, and the shape and dtype of every array
    120/params/         the decoder's parameters, written by orbax
    120/optimizer/      all else that a step changes
    120/files.json      the SHA-256 of every file above

It is written under a hidden name and renamed when it is on the disk, so that a kill leaves the one before it.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
import orbax.checkpoint as ocp
from jaxtyping import PyTree

from contracts.difference import differences
from contracts.errors import InputError
from contracts.parameters import parameter_differences
from contracts.specification import digest, specification
from contracts.tokenizer import TokenizerIdentity
from research.stream.manifest import file_sha256, read_json, sync_folder, write_json
from research.train.config import TrainConfig, flat, parse_config
from research.train.processes import is_first, wait
from research.train.step import TrainState
from research.train.storage import one_voice, require_room, writing

FORMAT = "bytebound checkpoint 1"
MANIFEST, FILES = "manifest.json", "files.json"
PARTS = ("params", "optimizer")
BREAKING = ("weights", "tokens")
"""what a change of the contracts may not break between writing and reading"""


@dataclass(frozen=True)
class ArraySpec:
    """What an array is, without its values."""

    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


Arrays = Mapping[str, ArraySpec]
"""path to what stands there"""


@dataclass(frozen=True)
class CheckpointManifest:
    """What a checkpoint says of itself."""

    step: int
    config: TrainConfig
    tokenizer: TokenizerIdentity
    contracts_sha256: str
    specification: Mapping[str, Any]
    params: Arrays
    optimizer: Arrays


def manifest_of(config: TrainConfig, tokenizer: TokenizerIdentity, state: TrainState, step: int) -> CheckpointManifest:
    """The manifest of a state, which may be abstract."""
    spec = specification()
    params, optimizer = (
        {path: ArraySpec(tuple(array.shape), str(array.dtype)) for path, array in part.items()}
        for part in split_state(state)
    )
    return CheckpointManifest(step, config, tokenizer, digest(spec), spec, params, optimizer)


def split_state(state: TrainState) -> tuple[dict[str, Any], dict[str, Any]]:
    """Path to array: of the parameters as `contracts.parameters` spells them, and of the rest."""
    params = {path.removesuffix(".value"): array for path, array in _by_path(state.params).items()}
    return params, _by_path({"opt_state": state.opt_state, "step": state.step})


def finished_steps(folder: Path) -> list[int]:
    """The steps of the checkpoints in `folder`, ascending; what is unfinished is not among them."""
    return sorted(int(path.name) for path in folder.iterdir() if path.name.isdigit()) if folder.is_dir() else []


def save_checkpoint(folder: Path, manifest: CheckpointManifest, state: TrainState, keep: int) -> None:
    """Write `folder/STEP`, then remove all but the newest `keep`. Every process of a distributed run calls it.

    Raises:
        InputError: for a disk that is full or can't be written; the checkpoints before this one are as they were.
    """
    try:
        with writing(f"the checkpoint of step {manifest.step}", folder.parent), one_voice():
            _save(folder, manifest, state, keep)
    except InputError:
        if is_first():
            with suppress(OSError):
                remove_unfinished(folder)  # what is half-written takes up room
        raise


def _save(folder: Path, manifest: CheckpointManifest, state: TrainState, keep: int) -> None:
    final, unfinished = folder / str(manifest.step), folder / f".{manifest.step}.unfinished"
    if is_first():
        remove_unfinished(folder)
        unfinished.mkdir(parents=True)
        require_room(folder, sum(array.nbytes for part in split_state(state) for array in part.values()))
        write_json(unfinished / MANIFEST, {"format": FORMAT, **asdict(manifest)})
    wait("checkpoint begun")
    for name, part in zip(PARTS, split_state(state), strict=True):
        _orbax().save(unfinished.absolute() / name, args=ocp.args.StandardSave(part))
    wait("checkpoint written")
    if is_first():
        for file in unfinished.rglob("*"):
            sync_folder(file)
        write_json(unfinished / FILES, _digests(unfinished))
        os.replace(unfinished, final)
        sync_folder(folder)
        discard_all_but(folder, keep)
    wait("checkpoint in place")


def discard_all_but(folder: Path, keep: int) -> None:
    """Remove all checkpoints but the newest so many."""
    _discard(folder, finished_steps(folder)[:-keep])


def discard_after(folder: Path, step: int) -> None:
    """Remove the checkpoints beyond `step`, from which training will not go on."""
    _discard(folder, [found for found in finished_steps(folder) if found > step])


def _discard(folder: Path, steps: Iterable[int]) -> None:
    for step in steps:
        discarded = folder / f".{step}.unfinished"
        os.replace(folder / str(step), discarded)
        shutil.rmtree(discarded)


def remove_unfinished(folder: Path) -> None:
    """Remove what a killed process left half-written or half-removed."""
    for path in folder.glob(".*.unfinished"):
        shutil.rmtree(path)


def read_checkpoint_manifest(path: Path) -> CheckpointManifest:
    """The manifest of the checkpoint at `path`. Raises `InputError` for another form."""
    where = path / MANIFEST
    data = read_json(where)
    if data.pop("format", None) != FORMAT:
        raise InputError(str(where), expected=f"format {FORMAT!r}", got="another")
    try:
        arrays = {
            part: {name: ArraySpec(tuple(spec["shape"]), spec["dtype"]) for name, spec in data[part].items()}
            for part in PARTS
        }
        parsed = {
            "config": parse_config(data["config"], str(where)),
            "tokenizer": TokenizerIdentity(**data["tokenizer"]),
        }
        return CheckpointManifest(**{**data, **parsed, **arrays})
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(str(where), expected="the fields of a checkpoint", got=repr(error)) from None


def require_expected(path: Path, found: CheckpointManifest, expected: CheckpointManifest) -> None:
    """Refuse a checkpoint that is not of this decoder, tokenizer and config: every difference in one `InputError`.

    Parameters are held against their table in both directions, and so is what lies in the files against what the
    manifest says. No array is read.
    """
    problems = [
        *field_differences("tokenizer ", asdict(expected.tokenizer), asdict(found.tokenizer)),
        *field_differences("config ", flat(expected.config.to_json()), flat(found.config.to_json())),
        *_contract_differences(found),
        *parameter_differences(expected.config.decoder, found.params),
        *_array_differences("optimizer ", expected.optimizer, found.optimizer),
        *(problem for part in PARTS for problem in _stored_differences(path / part, getattr(found, part))),
    ]
    if problems:
        raise InputError(
            str(path),
            expected="a checkpoint of this decoder, tokenizer and config",
            got="; ".join(problems),
            hint="nothing was loaded",
        )


def require_whole(path: Path) -> None:
    """Refuse a checkpoint of which a file is missing, added or changed since it was written."""
    stated, found = read_json(path / FILES), _digests(path)
    damaged = sorted(name for name in {*stated, *found} if stated.get(name) != found.get(name))
    if damaged:
        hint = "it is damaged: remove this checkpoint to go on from the one before it"
        raise InputError(str(path), expected="the files as they were written", got=f"others: {damaged[0]}", hint=hint)


def load_params(path: Path, params: PyTree) -> PyTree:
    """The parameters at `path`, in the structure, and on the devices, of `params`, which may be abstract."""
    return _load(path / "params", params)


def load_state(path: Path, state: TrainState) -> TrainState:
    """The whole state at `path`, in the structure, and on the devices, of `state`, which may be abstract."""
    rest = _load(path / "optimizer", {"opt_state": state.opt_state, "step": state.step})
    return TrainState(load_params(path, state.params), rest["opt_state"], rest["step"])


def _load(path: Path, tree: PyTree) -> PyTree:
    leaves, structure = jax.tree.flatten(tree)
    names = [name.removesuffix(".value") if path.name == "params" else name for name in _by_path(tree)]
    abstract = dict(zip(names, map(ocp.utils.to_shape_dtype_struct, leaves), strict=True))
    found = _orbax().restore(path.absolute(), args=ocp.args.StandardRestore(abstract))
    return jax.tree.unflatten(structure, [found[name] for name in names])


def _orbax() -> ocp.Checkpointer:
    return ocp.Checkpointer(ocp.StandardCheckpointHandler())


def _by_path(tree: PyTree) -> dict[str, Any]:
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {jax.tree_util.keystr(path, simple=True, separator="."): leaf for path, leaf in leaves}


def _digests(path: Path) -> dict[str, str]:
    """The SHA-256 of each file below `path`, by its name."""
    files = sorted(file for file in path.rglob("*") if file.is_file() and file != path / FILES)
    return {file.relative_to(path).as_posix(): file_sha256(file) for file in files}


def field_differences(prefix: str, expected: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """`config seed 1, not 0`, for each field that is not as expected."""
    return [
        f"{prefix}{name} {found.get(name)!r}, not {expected.get(name)!r}"
        for name in {**expected, **found}
        if expected.get(name) != found.get(name)
    ]


def _contract_differences(found: CheckpointManifest) -> list[str]:
    """What changed in the contracts since, as far as it breaks weights or tokens."""
    if digest(found.specification) != found.contracts_sha256:
        return ["contracts: their digest is not that of the specification beside it"]
    changes = differences(found.specification, specification())
    return [f"contracts {change.what}: {change.consequence}" for change in changes if change.breaks in BREAKING]


def _array_differences(prefix: str, expected: Arrays, found: Arrays) -> list[str]:
    return [
        f"{prefix}{name}: {found.get(name, 'nothing')}, not {expected.get(name, 'nothing')}"
        for name in sorted({*expected, *found})
        if expected.get(name) != found.get(name)
    ]


def _stored_differences(path: Path, stated: Arrays) -> list[str]:
    """How the arrays in the files, by their own metadata, differ from what the manifest says."""
    try:
        stored = dict(_orbax().metadata(path.absolute()).item_metadata.tree)
    except (OSError, ValueError, AttributeError) as error:
        return [f"{path.name} can't be read ({type(error).__name__})"]
    found = {name: ArraySpec(tuple(array.shape), str(array.dtype)) for name, array in stored.items()}
    return _array_differences(f"stored {path.name} ", stated, found)
