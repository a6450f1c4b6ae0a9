"""A run in a folder: what it is, how it went, and the state to go on from. Killed at any moment, it goes on.

manifest.json       what the run is, written first
tokenizer.json      the tokenizer of its tokens
metrics.jsonl       a line for each logged step
evaluations.jsonl   a line for each evaluation on held-out text
checkpoints/        the newest states
"""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import jax
from flax import nnx

from contracts.errors import InputError
from contracts.specification import digest, specification
from contracts.tokenizer import TokenizerIdentity
from research.model import Decoder
from research.stream import StoredCorpus, open_corpus
from research.stream.manifest import read_json, write_json
from research.tokenizers import BPETokenizer, ByteTokenizer, load_tokenizer
from research.train.checkpoint import (
    field_differences,
    finished_steps,
    load_params,
    manifest_of,
    read_checkpoint_manifest,
    require_expected,
    require_whole,
)
from research.train.config import TrainConfig, flat, parse_config
from research.train.step import TrainState, first_state

FORMAT = "bytebound run 1"
MANIFEST, TOKENIZER, METRICS, EVALUATIONS, CHECKPOINTS = (
    "manifest.json",
    "tokenizer.json",
    "metrics.jsonl",
    "evaluations.jsonl",
    "checkpoints",
)
SEEDS = "seeds.json"
"""in a folder with the runs of several seeds: which they are"""
_VERSIONED = ("jax", "jaxlib", "flax", "optax", "orbax-checkpoint", "numpy")


@dataclass(frozen=True)
class RunManifest:
    """What a run is. Equal config, tokenizer and corpus make the same run."""

    config: TrainConfig
    tokenizer: TokenizerIdentity
    corpus_sha256: str
    corpus: str
    """where the corpus lies, seen from the run's folder"""
    contracts_sha256: str
    versions: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Run:
    """A decoder as a run left it, with what is needed to use it."""

    config: TrainConfig
    decoder: Decoder
    tokenizer: ByteTokenizer | BPETokenizer
    step: int
    manifest: RunManifest


def open_run(folder: str | os.PathLike[str], step: int | None = None) -> Run:
    """The decoder of the newest checkpoint of the run in `folder`, or of the one after `step` steps.

    Raises:
        InputError: for a folder that is no run or has no such checkpoint, one that is damaged, and one that differs
            from the run in config, tokenizer, contracts or parameters: all differences at once, and nothing loaded.
    """
    folder = Path(folder)
    manifest = read_run_manifest(folder)
    tokenizer = load_tokenizer(folder / TOKENIZER)
    manifest.tokenizer.require(tokenizer.identity, where=str(folder / TOKENIZER))
    found = chosen_step(folder, step)
    abstract = nnx.eval_shape(lambda: Decoder(manifest.config.decoder, rngs=nnx.Rngs(0)))
    graph, params = nnx.split(abstract)
    device = jax.sharding.SingleDeviceSharding(jax.local_devices()[0])
    placed = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=device), params)
    path = checked_checkpoint(folder, found, abstract_state(manifest.config))
    return Run(manifest.config, nnx.merge(graph, load_params(path, placed)), tokenizer, found, manifest)


def last_step(folder: Path) -> int:
    """The step after which training goes on: that of the newest checkpoint, 0 if there is none."""
    return max(finished_steps(folder / CHECKPOINTS), default=0)


def changed_versions(manifest: RunManifest) -> list[str]:
    """`jax 0.10.3, not 0.10.2`, for each package that has another version than when the run was begun."""
    return [f"{name} {version(name)}, not {then}" for name, then in manifest.versions.items() if version(name) != then]


def chosen_step(folder: Path, step: int | None) -> int:
    """The newest step with a checkpoint, or `step` if it has one. Raises `InputError` otherwise."""
    steps = finished_steps(folder / CHECKPOINTS)
    if not steps:
        again = f"bytebound train --resume {folder}"
        hint = f"it ended before its first checkpoint; this goes on, or says why it can't: {again}"
        raise InputError(str(folder), expected="a run with a checkpoint", got="none", hint=hint)
    if step is not None and step not in steps:
        raise InputError("step", expected=f"one of {', '.join(map(str, steps))}", got=step, where=str(folder))
    return steps[-1] if step is None else step


def checked_checkpoint(folder: Path, step: int, state: TrainState) -> Path:
    """The checkpoint after `step` steps, found whole and of this run; `state` is what it should hold, abstract."""
    manifest = read_run_manifest(folder)
    path = folder / CHECKPOINTS / str(step)
    expected = manifest_of(manifest.config, manifest.tokenizer, state, step)
    require_expected(path, read_checkpoint_manifest(path), expected)
    require_whole(path)
    return path


def abstract_state(config: TrainConfig) -> TrainState:
    """Shapes and dtypes of the state of a run."""
    return jax.eval_shape(lambda: first_state(config, Decoder))


def new_manifest(config: TrainConfig, corpus: StoredCorpus, folder: Path) -> RunManifest:
    """The manifest of a run of this config on this corpus, in `folder`."""
    return RunManifest(
        config=config,
        tokenizer=corpus.tokenizer.identity,
        corpus_sha256=corpus.sha256,
        corpus=Path(os.path.relpath(os.path.realpath(corpus.folder), os.path.realpath(folder))).as_posix(),
        contracts_sha256=digest(specification()),
        versions={name: version(name) for name in _VERSIONED},
    )


def write_run_manifest(folder: Path, manifest: RunManifest) -> None:
    """Make `folder` a run."""
    write_json(folder / MANIFEST, {"format": FORMAT, **asdict(manifest)})


def read_run_manifest(folder: Path) -> RunManifest:
    """The manifest of the run in `folder`. Raises `InputError` where there is none."""
    where = folder / MANIFEST
    if not where.exists():
        raise _no_run(folder)
    data = read_json(where)
    if data.pop("format", None) != FORMAT:
        raise InputError(str(where), expected=f"format {FORMAT!r}", got="another")
    try:
        parsed = {
            "config": parse_config(data["config"], str(where)),
            "tokenizer": TokenizerIdentity(**data["tokenizer"]),
        }
        return RunManifest(**{**data, **parsed})
    except (KeyError, TypeError) as error:
        raise InputError(str(where), expected="the fields of a run", got=repr(error)) from None


def _no_run(folder: Path) -> InputError:
    got, hint = "one without manifest.json" if folder.is_dir() else "nothing there", ""
    if folder.exists() and not folder.is_dir():
        got = "a file"
    if (folder / SEEDS).exists():
        seeds = sorted(path.name for path in folder.glob("seed-*"))
        got, hint = (
            "the runs of several seeds",
            f"each is a run of its own, such as {folder / seeds[0]}" if seeds else "",
        )
    return InputError(str(folder), expected="the folder of a run", got=got, hint=hint)


def require_same_run(folder: Path, found: RunManifest, expected: RunManifest) -> None:
    """Refuse to go on with the run `found` in `folder` unless it is the one expected: every difference."""
    problems = [
        *field_differences("config ", flat(expected.config.to_json()), flat(found.config.to_json())),
        *field_differences("tokenizer ", asdict(expected.tokenizer), asdict(found.tokenizer)),
    ]
    if expected.corpus_sha256 != found.corpus_sha256:
        problems.append(f"corpus {found.corpus_sha256[:12]}..., not {expected.corpus_sha256[:12]}...")
    if problems:
        hint = "choose another folder, or go on with it by --resume"
        raise InputError(str(folder), expected="a new folder, or the same run", got="; ".join(problems), hint=hint)


def corpus_of(folder: Path, manifest: RunManifest, elsewhere: str | os.PathLike[str] | None = None) -> StoredCorpus:
    """The corpus that a run was begun with, where it lay then or now. Raises `InputError` for another one."""
    place = Path(os.path.normpath(folder / manifest.corpus) if elsewhere is None else elsewhere)
    if elsewhere is None and not place.exists():
        hint = "say where it is by --corpus"
        raise InputError(str(place), expected="the corpus of the run", got="nothing there", hint=hint)
    corpus = open_corpus(place)
    if corpus.sha256 != manifest.corpus_sha256:
        expected = f"the corpus that the run was begun with (SHA-256 {manifest.corpus_sha256[:12]}...)"
        raise InputError(str(corpus.folder), expected=expected, got=f"another ({corpus.sha256[:12]}...)")
    return corpus
